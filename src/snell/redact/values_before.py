"""Find the value before the name of a secret: `x as password`, `> password.txt`, or above a comment that names it."""

from snell.redact.joined_values import Place, Sort, is_text
from snell.redact.named_values import is_plain
from snell.redact.pattern_file import PATTERNS
from snell.redact.value_shape import is_invented

_REACH = 300  # characters of a line


def stated_before(text: str, begins: int, sort: Sort) -> Place | None:
    """Return the value on the line before the name that begins here."""
    line = max(text.rfind("\n", max(0, begins - _REACH), begins) + 1, begins - _REACH, 0)
    for found in (each.search(text, line, begins) for each in (PATTERNS.value_as, PATTERNS.echo_into)):
        is_words = found and found[1] and (PATTERNS.few_words.match(found[2]) or any(map(str.isdigit, found[2])))
        if found and (is_invented(found[2]) or (is_words and not is_plain(found[2]) and ":" not in found[2])):
            return found.span(2)
    for pattern, strict in ((PATTERNS.literal_before_comment, sort != "password"), (PATTERNS.value_used, True)):
        found = pattern.search(text, line, begins)
        if found and (is_invented(found[1], strict=strict) or PATTERNS.word_number.match(found[1])):
            return found.span(1)
    found = PATTERNS.list_before_comment.search(text, line, begins)
    return found.span(1) if found and is_text(found[1]) else None
