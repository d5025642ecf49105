"""
Read the conversations that clients record in their own transcripts: one module per client, listed in `READERS`.

A reader has `PLACES`, patterns of its files, and `read(path)`, which yields the conversations in one of them. In
PLACES `{base}` is the client's own folder, and `{data}` the user's folder for data.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from glob import iglob
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snell.conversations.record import Conversation
from snell.model.errors import SnellError
from snell.system.files import stat_or_none

if TYPE_CHECKING:  # a hook that asks for the usage of its session imports this package, and waits for it
    from snell.setup.plan import Site

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


def conversations_of(client: str, site: "Site", since: int) -> Iterator[Conversation]:
    """Yield the conversations of a client in files that changed since then."""
    reader: Any = import_module(f"{__name__}.{client}")
    for path in files_of(client, site, since):
        yield from reader.read(path)


def files_of(client: str, site: "Site", since: int = 0) -> Iterator[Path]:
    """Yield the files of a client's conversations that changed since then."""
    reader: Any = import_module(f"{__name__}.{client}")
    for place in reader.PLACES:
        yield from (path for path in sorted(_files(client, place, site)) if _changed_at(path) >= since)


def conversations_in(folder: Path, client: str = "") -> Iterator[Conversation]:
    """Yield the conversations in the files below a folder, or in one file; without a client, each file tells whose."""
    found = [folder] if folder.is_file() else sorted(path for path in folder.rglob("*.jsonl") if path.is_file())
    files = [path for path in found if "subagents" not in path.parts]  # these are read with their sessions
    for path in files:
        if whose := client or _client_of(path):
            reader: Any = import_module(f"{__name__}.{whose}")
            yield from reader.read(path)


def _client_of(path: Path) -> str:
    """Return the client that wrote a file, by what its first lines contain; empty if that is not known."""
    with suppress(OSError), path.open("rb") as file:
        beginning = file.read(SNIFFED)
        return next((client for client, marks in _MARKS.items() if all(mark in beginning for mark in marks)), "")
    return ""


SNIFFED = 200_000
_MARKS: Mapping[str, tuple[bytes, ...]] = {
    "codex": (b'"session_meta"',),
    "copilot": (b'"session.start"', b'"copilotVersion"'),
    "qwen": (b'"sessionId"', b'"functionCall"'),
    "claude_code": (b'"sessionId"', b'"tool_use"'),
    "gemini": (b'"sessionId"', b'"toolCalls"'),
    "kimi": (b'"turn.prompt"',),
}


def has_files(client: str, site: "Site") -> bool:
    """Return whether the client keeps any conversation on this machine."""
    return any(True for _ in files_of(client, site))


def _files(client: str, place: str, site: "Site") -> Iterator[Path]:
    from snell.clients import client_named
    from snell.setup.plan import expand_path

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
