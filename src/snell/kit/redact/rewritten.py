"""Text as the program will read it that the text is for: escapes resolved, strings in pieces put together."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

# Each begins with one of a few signs: the standard library looks for those before it tries anything.
ESCAPES = (
    r"""[%\\&"'`${](?:(?<=%)([2-7][0-9a-fA-F])|(?<=\\)(?:u00([2-7][0-9a-fA-F])|x([2-7][0-9a-fA-F])|(/))"""
    r"""|(?<=&)\#(?:x([0-9a-fA-F]{2})|([0-9]{2,3}));"""
    r"""|(?:(?<=[A-Za-z0-9_.-]["'`])([ \t]{0,3}[+.&~]{0,2}[ \t]{0,3}(?:\\?\r?\n[ \t]{0,40}[+.&]?[ \t]{0,3})?["'`])"""
    r"""|(?<=[A-Za-z0-9_.-]\\)(\r?\n[ \t]{0,40})|(?<=[A-Za-z0-9_.-][${])(\{?["']{2}\}?))(?=[A-Za-z0-9_.-]))"""
)
_ESCAPES = re.compile(ESCAPES)
_AROUND, _LONGEST = 256, 4_096  # characters on each side of an escape, and how much further a secret may reach
_APART = "\n\n"  # between windows, so that no word reaches from one into the next


class View(NamedTuple):
    """Another reading of parts of a text, and where its pieces come from."""

    text: str
    starts: list[int]  # where a piece begins in the view
    places: list[int]  # and where in the original
    lengths: list[int]  # how much of the original it stands for
    windows: list[int]  # where the parts begin in the view

    def is_in_one_part(self, start: int, end: int) -> bool:
        return bisect_right(self.windows, start) == bisect_right(self.windows, end - 1)

    def place(self, at: int) -> int:
        index = bisect_right(self.starts, at) - 1
        return self.places[index] + min(at - self.starts[index], self.lengths[index])

    def end(self, at: int) -> int:
        """The end of what ends here in the view: all of the escape that its last character came from."""
        index = bisect_right(self.starts, at - 1) - 1
        inside = at - self.starts[index]
        is_escape = self._size(index) != self.lengths[index]
        return self.places[index] + (self.lengths[index] if is_escape else inside)

    def _size(self, index: int) -> int:
        following = self.starts[index + 1] if index + 1 < len(self.starts) else len(self.text)
        return following - self.starts[index]


def read_again(text: str, next_escape: Callable[[int], int]) -> View:
    """The other reading, of what is near an escape; the rest of a text says the same either way."""
    pieces: list[str] = []
    view = View("", [], [], [], [])
    size = 0
    for start, end in _windows(text, next_escape):
        view.windows.append(size)
        for piece, at, length in _pieces(text, start, end):
            if piece:
                pieces.append(piece)
                view.starts.append(size)
                view.places.append(at)
                view.lengths.append(length)
                size += len(piece)
    return view._replace(text="".join(pieces))


def _windows(text: str, next_escape: Callable[[int], int]) -> Iterator[tuple[int, int]]:
    """What stands around each: whole words, a line or so; those that meet are one."""
    first = last = 0
    at = next_escape(0)
    while at >= 0:
        start, end = _word_start(text, at - _AROUND), _word_end(text, at + _AROUND)
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


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    last = start
    for found in _ESCAPES.finditer(text, start, end):
        yield text[last : found.start()], last, found.start() - last
        yield _meant(found), found.start(), found.end() - found.start()
        last = found.end()
    yield text[last:end], last, end - last
    yield _APART, end, 0


def _meant(found: re.Match[str]) -> str:
    if found.lastindex is None or found.lastindex > _PIECES:
        return ""
    if found[4]:
        return "/"
    if found[6]:
        number = int(found[6])
        return chr(number) if 32 <= number < 127 else "?"
    return chr(int(found[found.lastindex], 16))


_PIECES = 6  # groups after these stand for nothing: what holds two pieces of a string apart
