"""
An inbox on disk in the style of Maildir: a hook can deliver without a daemon, and no file is ever incomplete.

    tmp/  being written      new/  waiting      processed/  done, kept for a week      quarantine/  failed three times

A file is written in `tmp`, synced, then linked into `new` under a name that sorts by time. It leaves `new` only after
its content has been stored, so after a crash it is processed again and never lost.
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
from snell.system.files import FileError, file_lock, names_in, sync_to_disk
from snell.system.paths import make_private

FOLDERS = ("tmp", "new", "processed", "quarantine", "state")
LARGEST = 1_048_576
MOST_WAITING = 200_000
COUNT_EVERY = 256  # deliveries between two counts of the waiting files
MAX_FAILURES = 3
SYNCED_AT_ONCE = 8  # files that are synced in parallel
RECOVER_AFTER, ORPHAN_AFTER = 5 * 60.0, 3600.0  # seconds in tmp
KEEP_PROCESSED, STALE_AFTER = 7 * 86_400.0, 86_400.0
KEEP_STATE = 90 * 86_400.0  # the transcript position of a session; an older session is read from its beginning

_STRIKE = re.compile(r"\.strike(\d)\Z")
_lock = threading.Lock()
_counter = itertools.count()
_last_ns = 0


class InboxFullError(SnellError):
    """Too many captures are waiting."""

    id = "memory.inbox"


def inbox_folder(state: Path, named: object = "") -> Path:
    """Return the folder of the inbox: the one that the option `inbox` names, else `memory` in Snell's state folder."""
    return state / (os.path.expanduser(str(named)) if named else "memory")


class Inbox:
    def __init__(self, root: Path) -> None:
        self.root = root
        self._has_folders = False
        self._delivered = 0

    def deliver(self, data: bytes) -> Path:
        """Put a file into the inbox; when this returns, it survives a crash of the machine."""
        return self.deliver_all([data])[0]

    def deliver_all(self, files: Sequence[bytes]) -> list[Path]:
        """Put files into the inbox, in this order. They are synced together."""
        for data in files:
            if len(data) > LARGEST:
                raise InboxFullError(f"is longer than {LARGEST:,} bytes", where="a capture")
        self._make_folders()
        names: list[str] = []
        try:
            for data in files:
                self._check_capacity()
                names.append(_write_new(self.root / "tmp", data))
            _sync_all([self.root / "tmp" / name for name in names])
            targets = [self._link(name) for name in names]
        finally:
            for name in names:
                _remove(self.root / "tmp" / name)
        if targets:
            with contextlib.suppress(OSError):
                sync_to_disk(self.root / "new")
        return targets

    def _link(self, name: str) -> Path:
        while True:
            target = self.root / "new" / name
            try:
                os.link(self.root / "tmp" / name, target)
            except FileExistsError:
                name = _new_name()
                continue
            return target

    def waiting(self, most: int) -> list[Path]:
        """Return the oldest waiting files, in order."""
        wanted = (name for name in names_in(self.root / "new") if ".json" in name and not name.startswith("."))
        return [self.root / "new" / name for name in heapq.nsmallest(most, wanted)]

    def newest(self, most: int, folders: Sequence[str] = ("new", "processed")) -> list[Path]:
        """Return the files that came last, waiting or done."""
        found: list[tuple[str, Path]] = []
        for folder in folders:
            found += [(name, self.root / folder / name) for name in names_in(self.root / folder)]
        return [path for _, path in heapq.nlargest(most, found)]

    def count(self, folder: str = "new") -> int:
        return len(names_in(self.root / folder))

    def mark_done(self, path: Path) -> None:
        """Move a file that was processed."""
        os.replace(path, self.root / "processed" / _STRIKE.sub("", path.name))

    def mark_failed(self, path: Path) -> bool:
        """Count a failure of a file. After the third it goes to quarantine; returns whether it did."""
        match = _STRIKE.search(path.name)
        failures = 1 + (int(match.group(1)) if match else 0)
        name = _STRIKE.sub("", path.name)
        if failures >= MAX_FAILURES:
            os.replace(path, self.root / "quarantine" / name)
            return True
        os.replace(path, path.with_name(f"{name}.strike{failures}"))
        return False

    @contextlib.contextmanager
    def drain_lock(self, wait: float = 0.0) -> Iterator[bool]:
        """Lock the inbox for the process that drains it; False when another holds the lock for longer than `wait`."""
        with contextlib.ExitStack() as held:
            is_ours = self.root.is_dir()
            try:
                if is_ours:
                    self._make_folders()
                    held.enter_context(file_lock(self.root / "drain.lock", wait))
            except FileError:
                is_ours = False
            yield is_ours

    def tidy(self, is_valid: Callable[[bytes], bool], now: float | None = None) -> list[str]:
        """
        Clean up after crashes and delete old files; returns messages for the user.

        A complete file in `tmp` is still delivered, an incomplete one is deleted after an hour.
        """
        now = time.time() if now is None else now
        self._recover(is_valid, now)
        self._delete_old("processed", KEEP_PROCESSED, now)
        self._delete_old("state", KEEP_STATE, now, ".json")
        return self.backlog(now)

    def backlog(self, now: float) -> list[str]:
        """Return a warning if a capture has waited for too long."""
        waited = max((now - path.stat().st_mtime for path in self.waiting(1) if path.exists()), default=0.0)
        if waited <= STALE_AFTER:
            return []
        return [f"memory: {self.count()} captures wait in {self.root}, the oldest for {waited / 3600:.0f} hours"]

    def _recover(self, is_valid: Callable[[bytes], bool], now: float) -> None:
        for path, age in self._ages("tmp", now):
            if age > RECOVER_AFTER and _is_valid_file(path, is_valid):
                with contextlib.suppress(OSError):
                    os.replace(path, self.root / "new" / path.name)
            elif age > ORPHAN_AFTER:
                _remove(path)

    def _delete_old(self, folder: str, keep: float, now: float, suffix: str = "") -> None:
        for path, age in self._ages(folder, now):
            if age > keep and path.name.endswith(suffix):
                _remove(path)

    def _ages(self, folder: str, now: float) -> Iterator[tuple[Path, float]]:
        with contextlib.suppress(OSError), os.scandir(self.root / folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.is_file(follow_symlinks=False):
                        yield Path(entry.path), now - entry.stat(follow_symlinks=False).st_mtime

    def _make_folders(self) -> None:
        if not self._has_folders:
            make_private(self.root)
            for folder in FOLDERS:
                make_private(self.root / folder)
            self._has_folders = True

    def _check_capacity(self) -> None:
        if self._delivered % COUNT_EVERY == 0 and self.count() >= MOST_WAITING:
            advice = "run `snell memory drain`"
            raise InboxFullError(f"{MOST_WAITING:,} captures wait already", where=f"`{self.root}`", advice=advice)
        self._delivered += 1


def _new_name() -> str:
    """Return a name that sorts by time; the counter keeps the order of files of one process in the same instant."""
    global _last_ns  # one sequence of names for the process
    with _lock:
        _last_ns = max(time.time_ns(), _last_ns + 1)
        return f"{_last_ns:020d}-{os.getpid()}-{next(_counter):08x}.json"


def _write_new(folder: Path, data: bytes) -> str:
    """Create a file in the folder; returns its name."""
    while True:
        name = _new_name()
        try:
            with open(folder / name, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                file.write(data)
        except FileExistsError:
            continue
        except OSError:
            _remove(folder / name)
            raise
        return name


def _sync_all(paths: Sequence[Path]) -> None:
    """Sync several at a time: a file system writes those together that are requested together."""
    if len(paths) < SYNCED_AT_ONCE:
        for path in paths:
            sync_to_disk(path)
        return
    from concurrent.futures import ThreadPoolExecutor  # most deliveries are of one file

    with ThreadPoolExecutor(SYNCED_AT_ONCE) as threads:
        list(threads.map(sync_to_disk, paths))


def _is_valid_file(path: Path, is_valid: Callable[[bytes], bool]) -> bool:
    try:
        return is_valid(path.read_bytes()[: LARGEST + 1])
    except OSError:
        return False


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
