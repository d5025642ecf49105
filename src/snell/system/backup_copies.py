"""Copies kept beside a file, such as `snell.db.bad-20260102T030405`: under a free name, and never too many."""

import contextlib
import os
import time
from pathlib import Path

KEPT = 10


def copy_name(path: Path, why: str) -> Path:
    """A free name beside the file, with the time in it; makes room when there are too many of its kind."""
    _make_room(path, why)
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    name = path.with_name(f"{path.name}.{why}-{stamp}")
    number = 1
    while os.path.lexists(name):
        number += 1
        name = path.with_name(f"{path.name}.{why}-{stamp}-{number}")
    return name


def move_aside(path: Path, why: str, beside: tuple[str, ...] = ()) -> Path:
    """Move a file away, and with it those whose names only add one of these endings; returns where it is now."""
    name = copy_name(path, why)
    for ending in ("", *beside):
        with contextlib.suppress(FileNotFoundError):
            os.replace(f"{path}{ending}", f"{name}{ending}")
    return name


def _make_room(path: Path, why: str) -> None:
    copies = sorted(path.parent.glob(f"{path.name}.{why}-*"), key=lambda copy: copy.stat().st_mtime_ns)
    for oldest in copies[: max(0, len(copies) - KEPT + 1)]:
        with contextlib.suppress(OSError):
            oldest.unlink()
