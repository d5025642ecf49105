"""
The meaning of words, from a table in the package: for each of about 15,000 stems a direction and the nearest stems.

`scripts/build_word_table.py` makes `word_table.bin`. It is read once, on the first use of memory. If it is missing or
damaged, words have no meaning beyond their groups of concepts, and `problem` contains the reason.

    a JSON line that describes the rest | stems, a line each | a direction each | the nearest stems of each
"""

import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

FILE = Path(__file__).with_name("word_table.bin")
KIND = "snell-words-1"
MOST_WORDS = 2**14  # the number of a stem and its degree of nearness share two bytes
LEAST_NEAR, NEARER = 0.35, 0.1  # cosines: of the lowest of the four degrees of nearness, and of each step
_HALVES = tuple(((byte >> 4) - 8, (byte & 15) - 8) for byte in range(256))


class Header(Struct):
    """The first line of the file."""

    kind: str
    about: str  # its sources and their licence
    words: int
    size: int  # numbers of a direction, half a byte each
    near: int  # neighbours of each stem, two bytes each
    step: float  # the unit of these numbers; a direction then has a length of about one
    checksum: int = 0  # of everything after this line


class WordTable(Struct, frozen=True):
    header: Header
    stems: tuple[str, ...] = ()
    places: Mapping[str, int] = {}
    rows: bytes = b""
    neighbours: bytes = b""
    problem: str = ""

    def direction(self, stem: str) -> tuple[float, ...]:
        """Return the direction of a stem, shorter for a frequent word; empty for an unknown stem."""
        at = self.places.get(stem)
        if at is None:
            return ()
        width = 1 + self.header.size // 2
        weight, *numbers = self.rows[at * width : (at + 1) * width]
        unit = self.header.step * weight / 255
        return tuple(unit * half for byte in numbers for half in _HALVES[byte])

    def nearest(self, stem: str) -> dict[str, float]:
        """Return the stems nearest to this one with about their cosine, the nearest first."""
        at = self.places.get(stem)
        if at is None:
            return {}
        width = 2 * self.header.near
        row = self.neighbours[at * width : (at + 1) * width]
        numbers = (int.from_bytes(row[each : each + 2], "big") for each in range(0, width, 2))
        found = {self.stems[each >> 2]: LEAST_NEAR + NEARER * (0.5 + (each & 3)) for each in numbers}
        return {other: near for other, near in found.items() if other != stem}


@cache
def word_table() -> WordTable:
    """Return the table of this installation; if it cannot be read, an empty one with the problem."""
    try:
        return decode_table(FILE.read_bytes())
    except OSError as error:
        return WordTable(_NOTHING, problem=f"the word table cannot be read: {error}")
    except ValueError as error:
        return WordTable(_NOTHING, problem=f"the word table `{FILE}` is damaged: {error}")


def decode_table(data: bytes) -> WordTable:
    """Read a table from bytes. Raises ValueError."""
    line, _, rest = data.partition(b"\n")
    try:
        header = msgspec.json.decode(line, type=Header)
    except msgspec.MsgspecError as error:
        raise ValueError(f"its first line is wrong: {error}") from None
    if header.kind != KIND:
        raise ValueError(f"it is a `{header.kind[:40]}`, not a `{KIND}`")
    if zlib.crc32(rest) != header.checksum:
        raise ValueError("its checksum is wrong")
    own, others = header.words * (1 + header.size // 2), header.words * header.near * 2
    names = len(rest) - own - others
    stems = tuple(rest[:names].decode("utf-8").split())
    places = dict(zip(stems, range(len(stems)), strict=True))
    return WordTable(header, stems, places, rest[names : names + own], rest[names + own :])


_NOTHING = Header(KIND, "", 0, 0, 0, 0.0)
