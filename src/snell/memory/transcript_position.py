"""
Read what is new in a transcript: complete lines only, from a byte offset that is stored for each session.

INVARIANT: the offset moves past a line only when that line was returned or is too long to be a message. A line that is
still being written, and what exceeds the limit, is read the next time.
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
MOST_BYTES = 64 * 1024 * 1024  # per read
_CHUNK = 1_048_576
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)\Z", re.IGNORECASE)


class Position(Struct, frozen=True):
    last_offset: int = 0
    last_timestamp: str = ""
    recent: tuple[str, ...] = ()  # ids of the last messages, since some clients rewrite one when it grows
    overlong: int = 0  # lines that were skipped


def is_session(name: str) -> bool:
    """Whether a session id can be used as a file name."""
    return bool(_SESSION.match(name)) and not _DEVICE.match(name)


def is_transcript(path: str) -> bool:
    """Whether it is an absolute path without `..` to a regular file of the user, not a link."""
    if not os.path.isabs(path) or "\0" in path or ".." in Path(path).parts:
        return False
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()


def position(folder: Path, session: str) -> Position:
    """Return where the last read of this session's transcript ended; the beginning if that is unknown."""
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
    """Return how many lines of all transcripts were skipped because they are too long."""
    try:
        names = [name.removesuffix(".json") for name in os.listdir(folder) if name.endswith(".json")]
    except OSError:
        return 0
    return sum(position(folder, name).overlong for name in names if is_session(name))


def lines_since(path: str, offset: int, most: int = MOST_BYTES) -> Iterator[tuple[bytes, int]]:
    """
    Yield each complete line after the offset, and the offset after it. A file that has become shorter is read anew.

    An overlong line is yielded as no bytes, so that the caller can count it.
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
    """Return the length of the rest of an overlong line; -1 when it has no end yet."""
    length = 0
    while chunk := file.readline(_CHUNK):
        length += len(chunk)
        if chunk.endswith(b"\n"):
            return length
    return -1


def _file(folder: Path, session: str) -> Path:
    return folder / f"{session}.json"
