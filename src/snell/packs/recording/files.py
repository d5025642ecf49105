"""The files of kept events: some for each day in `recorded/` of the state folder, one line of JSON per event."""

import fcntl
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.events import Event
from snell.system.files import names_in, stat_or_none
from snell.system.paths import make_private

FOLDER, ENDING = "recorded", ".jsonl"
DAY_MS = 86_400_000
MOST_FILES = 20  # named by one event
PARTS = 10  # no file takes more than this part of the limit, so that deleting the oldest one loses little


class KeptEvent(Struct, frozen=True, kw_only=True):
    """One event, without its secrets."""

    id: str  # of its decision
    at: int
    payload: dict[str, Any]
    files: dict[str, str] = {}  # the kind of each file that it names
    marks: dict[str, Any] | None = None  # of its session after it; None: as after the event before


_decode = msgspec.json.Decoder(KeptEvent).decode


def keep(state: Path, kept: KeptEvent, limit: int) -> None:
    """Append an event to a file of its day; delete the oldest files if all take more than `limit` bytes."""
    make_private(state / FOLDER)
    line = msgspec.json.encode(kept) + b"\n"
    if len(line) > limit:
        return
    path = _file_for(state, time.strftime("%Y-%m-%d", time.gmtime(kept.at / 1000)), len(line), limit // PARTS)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # several daemons and `snell hook` may write
        os.write(descriptor, line)
    finally:
        os.close(descriptor)
    delete_oldest(state, limit)


def _file_for(state: Path, day: str, size: int, most: int) -> Path:
    """Return the newest file of a day, or the next one if that file would grow beyond `most` bytes."""
    newest, taken = next((each for each in reversed(recorded_files(state)) if each[0].stem.startswith(day)), (None, 0))
    number = int(newest.stem.rpartition("-")[2]) if newest else 1
    return state / FOLDER / f"{day}-{number + (taken > 0 and taken + size > most):06}{ENDING}"


def delete_oldest(state: Path, limit: int) -> int:
    """Delete the oldest files until the rest take at most `limit` bytes; returns how many bytes are left."""
    files = recorded_files(state)
    total = sum(size for _, size in files)
    for path, size in files:
        if total <= limit:
            break
        path.unlink(missing_ok=True)
        total -= size
    return total


def recorded_files(state: Path) -> list[tuple[Path, int]]:
    """Return the files with kept events and their sizes, the oldest first."""
    names = sorted(name for name in names_in(state / FOLDER) if name.endswith(ENDING))
    return [(state / FOLDER / name, (state / FOLDER / name).stat().st_size) for name in names]


def kept_events(state: Path, since: int = 0) -> Iterator[KeptEvent]:
    """Yield the kept events that are not older than a time; a line that was cut short is left out."""
    first = time.strftime("%Y-%m-%d", time.gmtime(max(0, since) / 1000))
    for path, _ in recorded_files(state):
        if path.stem < first:
            continue
        with path.open("rb") as file:
            for line in file:
                try:
                    kept = _decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    continue
                if kept.at >= since:
                    yield kept


def file_kinds(event: Event) -> dict[str, str]:
    """Return the kind of the event's folder and of each file that its input names."""
    cwd = event.cwd or "/"
    found = event.contents
    named = [*found.reads, *found.writes, *found.deletes][:MOST_FILES]
    return {
        path: kind_of_file(path) for path in (cwd, *(os.path.join(cwd, os.path.expanduser(each)) for each in named))
    }


def kind_of_file(path: str) -> str:
    """Return `missing`, `link`, `folder` or `file`."""
    found = stat_or_none(path, follow_links=False)
    mode = found.st_mode if found else 0
    return "missing" if not found else "link" if stat.S_ISLNK(mode) else "folder" if stat.S_ISDIR(mode) else "file"
