"""Text as it will be read: escapes resolved, strings in pieces put together, colours of a terminal gone."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

# Each begins with one of a few signs: the standard library looks for those before it tries anything.
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
_AHEAD = 1_024  # taken at once, so that not every escape is looked for
_APART = "\n\n"  # between windows, so that no word reaches from one into the next


class View(NamedTuple):
    """Another reading of parts of a text."""

    text: str
    original: str
    starts: list[int]  # where each part begins in the view
    parts: list[tuple[int, int]]  # and which part of the original it is

    def place_of(self, start: int, end: int) -> tuple[int, int] | None:
        """Where that stands in the original, if it is in one part."""
        index = bisect_right(self.starts, start) - 1
        if index != bisect_right(self.starts, end - 1) - 1:
            return None
        return _mapped(_pieces(self.original, *self.parts[index]), start - self.starts[index], end - self.starts[index])


def unescape(text: str, next_escape: Callable[[int], int]) -> View:
    """The other reading, of what is near an escape; the rest of a text says the same either way."""
    view = View("", text, [], [])
    read: list[str] = []
    size = 0
    for start, end in _windows(text, next_escape):
        part = _ESCAPES.sub(_meant, text[start:end])
        view.starts.append(size)
        view.parts.append((start, end))
        read.append(part)
        size += len(part) + len(_APART)
    return view._replace(text=_APART.join(read))


def _mapped(pieces: Iterator[tuple[str, int, int]], start: int, end: int) -> tuple[int, int]:
    """From the view to the original; what ends in an escape ends with all of it."""
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
    """What stands around each: whole words, a line or so; those that meet are one."""
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
    """What is read, and which part of the original it stands for."""
    last = 0
    part = text[start:end]
    for found in _ESCAPES.finditer(part):
        yield part[last : found.start()], start + last, found.start() - last
        yield _meant(found), start + found.start(), found.end() - found.start()
        last = found.end()
    yield part[last:], start + last, len(part) - last


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
