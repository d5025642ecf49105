"""Copies of a file beside it, such as `snell.db.bad-20260102T030405`, under a free name and limited in number."""

import contextlib
import os
import time
from pathlib import Path

MAX_COPIES = 10


def copy_name(path: Path, why: str) -> Path:
    """Return a free name beside the file, with the time in it; deletes the oldest copies when there are too many."""
    _delete_oldest(path, why)
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    name = path.with_name(f"{path.name}.{why}-{stamp}")
    number = 1
    while os.path.lexists(name):
        number += 1
        name = path.with_name(f"{path.name}.{why}-{stamp}-{number}")
    return name


def move_aside(path: Path, why: str, beside: tuple[str, ...] = ()) -> Path:
    """Rename a file, and those whose names only add one of these endings; returns its new path."""
    name = copy_name(path, why)
    for ending in ("", *beside):
        with contextlib.suppress(FileNotFoundError):
            os.replace(f"{path}{ending}", f"{name}{ending}")
    return name


def _delete_oldest(path: Path, why: str) -> None:
    copies = sorted(path.parent.glob(f"{path.name}.{why}-*"), key=lambda copy: copy.stat().st_mtime_ns)
    for oldest in copies[: max(0, len(copies) - MAX_COPIES + 1)]:
        with contextlib.suppress(OSError):
            oldest.unlink()
