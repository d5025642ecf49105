"""Unescape text: resolve escapes, join strings that are in pieces, remove terminal colours."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

# Each begins with one of a few characters: the standard library searches for those first.
ESCAPES = (
    r"""[%\\&"'`${\x1b](?:(?<=%)([2-7][0-9a-fA-F])|(?<=\\)(?:u00([2-7][0-9a-fA-F])|x([2-7][0-9a-fA-F])|(/))"""
    r"""|(?<=&)\#(?:x([0-9a-fA-F]{2})|([0-9]{2,3}));"""
    r"""|(?<=\x1b)(\[[0-9;:?]{0,40}[A-Za-z])|(?<=\\)((?:u001[bB]|x1[bB]|033|e)\[[0-9;:?]{0,40}[A-Za-z]"""
    r"""|u(?:200[b-fB-F]|2060|[fF][eE][fF][fF]))"""
    r"""|(?:(?<=[A-Za-z0-9_.-]["'`])([ \t]{0,3}[+.&~]{0,2}[ \t]{0,3}(?:\\?\r?\n[ \t]{0,40}[+.&]?[ \t]{0,3})?["'`])"""
    r"""|(?<=[A-Za-z0-9_.-]\\)(\r?\n[ \t]{0,40})|(?<=[A-Za-z0-9_.-][${])(\{?["']{2}\}?))(?=[A-Za-z0-9_.-]))"""
)
_ESCAPES = re.compile(ESCAPES)
_AROUND, _LONGEST = 256, 4_096  # characters on each side of an escape, and how much further a secret may reach
_AHEAD = 1_024  # taken at once, so that not every escape is searched for
_SEPARATOR = "\n\n"  # between windows, so that no word reaches from one into the next


class View(NamedTuple):
    """Parts of a text, unescaped."""

    text: str
    original: str
    starts: list[int]  # where each part begins in the view
    parts: list[tuple[int, int]]  # and which part of the original it is

    def place_of(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the position in the original, if it is in one part."""
        index = bisect_right(self.starts, start) - 1
        if index != bisect_right(self.starts, end - 1) - 1:
            return None
        return _map_back(
            _pieces(self.original, *self.parts[index]), start - self.starts[index], end - self.starts[index]
        )


def unescape(text: str, next_escape: Callable[[int], int]) -> View:
    """Return what is near an escape, unescaped; the rest of a text is the same either way."""
    view = View("", text, [], [])
    read: list[str] = []
    size = 0
    for start, end in _windows(text, next_escape):
        part = _ESCAPES.sub(_resolve, text[start:end])
        view.starts.append(size)
        view.parts.append((start, end))
        read.append(part)
        size += len(part) + len(_SEPARATOR)
    return view._replace(text=_SEPARATOR.join(read))


def _map_back(pieces: Iterator[tuple[str, int, int]], start: int, end: int) -> tuple[int, int]:
    """Map a position from the view to the original; what ends in an escape ends with all of it."""
    first, last, size = -1, -1, 0
    for piece, at, length in pieces:
        inside = len(piece) == length
        if first < 0 and start < size + len(piece):
            first = at + (start - size if inside else 0)
        if end <= size + len(piece):
            return first, at + (end - size if inside else length)
        size += len(piece)
        last = at + length
    return first, last


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


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Yield unescaped pieces, and the part of the original that each stands for."""
    last = 0
    part = text[start:end]
    for found in _ESCAPES.finditer(part):
        yield part[last : found.start()], start + last, found.start() - last
        yield _resolve(found), start + found.start(), found.end() - found.start()
        last = found.end()
    yield part[last:], start + last, len(part) - last


def _resolve(found: re.Match[str]) -> str:
    if found.lastindex is None or found.lastindex > _PIECES:
        return ""
    if found[4]:
        return "/"
    if found[6]:
        number = int(found[6])
        return chr(number) if 32 <= number < 127 else "?"
    return chr(int(found[found.lastindex], 16))


_PIECES = 6  # groups after these stand for nothing: what separates two pieces of a string
