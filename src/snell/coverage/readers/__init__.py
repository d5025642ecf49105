"""
Read the conversations that clients keep: one module per client, listed in `READERS`.

A reader has `PLACES`, patterns of its files, and `read(path)`, which yields the conversations in one of them. In
PLACES `{base}` is the client's own folder, and `{data}` the user's folder for data.
"""

import os
from collections.abc import Iterator, Mapping
from glob import iglob
from importlib import import_module
from pathlib import Path
from typing import Any

from snell.clients import client_named
from snell.coverage.conversations import Conversation
from snell.model.errors import SnellError
from snell.setup.plan import Site, expand_path
from snell.system.files import stat_or_none

# By client; whether it gives hooks the same number of a call as it records.
READERS: Mapping[str, bool] = {
    "claude_code": True,
    "codex": True,
    "copilot": False,
    "gemini": False,
    "kimi": True,
    "opencode": True,
    "qwen": False,
}


def conversations_of(client: str, site: Site, since: int) -> Iterator[Conversation]:
    """Yield the conversations of a client in files that changed since then."""
    reader: Any = import_module(f"{__name__}.{client}")
    for place in reader.PLACES:
        for path in sorted(_files(client, place, site)):
            if _changed_at(path) >= since:
                yield from reader.read(path)


def has_files(client: str, site: Site) -> bool:
    """Return whether the client keeps any conversation on this machine."""
    reader: Any = import_module(f"{__name__}.{client}")
    return any(True for place in reader.PLACES for _ in _files(client, place, site))


def _files(client: str, place: str, site: Site) -> Iterator[Path]:
    data = site.env.get("XDG_DATA_HOME", "")
    place = place.replace("{data}", data if os.path.isabs(data) else str(site.home / ".local/share"))
    try:
        pattern = expand_path(client_named(client).install, place, site)
    except SnellError:  # the variable for its folder is not a path, which `snell setup` reports
        return
    yield from map(Path, iglob(pattern, recursive=True))


def _changed_at(path: Path) -> int:
    """Return when a file was last written; a database may have its newest rows in a second file."""
    found = (stat_or_none(each, follow_links=False) for each in (path, f"{path}-wal"))
    return max((int(each.st_mtime * 1000) for each in found if each), default=0)
