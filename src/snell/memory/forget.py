"""
Forget memories, and delete the captures of the same text, which the inbox keeps for a week.

INVARIANT: the inbox is locked meanwhile, or a waiting capture would become a memory again.
"""

import contextlib
from collections.abc import Sequence

from msgspec import Struct

from snell.memory import rows
from snell.memory.inbox import LARGEST, Inbox
from snell.memory.project_identity import project_of
from snell.memory.service import Memories
from snell.memory.types import content_hash
from snell.memory.validation import without_controls
from snell.redact import redact
from snell.system.files import struct_or_none

MOST_SEARCHED = 20_000  # captures, the newest first; with 5000 characters each that takes some three seconds
WAIT = 5.0  # seconds, for another process that drains the inbox
FOLDERS = ("new", "processed", "quarantine")


class ForgetResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The deleted ids of memories, the number of deleted captures, and how many older captures were not searched."""

    forgotten: list[str]
    captures: int = 0
    not_searched: int = 0


def forget(memories: Memories, memory_ids: Sequence[str]) -> ForgetResult:
    """Delete these memories and the captures of their texts."""
    inbox = memories.inbox
    if inbox is None:
        return ForgetResult(forgotten=memories.run(lambda tx: rows.forget(tx, memory_ids)))
    with inbox.drain_lock(WAIT):
        known = memories.run(lambda tx: rows.get_many(tx, memory_ids))
        texts = {(each.project, content_hash(each.content)) for each in known.values()}
        gone = _discard(inbox, texts) if texts else 0
        forgotten = memories.run(lambda tx: rows.forget(tx, memory_ids))
    total = sum(map(inbox.count, FOLDERS)) if texts else 0
    return ForgetResult(forgotten=forgotten, captures=gone, not_searched=max(0, total + gone - MOST_SEARCHED))


class _Capture(Struct, frozen=True):
    """The relevant fields of a capture; one that is otherwise invalid contains the text all the same."""

    content: str
    project: str = ""
    project_root_dir: str = ""


def _discard(inbox: Inbox, texts: set[tuple[str, str]]) -> int:
    hashes = {each for _, each in texts}
    gone = 0
    for path in inbox.newest(MOST_SEARCHED, FOLDERS):
        found = struct_or_none(path, _Capture, LARGEST)
        if found is None or (digest := _hash(found, hashes)) is None:
            continue
        # A capture that waits for another project becomes a memory there; a processed one is only a copy.
        current = project_of(found.project_root_dir) if found.project_root_dir else found.project
        if path.parent.name != "new" or texts & {(found.project, digest), (current, digest)}:
            with contextlib.suppress(OSError):
                path.unlink()
                gone += 1
    return gone


def _hash(found: _Capture, hashes: set[str]) -> str | None:
    """Return the hash that matches. Captures of other programs are redacted when they are drained, so try that too."""
    text = without_controls(found.content)
    if (digest := content_hash(text)) in hashes:
        return digest
    return digest if (digest := content_hash(redact(text))) in hashes else None
