"""Read files of patterns, word lists and tables, in TOML with the notation that `redact/patterns.toml` explains."""

import re
import tomllib
from functools import cache, cached_property
from pathlib import Path
from typing import Any

_BREAK = re.compile(r"(?:\A|\n) *")
_FRAGMENT = re.compile(r"\{([A-Z_]+)\}")


class PatternFile:
    """The tables of one file. Each pattern of the table `patterns` is an attribute."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def tables(self) -> dict[str, Any]:
        return tomllib.loads(self._path.read_text(encoding="utf-8"))

    def expand(self, text: str) -> str:
        """Return a pattern in one line, with its fragments in it."""
        text, fragments = _BREAK.sub("", text), self.tables["fragments"]
        while (expanded := _FRAGMENT.sub(lambda found: _BREAK.sub("", fragments[found[1]]), text)) != text:
            text = expanded
        return text

    def __getattr__(self, name: str) -> re.Pattern[str]:
        """Return a pattern of the table `patterns`; it is compiled on the first use."""
        if name not in self.tables["patterns"]:
            raise AttributeError(f"there is no pattern `{name}`")
        found = self.__dict__[name] = re.compile(self.expand(self.tables["patterns"][name]))
        return found

    def words(self, name: str) -> tuple[str, ...]:
        """Return a list of the table `words`."""
        return tuple(self.tables["words"][name].split())


@cache
def patterns_of(package: str) -> PatternFile:
    """Return the file `patterns.toml` of a package of Snell; it is read on the first use."""
    return PatternFile(Path(__file__).parents[1] / package / "patterns.toml")


PATTERNS = patterns_of("redact")


def any_of(words: list[str]) -> str:
    """Return a pattern for these words that shares their beginnings; several times faster than one alternative each."""
    by_letter: dict[str, list[str]] = {}
    for word in words:
        by_letter.setdefault(word[:1], []).append(word[1:])
    is_whole = by_letter.pop("", None) is not None
    branches = [re.escape(letter) + (any_of(rest) if any(rest) else "") for letter, rest in by_letter.items()]
    return f"(?:{'|'.join(branches)}){'?' if is_whole else ''}"
