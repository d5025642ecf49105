"""
What is new in a transcript since the last look: whole lines only, from a byte offset that is kept for each session.

INVARIANT: the offset moves past a line only when that line was handed out or is too long to be a message. A line that
is still being written, and what does not fit into one look, is there the next time.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct

from snell.memory.inbox_entry import stamp
from snell.system.files import FileError, read_capped, write_atomically
from snell.system.paths import make_private

LONGEST_LINE = 1_048_576
MOST_BYTES = 64 * 1024 * 1024  # in one look
_CHUNK = 1_048_576
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)\Z", re.IGNORECASE)


class Position(Struct, frozen=True):
    last_offset: int = 0
    last_timestamp: str = ""
    recent: tuple[str, ...] = ()  # ids of the last messages, since some clients write one again when it grows
    overlong: int = 0  # lines that were left out


def is_session(name: str) -> bool:
    """Whether this can be the name of a file."""
    return bool(_SESSION.match(name)) and not _DEVICE.match(name)


def is_transcript(path: str) -> bool:
    """An absolute path without `..` to a regular file of the user's own, and no link."""
    if not os.path.isabs(path) or "\0" in path or ".." in Path(path).parts:
        return False
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()


def position(folder: Path, session: str) -> Position:
    """Where the last look at this session's transcript ended; the beginning when that is not known."""
    try:
        found = msgspec.json.decode(read_capped(_file(folder, session), 100_000, follow_links=False), type=Position)
    except (OSError, FileError, msgspec.DecodeError):
        return Position()
    return found if found.last_offset >= 0 else Position()


def keep_position(
    folder: Path, session: str, offset: int, now: float, recent: tuple[str, ...] = (), overlong: int = 0
) -> None:
    make_private(folder)
    write_atomically(_file(folder, session), msgspec.json.encode(Position(offset, stamp(now), recent, overlong)))


def overlong_lines(folder: Path) -> int:
    """How many lines of all transcripts were left out because they are too long."""
    try:
        names = [name.removesuffix(".json") for name in os.listdir(folder) if name.endswith(".json")]
    except OSError:
        return 0
    return sum(position(folder, name).overlong for name in names if is_session(name))


def lines_since(path: str, offset: int, most: int = MOST_BYTES) -> Iterator[tuple[bytes, int]]:
    """
    Each whole line after the offset, and the offset after it. A file that has become shorter begins anew.

    One that is too long comes as no bytes at all, so that whoever reads can say so.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if offset > os.fstat(descriptor).st_size:
            offset = 0
        file.seek(offset)
        until = offset + most
        while offset < until:
            line = file.readline(LONGEST_LINE + 1)
            if not line:
                return
            length = len(line)
            if not line.endswith(b"\n"):
                if length <= LONGEST_LINE:
                    return  # still being written
                rest = _rest_of_line(file)
                if rest < 0:
                    return
                line, length = b"", length + rest
            offset += length
            yield line, offset


def _rest_of_line(file: BinaryIO) -> int:
    """How long the rest of an overlong line is; -1 when it has no end yet."""
    length = 0
    while chunk := file.readline(_CHUNK):
        length += len(chunk)
        if chunk.endswith(b"\n"):
            return length
    return -1


def _file(folder: Path, session: str) -> Path:
    return folder / f"{session}.json"
