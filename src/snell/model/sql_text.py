"""Reads SQL as a database does: strings are kept, comments are left out."""

import re
from collections.abc import Iterator

LONGEST_SQL = 262_144  # characters; what comes later is not read, and the guard asks about it
# A comment or a string that is not closed reaches to the end, so that a text is read once, however long it is.
_PART = (
    r"'(?:[^']++|'')*+(?:'|\Z)|\"[^\"]*+(?:\"|\Z)|`[^`]*+(?:`|\Z)"
    r"|(?P<comment>--[^\n]*+|/\*(?!!).*?(?:\*/|\Z)|^[^\S\n]*+#[^\n]*+)"  # `/*! */` is run by MySQL
)
# An escaped quote ends a string in some databases only; `$$` quotes in PostgreSQL. In MySQL alone `#` begins a comment,
# and `--` only before a blank.
_DIFFERS = r"\\|\$\w*\$|--\S|#"


def sql_readings(text: str) -> Iterator[str]:
    """Yield the text without comments; where databases differ about what is data, also as it stands."""
    text = text[:LONGEST_SQL]
    without = re.sub(_PART, lambda part: " " if part["comment"] else part[0], text, flags=re.DOTALL | re.MULTILINE)
    yield without
    if without != text and re.search(_DIFFERS, text):
        yield text
