"""
Rewrite a text so that a hidden secret can be recognised, with a map of offsets back to the text.

A secret may contain zero-width characters, colours and escapes, or be in several pieces.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from itertools import accumulate, groupby
from operator import itemgetter

from snell.redact.pattern_file import PATTERNS

# Each is searched for first: much faster than a pattern if there is none, which is nearly always the case.
_ZERO_WIDTH = (
    "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064"
    "\u2066\u2067\u2068\u2069\ufeff"
)
_AROUND, _LONGEST = 256, 4_096  # characters on each side of an escape, and how much further a secret may reach
_AHEAD = 1_024  # taken at once, so that not every escape is searched for
_NOWHERE = -1
_SEPARATOR = ("\n\n", _NOWHERE, 0)  # between parts, so that no word reaches from one into the next

Piece = tuple[str, int, int]  # its text, and the position and length of what it stands for


class View:
    """A text that was made from pieces of another one; the map of offsets is made when the first is looked up."""

    def __init__(self, text: str, pieces: Callable[[], Iterable[Piece]]) -> None:
        self.text = text
        self._pieces = pieces

    @cached_property
    def starts(self) -> list[int]:
        """Where each piece begins in this text."""
        return [0, *accumulate(len(text) for text, _, _ in self._pieces())][:-1]

    @cached_property
    def places(self) -> list[tuple[int, int]]:
        """The position and the length of each piece in the original."""
        return [(place, length) for _, place, length in self._pieces()]

    def place_of(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the position in the original; None if it is in two parts. A rewritten piece is taken completely."""
        first, last = bisect_right(self.starts, start) - 1, bisect_right(self.starts, end - 1) - 1
        if any(place == _NOWHERE for place, _ in self.places[first : last + 1]):
            return None
        (begin, _), (place, length) = self.places[first], self.places[last]
        begin += start - self.starts[first] if self._is_verbatim(first) else 0
        return begin, place + (end - self.starts[last] if self._is_verbatim(last) else length)

    def _is_verbatim(self, piece: int) -> bool:
        end = self.starts[piece + 1] if piece + 1 < len(self.starts) else len(self.text)
        return end - self.starts[piece] == self.places[piece][1]


def without_zero_width(text: str) -> View | None:
    """Return the text without zero-width characters; None if there are none."""
    if text.isascii() or not any(character in text for character in _ZERO_WIDTH):
        return None
    hidden = re.compile(f"[{_ZERO_WIDTH}]+")
    return View(hidden.sub("", text), lambda: _pieces(text, 0, len(text), hidden, lambda _found: ""))


def unescape(text: str, next_escape: Callable[[int], int]) -> View:
    """Return what is near an escape, with all escapes resolved; the rest of a text is the same either way."""
    pattern, resolve = escape_pattern(), _resolver()
    windows = list(_windows(text, next_escape))

    def pieces() -> Iterator[Piece]:
        for start, end in windows:
            yield from _pieces(text, start, end, pattern, resolve)
            yield _SEPARATOR

    return View(_SEPARATOR[0].join(pattern.sub(resolve, text[start:end]) for start, end in windows), pieces)


def _pieces(
    text: str, start: int, end: int, pattern: re.Pattern[str], resolve: Callable[[re.Match[str]], str]
) -> Iterator[Piece]:
    """Yield the pieces of a part of the text in which each match is replaced by what it is resolved to."""
    last = start
    for found in pattern.finditer(text[start:end]):
        at = start + found.start()
        yield text[last:at], last, at - last
        last = start + found.end()
        yield resolve(found), at, last - at
    yield text[last:end], last, end - last


def _windows(text: str, next_escape: Callable[[int], int]) -> Iterator[tuple[int, int]]:
    """Yield the parts around escapes: complete words, about a line; those that overlap are joined."""
    first = last = 0
    at = next_escape(0)
    while at >= 0:
        start, end = _word_start(text, at - _AROUND), _word_end(text, at + _AHEAD)
        if start > last:
            if last:
                yield first, last
            first = start
        last = end
        at = next_escape(max(last - _AROUND, at + 1))  # whatever is nearer has enough around it
    if last:
        yield first, last


def _word_start(text: str, at: int) -> int:
    first = max(0, at - _LONGEST)
    return max(text.rfind(" ", first, at), text.rfind("\n", first, at), first - 1) + 1 if at > 0 else 0


def _word_end(text: str, at: int) -> int:
    space, line = text.find(" ", at, at + _LONGEST), text.find("\n", at, at + _LONGEST)
    return min(*(each for each in (space, line) if each >= 0), at + _LONGEST, len(text))


@cache
def escape_pattern() -> re.Pattern[str]:
    """Return the pattern of all escapes. It begins with one character, since the standard library finds that fast."""
    rows = ((first, f"(?P<of_{number}>{rest}){after}") for number, first, rest, after in _escapes("(?={})"))
    found = (f"(?<={first})(?:{'|'.join(rest for _, rest in of)})" for first, of in groupby(rows, itemgetter(0)))
    return re.compile(rf"""[%\\&"'`$<{{=\x1b](?:{"|".join(found)})""")


def escape_scans() -> list[str]:
    """Return a pattern for each escape, without groups and conditions, which google-re2 does not need or have."""
    return [first + re.sub(r"\((?!\?)", "(?:", rest) + after for _, first, rest, after in _escapes("{}")]


def _escapes(condition: str) -> Iterator[tuple[int, str, str, str]]:
    expand = PATTERNS.expand
    for number, row in enumerate(PATTERNS.tables["escapes"]["rows"]):
        after = condition.format(expand(row["next"])) if "next" in row else ""
        yield number, expand(row["first"]), expand(row["rest"]), after


@cache
def _resolver() -> Callable[[re.Match[str]], str]:
    """Return the function that returns what an escape stands for."""
    rows = PATTERNS.tables["escapes"]["rows"]
    groups = ((group, rows[int(name.removeprefix("of_"))]) for name, group in escape_pattern().groupindex.items())
    meanings: dict[int, tuple[int, str]] = {group: (row.get("base", 0), row.get("text", "")) for group, row in groups}

    def resolve(found: re.Match[str]) -> str:
        group = found.lastindex or 0
        base, text = meanings[group]
        if not base:
            return text
        number = int(found[group + 1], base)
        return chr(number) if base == 16 or 32 <= number < 127 else "?"

    return resolve
