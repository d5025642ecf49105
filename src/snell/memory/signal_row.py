"""One signal: its data, and a pattern that is compiled on first use."""

import re
from functools import cached_property


class Row:
    def __init__(self, type: str, score: float, words: str, phrase: str, *, may_ask: bool = False) -> None:  # noqa: A002 the table's word
        self.type = type
        self.score = score
        self.words = tuple(words.split("|"))
        self.phrase = phrase
        self.may_ask = may_ask  # a request may be put as a question

    @cached_property
    def pattern(self) -> "Alternatives":
        return Alternatives(self.phrase)

    def is_possible(self, lowered: str) -> bool:
        """Whether one of the words occurs: a cheap check, and every match of the pattern contains one."""
        for word in self.words:  # noqa: SIM110 a generator costs several times as much, and this runs for every line
            if word in lowered:
                return True
        return False


class Alternatives:
    """A pattern whose alternatives that begin with `^` are tried at the beginning only, not at every letter."""

    def __init__(self, phrase: str) -> None:
        parts = _alternatives(phrase)
        self._first = _compile([part for part in parts if part.startswith("^")])
        self._anywhere = _compile([part for part in parts if not part.startswith("^")])

    def search(self, text: str) -> re.Match[str] | None:
        found = self._first.match(text) if self._first else None
        return found or (self._anywhere.search(text) if self._anywhere else None)


def _compile(parts: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(parts), re.IGNORECASE) if parts else None


def _alternatives(phrase: str) -> list[str]:
    """Return the parts between the `|` that are in no group and no set."""
    parts, depth, is_set, start = [], 0, False, 0
    for token in re.finditer(r"\\.|[\[\]()|]", phrase):
        sign = token.group()
        if is_set or sign == "[":
            is_set = sign != "]"
        elif sign in "()":
            depth += 1 if sign == "(" else -1
        elif sign == "|" and depth == 0:
            parts.append(phrase[start : token.start()])
            start = token.end()
    return [*parts, phrase[start:]]
