"""Text as the program will read it that the text is for: escapes resolved, strings in pieces put together."""

import re
from bisect import bisect_right
from typing import NamedTuple

_ESCAPES = re.compile(
    r"%([2-7][0-9a-fA-F])|\\u00([2-7][0-9a-fA-F])|\\x([2-7][0-9a-fA-F])|(\\/)|&#x([0-9a-fA-F]{2});|&#([0-9]{2,3});"
    r"""|(?<=[A-Za-z0-9_.-])(["'`][ \t]{0,3}[+.&~]{0,2}[ \t]{0,3}(?:\\?\r?\n[ \t]{0,40}[+.&]?[ \t]{0,3})?["'`]"""
    r"""|\\\r?\n[ \t]{0,40}|\$?\{?["']{2}\}?)(?=[A-Za-z0-9_.-])"""
)


class View(NamedTuple):
    """Another reading of a text, and where its pieces come from."""

    text: str
    starts: list[int]  # where a piece begins in the view
    places: list[int]  # and where in the original
    lengths: list[int]  # how much of the original it stands for

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


def read_again(text: str) -> View | None:
    """The other reading, if there is one."""
    pieces: list[str] = []
    starts, places, lengths = [], [], []
    size = last = 0
    for found in _ESCAPES.finditer(text):
        for piece, at, length in ((text[last : found.start()], last, found.start() - last), _meant(found)):
            if piece:
                pieces.append(piece)
                starts.append(size)
                places.append(at)
                lengths.append(length)
                size += len(piece)
        last = found.end()
    if not last:
        return None
    pieces.append(text[last:])
    starts.append(size)
    places.append(last)
    lengths.append(len(text) - last)
    return View("".join(pieces), starts, places, lengths)


def _meant(found: re.Match[str]) -> tuple[str, int, int]:
    at, length = found.start(), found.end() - found.start()
    if found[7] is not None:
        return "", at, length
    if found[4]:
        return "/", at, length
    if found[6]:
        number = int(found[6])
        return (chr(number) if 32 <= number < 127 else "?"), at, length
    return chr(int(found[1] or found[2] or found[3] or found[5], 16)), at, length
