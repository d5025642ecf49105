"""
The anchor file beside the database: one line with the length and last link of the audit chain after each extension.

INVARIANT: a process holds the lock from before it extends the chain until it has written the line, so lines are
complete and in order. Meanwhile a second file contains the count of the last anchor; if it is left behind, a process
was killed in between.
"""

import contextlib
import hmac
import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from snell.records.audit_chain import Head
from snell.system.files import FileError, file_lock, read_capped, write_atomically
from snell.system.paths import make_private
from snell.system.wall_clock import now_ms

ANCHOR_FILE, EXTENDING_FILE = "audit.anchor", "audit.extending"
LARGEST = 8_000_000  # bytes
KEPT = 5_000  # lines
_LARGEST_EXTENDING = 1_000


class Anchor(Struct, frozen=True):
    """A line of the file: the last link when the chain had `count` links."""

    count: int
    link: str


class Anchors(Struct, frozen=True):
    """The contents of the anchor file, in the order of the chain, and what is wrong with it."""

    path: Path
    anchors: list[Anchor] = []
    problems: tuple[str, ...] = ()
    is_cut_short: bool = False  # its last line is incomplete

    @property
    def last(self) -> int:
        return self.anchors[-1].count if self.anchors else 0


class AnchorFile:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / ANCHOR_FILE
        self._extending = folder / EXTENDING_FILE

    @contextlib.contextmanager
    def hold_lock(self, wait: float) -> Iterator[None]:
        """Hold the lock of the process that extends the chain. Raises `LockedError` while another process does."""
        make_private(self._folder)
        with file_lock(self._path.with_name(f"{ANCHOR_FILE}.lock"), wait):
            yield

    def begin(self, key: bytes, last: int) -> None:
        """Record that this process extends the chain; `last` is the count of its last anchor."""
        write_atomically(self._extending, f"{last} {_mac(key, str(last), 'extending')}".encode(), sync=False)

    def end(self) -> None:
        self._extending.unlink(missing_ok=True)

    def unfinished_extension(self, key: bytes) -> int:
        """Return the count from which a process began to extend the chain without an anchor since; -1 for none."""
        with contextlib.suppress(OSError, FileError, UnicodeDecodeError):
            last, _, mark = read_capped(self._extending, _LARGEST_EXTENDING, follow_links=False).decode().partition(" ")
            if hmac.compare_digest(mark.encode(), _mac(key, last, "extending").encode()):
                return int(last)
        return -1

    def add(self, key: bytes, head: Head) -> None:
        """Append a line: the number of links, the last link, the time, and a MAC over these."""
        text = f"{head.count} {head.link} {now_ms()}"
        # A last line without an end is removed: a process or the machine stopped while writing it.
        with contextlib.suppress(FileNotFoundError):
            data = read_capped(self._path, LARGEST, follow_links=False)
            if not data.endswith(b"\n"):
                write_atomically(self._path, data[: data.rfind(b"\n") + 1])
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(self._path, flags, 0o600), "ab", buffering=0) as file:
            file.write(f"{text} {_mac(key, text)}\n".encode())
        if self._path.stat().st_size > LARGEST // 4:
            lines = self._path.read_bytes().splitlines(keepends=True)
            write_atomically(self._path, b"".join(lines[-KEPT:]))

    def read(self, key: bytes) -> Anchors:
        """
        Return all anchors. Each line carries a MAC; the order of lines does not matter, since earlier versions wrote
        them from several processes at once.
        """
        try:
            data = read_capped(self._path, LARGEST, follow_links=False)
        except FileNotFoundError:
            return Anchors(self._path)
        except (OSError, FileError) as error:
            return Anchors(self._path, problems=(f"the anchor file beside the database cannot be read: {error}",))
        *lines, rest = data.decode("utf-8", "replace").split("\n")
        found, problems = [], []
        for number, line in enumerate(lines, 1):
            text, _, mark = line.rpartition(" ")
            if not hmac.compare_digest(mark.encode(), _mac(key, text).encode()):
                problems.append(f"line {number} of `{self._path}` was changed")
                continue
            count, link, _ = text.split(" ")
            found.append(Anchor(int(count), link))
        return Anchors(self._path, sorted(found, key=lambda each: each.count), tuple(problems), bool(rest))


def _mac(key: bytes, text: str, kind: str = "anchor") -> str:
    return hmac.digest(key, f"{kind} {text}".encode(), "sha256").hex()
