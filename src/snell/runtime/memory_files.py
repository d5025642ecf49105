"""Memories to a file and back. A file that is there is not replaced; nothing is taken in before all of it is read."""

import contextlib
import os
from collections import Counter
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from snell.machine.files import FileError, read_capped, write_atomically
from snell.memory import rows
from snell.memory.exchange import LARGEST, draft_of, form_of, read, written
from snell.memory.names import checked, is_id
from snell.memory.remembering import remember
from snell.memory.shapes import ANY, NotRememberedError
from snell.memory.shortlist import shortlist_of
from snell.model.ports import Transaction
from snell.runtime.memories import Memories


def exported(memories: Memories, path: str, *, project: str, namespace: str = "", form: str = "") -> dict[str, Any]:
    """Write all memories of a project, or of all (`*`), to a new file."""
    target = _absolute(path)
    if target.exists() or target.is_symlink():
        raise NotRememberedError("is there already", where=f"`{target}`", advice="name a new file")
    found = memories.run(lambda tx: list(rows.every(tx, project=project, namespace=namespace)))
    write_atomically(target, written(found, form_of(path, form)))
    return {"path": str(target), "memories": len(found)}


def imported(
    memories: Memories, path: str, *, project: str, form: str = "", is_dry: bool = True, similar: float = 0.95
) -> dict[str, Any]:
    """
    Take in the memories of a file, all or none. Each keeps its project, unless one is named (`*`: its own).

    What a file says is not believed: it is redacted and checked like anything else.
    """
    source = _absolute(path)
    try:
        found = read(read_capped(source, LARGEST), form_of(path, form))
    except (OSError, FileError) as error:
        why = error.strerror.lower() if isinstance(error, OSError) and error.strerror else str(error)
        raise NotRememberedError(f"cannot be read: {why}", where=f"`{source}`") from None
    pairs = [(checked(memories.redacted(draft_of(memory))), memory) for memory in found]
    if project != ANY:
        pairs = [(replace(draft, project=project), memory) for draft, memory in pairs]
    statuses: Counter[str] = Counter()

    def work(tx: Transaction) -> None:
        for draft, memory in pairs:
            id_ = memory.id if is_id(memory.id) and not rows.some(tx, [memory.id]) else ""
            lists = shortlist_of(memories.database)
            kept = remember(tx, draft, lists, similar=similar, is_gated=False, memory_id=id_)
            if kept.is_stored:
                rows.restore_use(tx, kept.id, memory)
            statuses[kept.status] += 1
        if is_dry:
            raise _Undo

    with contextlib.suppress(_Undo):
        memories.run(work)
    return {"memories": len(found), "statuses": dict(statuses), "dry_run": is_dry}


class _Undo(Exception):  # noqa: N818 - nothing is wrong: a rehearsal leaves nothing behind
    """Take back what was only tried."""


def _absolute(path: str) -> Path:
    path = os.path.expanduser(path)
    if not os.path.isabs(path) or "\0" in path:
        raise NotRememberedError(f"`{path[:200]}` is not an absolute path", advice="give the full path")
    return Path(path)
