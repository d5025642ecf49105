"""
An inbox on the disk, as Maildir has it: whoever delivers needs nobody to be there, and nothing is ever half there.

    tmp/  being written      new/  waiting      processed/  done, kept for a week      quarantine/  failed three times

A file is written in `tmp`, made to last, then linked into `new` under a name that sorts by time. It leaves `new` only
after what it says has been kept, so a crash means that it is taken up again, never that it is lost.
"""

import contextlib
import heapq
import itertools
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from snell.model.errors import SnellError
from snell.system.files import FileError, file_lock
from snell.system.paths import make_private

FOLDERS = ("tmp", "new", "processed", "quarantine", "state")
LARGEST = 1_048_576
MOST_WAITING = 200_000
COUNT_EVERY = 256  # deliveries between two looks at how many wait
STRIKES = 3
SYNCED_AT_ONCE = 8  # files that the disk is asked to keep
RECOVER_AFTER, ORPHAN_AFTER = 5 * 60.0, 3600.0  # seconds in tmp
KEEP_PROCESSED, STALE_AFTER = 7 * 86_400.0, 86_400.0
KEEP_STATE = 90 * 86_400.0  # where a session's transcript was left; a session that old is read from its beginning

_STRIKE = re.compile(r"\.strike(\d)\Z")
_lock = threading.Lock()
_counter = itertools.count()
_last_ns = 0


class InboxFullError(SnellError):
    """Too much waits already."""

    id = "memory.inbox"


class Inbox:
    def __init__(self, root: Path) -> None:
        self.root = root
        self._is_made = False
        self._delivered = 0

    def deliver(self, data: bytes) -> Path:
        """Put a file into the inbox; when this returns, it survives a crash of the machine."""
        return self.deliver_all([data])[0]

    def deliver_all(self, files: Sequence[bytes]) -> list[Path]:
        """Put files into the inbox, in this order. They wait for the disk together."""
        for data in files:
            if len(data) > LARGEST:
                raise InboxFullError(f"is longer than {LARGEST:,} bytes", where="a capture")
        self._make()
        names: list[str] = []
        try:
            for data in files:
                self._count()
                names.append(_written(self.root / "tmp", data))
            _sync_all([self.root / "tmp" / name for name in names])
            targets = [self._linked(name) for name in names]
        finally:
            for name in names:
                _remove(self.root / "tmp" / name)
        if targets:
            _sync(self.root / "new")
        return targets

    def _linked(self, name: str) -> Path:
        while True:
            target = self.root / "new" / name
            try:
                os.link(self.root / "tmp" / name, target)
            except FileExistsError:
                name = _new_name()
                continue
            return target

    def waiting(self, most: int) -> list[Path]:
        """The oldest files that wait, in order."""
        try:
            names = os.listdir(self.root / "new")
        except OSError:
            return []
        wanted = (name for name in names if ".json" in name and not name.startswith("."))
        return [self.root / "new" / name for name in heapq.nsmallest(most, wanted)]

    def newest(self, most: int, folders: Sequence[str] = ("new", "processed")) -> list[Path]:
        """The files that came last, waiting or done."""
        found: list[tuple[str, Path]] = []
        for folder in folders:
            with contextlib.suppress(OSError):
                found += [(name, self.root / folder / name) for name in os.listdir(self.root / folder)]
        return [path for _, path in heapq.nlargest(most, found)]

    def count(self, folder: str = "new") -> int:
        try:
            return len(os.listdir(self.root / folder))
        except OSError:
            return 0

    def mark_done(self, path: Path) -> None:
        """It has been taken care of."""
        os.replace(path, self.root / "processed" / _STRIKE.sub("", path.name))

    def strike(self, path: Path) -> bool:
        """It failed. After the third time it goes to quarantine; returns whether it did."""
        match = _STRIKE.search(path.name)
        strikes = 1 + (int(match.group(1)) if match else 0)
        name = _STRIKE.sub("", path.name)
        if strikes >= STRIKES:
            os.replace(path, self.root / "quarantine" / name)
            return True
        os.replace(path, path.with_name(f"{name}.strike{strikes}"))
        return False

    @contextlib.contextmanager
    def emptying(self, wait: float = 0.0) -> Iterator[bool]:
        """One at a time empties it; False when somebody else does, for longer than one would wait."""
        if not self.root.is_dir():
            yield False
            return
        held = contextlib.ExitStack()
        try:
            self._make()
            held.enter_context(file_lock(self.root / "drain.lock", wait))
        except FileError:
            yield False
            return
        with held:
            yield True

    def tidy(self, is_whole: Callable[[bytes], bool], now: float | None = None) -> list[str]:
        """
        What a crash left behind and what is old. A whole file in `tmp` still gets delivered, a broken one goes after an
        hour; returns what a person should know.
        """
        now = time.time() if now is None else now
        for path, age in self._aged("tmp", now):
            if age > RECOVER_AFTER and _is_good(path, is_whole):
                with contextlib.suppress(OSError):
                    os.replace(path, self.root / "new" / path.name)
            elif age > ORPHAN_AFTER:
                _remove(path)
        for path, age in self._aged("processed", now):
            if age > KEEP_PROCESSED:
                _remove(path)
        for path, age in self._aged("state", now):
            if age > KEEP_STATE and path.suffix == ".json":
                _remove(path)
        oldest = self.waiting(1)
        waited = max((now - path.stat().st_mtime for path in oldest if path.exists()), default=0.0)
        if waited <= STALE_AFTER:
            return []
        return [f"memory: {self.count()} captures wait in {self.root}, the oldest for {waited / 3600:.0f} hours"]

    def _aged(self, folder: str, now: float) -> Iterator[tuple[Path, float]]:
        with contextlib.suppress(OSError), os.scandir(self.root / folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.is_file(follow_symlinks=False):
                        yield Path(entry.path), now - entry.stat(follow_symlinks=False).st_mtime

    def _make(self) -> None:
        if not self._is_made:
            make_private(self.root)
            for folder in FOLDERS:
                make_private(self.root / folder)
            self._is_made = True

    def _count(self) -> None:
        if self._delivered % COUNT_EVERY == 0 and self.count() >= MOST_WAITING:
            advice = "run `snell memory drain`"
            raise InboxFullError(f"{MOST_WAITING:,} captures wait already", where=f"`{self.root}`", advice=advice)
        self._delivered += 1


def _new_name() -> str:
    """Sorts by time; the counter keeps the order of what one process writes in the same instant."""
    global _last_ns  # one sequence of names for the whole process
    with _lock:
        _last_ns = max(time.time_ns(), _last_ns + 1)
        return f"{_last_ns:020d}-{os.getpid()}-{next(_counter):08x}.json"


def _written(folder: Path, data: bytes) -> str:
    """A new file in the folder; its name."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        name = _new_name()
        try:
            descriptor = os.open(folder / name, flags, 0o600)
        except FileExistsError:
            continue
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
        except OSError:
            _remove(folder / name)
            raise
        finally:
            os.close(descriptor)
        return name


def _sync_all(paths: Sequence[Path]) -> None:
    """Several at a time: a file system writes those together that are asked for together."""
    if len(paths) < SYNCED_AT_ONCE:
        for path in paths:
            _sync_file(path)
        return
    from concurrent.futures import ThreadPoolExecutor  # most deliveries are of one file

    with ThreadPoolExecutor(SYNCED_AT_ONCE) as threads:
        for _ in threads.map(_sync_file, paths):
            pass


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync(folder: Path) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _is_good(path: Path, is_whole: Callable[[bytes], bool]) -> bool:
    try:
        return is_whole(path.read_bytes()[: LARGEST + 1])
    except OSError:
        return False


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
