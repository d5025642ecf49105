"""
The notes beside the database that say how long the audit chain is: one line for each time that it was made longer.

INVARIANT: a process holds the lock from before it makes the chain longer until it has noted that, so lines are whole
and in their order. While it does, a second file says from where it went on; one that is left behind says that a process
was killed in between.
"""

import contextlib
import hmac
import os
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from snell.records.audit_chain import Head
from snell.records.audit_check import Anchor
from snell.system.files import FileError, file_lock, read_capped, write_atomically
from snell.system.paths import make_private

ANCHOR_FILE, BEGUN_FILE = "audit.anchor", "audit.extending"
LARGEST = 8_000_000  # bytes
KEPT = 5_000  # lines
_LARGEST_BEGUN = 1_000


class Noted(Struct, frozen=True):
    """What the file says, in the order of the chain, and what is wrong with it."""

    path: Path
    anchors: list[Anchor] = []
    problems: tuple[str, ...] = ()
    is_cut_short: bool = False  # its last line was being written

    @property
    def last(self) -> int:
        return self.anchors[-1].count if self.anchors else 0


class AuditNotes:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / ANCHOR_FILE
        self._begun = folder / BEGUN_FILE

    @contextlib.contextmanager
    def hold_lock(self, wait: float) -> Iterator[None]:
        """Be the one that makes the chain longer. Raises `LockedError` when another process is."""
        make_private(self._folder)
        with file_lock(self._path.with_name(f"{ANCHOR_FILE}.lock"), wait):
            yield

    def begin(self, key: bytes, noted: int) -> None:
        """Say that the chain is made longer from now on, whose last note is this."""
        write_atomically(self._begun, f"{noted} {_mark(key, str(noted), 'extending')}".encode(), sync=False)

    def end(self) -> None:
        self._begun.unlink(missing_ok=True)

    def begun(self, key: bytes) -> int:
        """The last note before the chain was made longer by a process that has not noted that; -1 for none."""
        with contextlib.suppress(OSError, FileError, UnicodeDecodeError):
            noted, _, mark = read_capped(self._begun, _LARGEST_BEGUN, follow_links=False).decode().partition(" ")
            if hmac.compare_digest(mark.encode(), _mark(key, noted, "extending").encode()):
                return int(noted)
        return -1

    def add(self, key: bytes, head: Head) -> None:
        """One line at the end of the file: how many links there are, the last of them, when, and our mark on it."""
        text = f"{head.count} {head.link} {time.time_ns() // 1_000_000}"
        self._drop_half_a_line()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self._path, flags, 0o600)
        try:
            os.write(descriptor, f"{text} {_mark(key, text)}\n".encode())
        finally:
            os.close(descriptor)
        if self._path.stat().st_size > LARGEST // 4:
            lines = self._path.read_bytes().splitlines(keepends=True)
            write_atomically(self._path, b"".join(lines[-KEPT:]))

    def read(self, key: bytes) -> Noted:
        """
        What was noted. A line carries a mark that nobody can make without the key; in which order lines stand says
        nothing, and earlier versions wrote them from several processes at once.
        """
        try:
            data = read_capped(self._path, LARGEST, follow_links=False)
        except FileNotFoundError:
            return Noted(self._path)
        except (OSError, FileError) as error:
            return Noted(self._path, problems=(f"the notes beside the database cannot be read: {error}",))
        *whole, rest = data.decode("utf-8", "replace").split("\n")
        found, problems = [], []
        for number, line in enumerate(whole, 1):
            text, _, mark = line.rpartition(" ")
            if not hmac.compare_digest(mark.encode(), _mark(key, text).encode()):
                problems.append(f"line {number} of `{self._path}` was changed")
                continue
            count, link, _ = text.split(" ")
            found.append(Anchor(int(count), link))
        return Noted(self._path, sorted(found, key=lambda each: each.count), tuple(problems), bool(rest))

    def _drop_half_a_line(self) -> None:
        """A line without an end was being written when a process or the machine stopped."""
        with contextlib.suppress(FileNotFoundError):
            data = read_capped(self._path, LARGEST, follow_links=False)
            if not data.endswith(b"\n"):
                write_atomically(self._path, data[: data.rfind(b"\n") + 1])


def _mark(key: bytes, text: str, kind: str = "anchor") -> str:
    return hmac.digest(key, f"{kind} {text}".encode(), "sha256").hex()
