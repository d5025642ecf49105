"""Keep what a client's status line says about a session: one small file for each, which any process can read."""

import hashlib
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from snell.system.files import names_in, stat_or_none, struct_or_none, write_atomically
from snell.system.paths import make_private

FOLDER = "status_lines"
LARGEST = 10_000  # bytes of a file
KEPT_SECONDS = 7 * 86_400


class Status(Struct, frozen=True, kw_only=True):
    """How full the context of a session is, and which model it uses."""

    used_percent: float | None = None
    tokens: float | None = None
    window: float | None = None
    model: str = ""


def keep_status(state: Path, session_id: str, used: Mapping[str, float], model: str) -> None:
    """Keep the newest status of a session, and delete those of sessions that ended long ago."""
    status = Status(used_percent=used.get("used_percent"), tokens=used.get("tokens"), window=used.get("window"))
    status = msgspec.structs.replace(status, model=model)
    path = _path(state, session_id)
    if status == struct_or_none(path, Status, LARGEST):
        return
    if not path.exists():
        make_private(path.parent)
        _delete_old(path.parent)
    write_atomically(path, msgspec.json.encode(status), sync=False)


def last_status(state: Path, session_id: str) -> Status:
    return (struct_or_none(_path(state, session_id), Status, LARGEST) if session_id else None) or Status()


def _path(state: Path, session_id: str) -> Path:
    name = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return state / FOLDER / f"{name}.json"


def _delete_old(folder: Path) -> None:
    for name in names_in(folder):
        found = stat_or_none(folder / name)
        if found and found.st_mtime < time.time() - KEPT_SECONDS:
            with suppress(OSError):
                os.unlink(folder / name)
