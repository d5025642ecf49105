"""Remove zero-width characters, which may hide in the middle of a secret."""

import re
from bisect import bisect_right
from typing import NamedTuple

# Each is searched for first: much faster than a pattern if there is none, which is nearly always the case.
_ZERO_WIDTH = (
    "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064"
    "\u2066\u2067\u2068\u2069\ufeff"
)
_ZERO_WIDTH_RUN = re.compile(f"[{_ZERO_WIDTH}]+")


class VisibleText(NamedTuple):
    """The visible text, and where each piece of it was."""

    text: str
    starts: list[int]
    places: list[int]

    def place_of(self, start: int, end: int) -> tuple[int, int]:
        return self._place(start), self._place(end - 1) + 1

    def _place(self, at: int) -> int:
        index = bisect_right(self.starts, at) - 1
        return self.places[index] + at - self.starts[index]


def without_zero_width(text: str) -> VisibleText | None:
    """Return the text without zero-width characters; None if there are none."""
    if text.isascii() or not any(character in text for character in _ZERO_WIDTH):
        return None
    pieces: list[str] = []
    starts, places, size, last = [], [], 0, 0
    for found in _ZERO_WIDTH_RUN.finditer(text):
        if found.start() > last:
            starts.append(size)
            places.append(last)
            pieces.append(text[last : found.start()])
            size += found.start() - last
        last = found.end()
    if not last:
        return None
    if last < len(text):
        starts.append(size)
        places.append(last)
        pieces.append(text[last:])
    return VisibleText("".join(pieces), starts, places) if pieces else None
