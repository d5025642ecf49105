"""
Forgetting: a memory goes, and with it the captures of that very text, which the inbox keeps for a week.

INVARIANT: nobody takes captures in meanwhile, or one that waits would become a memory again.
"""

import contextlib
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from snell.memory import rows
from snell.memory.inbox import LARGEST, Inbox
from snell.memory.project_identity import project_of
from snell.memory.service import Memories
from snell.memory.types import content_hash
from snell.memory.validation import without_controls
from snell.redact import redact
from snell.system.files import FileError, read_capped

MOST_SEARCHED = 20_000  # captures, the newest first; of a text of 5000 characters each, some three seconds
WAIT = 5.0  # seconds, for somebody who empties the inbox right now
FOLDERS = ("new", "processed", "quarantine")


class Forgotten(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What went: ids of memories, how many captures; and how many older captures nobody looked at."""

    forgotten: list[str]
    captures: int = 0
    not_searched: int = 0


def forget(memories: Memories, memory_ids: Sequence[str]) -> Forgotten:
    """Delete these memories and the captures of their texts."""
    inbox = memories.inbox
    if inbox is None:
        return Forgotten(forgotten=memories.run(lambda tx: rows.forget(tx, memory_ids)))
    with inbox.emptying(WAIT):
        known = memories.run(lambda tx: rows.get_many(tx, memory_ids))
        texts = {(each.project, content_hash(each.content)) for each in known.values()}
        gone = _discard(inbox, texts) if texts else 0
        forgotten = memories.run(lambda tx: rows.forget(tx, memory_ids))
    total = sum(map(inbox.count, FOLDERS)) if texts else 0
    return Forgotten(forgotten=forgotten, captures=gone, not_searched=max(0, total + gone - MOST_SEARCHED))


class _Said(Struct, frozen=True):
    """What matters of a capture here; one that is otherwise wrong holds the text all the same."""

    content: str
    project: str = ""
    project_root_dir: str = ""


def _discard(inbox: Inbox, texts: set[tuple[str, str]]) -> int:
    hashes = {each for _, each in texts}
    gone = 0
    for path in inbox.newest(MOST_SEARCHED, FOLDERS):
        said = _read(path)
        if said is None or (digest := _hash(said, hashes)) is None:
            continue
        # What waits in another project becomes a memory there; what is done is nothing but a copy, whoever's.
        if path.parent.name != "new" or texts & {(each, digest) for each in _projects(said)}:
            with contextlib.suppress(OSError):
                path.unlink()
                gone += 1
    return gone


def _read(path: Path) -> _Said | None:
    try:
        return msgspec.json.decode(read_capped(path, LARGEST, follow_links=False), type=_Said)
    except (OSError, FileError, msgspec.DecodeError, RecursionError):
        return None


def _hash(said: _Said, hashes: set[str]) -> str | None:
    """Which of these texts it is. Other programs put captures here too, and theirs are redacted when taken in."""
    text = without_controls(said.content)
    if (digest := content_hash(text)) in hashes:
        return digest
    return digest if (digest := content_hash(redact(text))) in hashes else None


def _projects(said: _Said) -> set[str]:
    """Its project, under the name of then and of now."""
    return {said.project, project_of(said.project_root_dir)} if said.project_root_dir else {said.project}
