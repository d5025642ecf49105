"""
Store for each session how far its transcript was read, and find an agent's messages in it.

How each client writes an agent's messages is in `patterns.toml`; one that is not listed is read like Claude Code.
"""

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from snell.memory.inbox_entry import stamp
from snell.redact.pattern_file import patterns_of
from snell.system.files import is_own_file, names_in, struct_or_none, write_atomically
from snell.system.json_input import json_or_none
from snell.system.paths import make_private

_LARGEST_POSITION = 100_000
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)\Z", re.IGNORECASE)


class Position(Struct, frozen=True):
    last_offset: int = 0
    last_timestamp: str = ""
    recent: tuple[str, ...] = ()  # ids of the last messages, since some clients rewrite one when it grows
    overlong: int = 0  # lines that were skipped


def is_session(name: str) -> bool:
    """Whether a session id can be used as a file name."""
    return bool(_SESSION.match(name)) and not _DEVICE.match(name)


def is_transcript(path: str) -> bool:
    """Whether it is an absolute path without `..` to a regular file of the user, not a link."""
    return os.path.isabs(path) and ".." not in Path(path).parts and is_own_file(path)


def position(folder: Path, session: str) -> Position:
    """Return where the last read of this session's transcript ended; the beginning if that is unknown."""
    found = struct_or_none(_file(folder, session), Position, _LARGEST_POSITION)
    return found if found and found.last_offset >= 0 else Position()


def keep_position(
    folder: Path, session: str, offset: int, now: float, recent: tuple[str, ...] = (), overlong: int = 0
) -> None:
    make_private(folder)
    write_atomically(_file(folder, session), msgspec.json.encode(Position(offset, stamp(now), recent, overlong)))


def overlong_lines(folder: Path) -> int:
    """Return how many lines of all transcripts were skipped because they are too long."""
    names = [name.removesuffix(".json") for name in names_in(folder) if name.endswith(".json")]
    return sum(position(folder, name).overlong for name in names if is_session(name))


def _file(folder: Path, session: str) -> Path:
    return folder / f"{session}.json"


class Format(Struct, frozen=True):
    marker: str  # lines without it are not parsed
    fields: Mapping[str, str]  # path -> the value it must have
    texts: tuple[str, ...]  # paths to the text; `*` goes through a list
    id: str = "uuid"
    side: str = ""  # a path that is true if this was not the main conversation


@cache
def _formats() -> dict[str, Format]:
    return msgspec.convert(patterns_of("memory").tables["transcripts"], dict[str, Format])


class Message(Struct, frozen=True):
    """One message of the agent."""

    id: str
    text: str


def agent_message(line: bytes, client: str) -> Message | None:
    """Return the agent's message in this line; None for any other line."""
    form = _formats().get(client.replace("_", "-"), _formats()["claude-code"])
    if form.marker.encode() not in line:
        return None
    row = json_or_none(line)
    if (
        row is None
        or any(_first(row, path) != wanted for path, wanted in form.fields.items())
        or _first(row, form.side)
    ):
        return None
    for path in form.texts:
        texts = [each.strip() for each in _values_at(row, path.split(".")) if isinstance(each, str) and each.strip()]
        if texts:
            return Message(str(_first(row, form.id) or ""), "\n\n".join(texts))
    return None


def _first(row: Any, path: str) -> Any:
    return next(_values_at(row, path.split(".")), None) if path else None


def _values_at(value: Any, path: list[str]) -> Iterator[Any]:
    if not path:
        yield value
    elif path[0] == "*":
        for each in value if isinstance(value, list) else ():
            if not isinstance(each, dict) or each.get("type") not in ("thinking", "reasoning"):
                yield from _values_at(each, path[1:])
    elif isinstance(value, dict) and path[0] in value:
        yield from _values_at(value[path[0]], path[1:])
