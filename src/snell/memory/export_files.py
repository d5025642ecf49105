"""Export memories to a file and import them. An existing file is not replaced; an import is all or nothing."""

import contextlib
import errno
import os
from collections import Counter
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from snell.memory import rows
from snell.memory.exchange_format import LARGEST, check_form, draft_of, form_of, read, write_memories
from snell.memory.remember import remember
from snell.memory.service import Memories
from snell.memory.shortlist import shortlist_of
from snell.memory.types import ANY, Memory, NotRememberedError
from snell.memory.validation import is_id, redact_draft, validate_draft
from snell.model.protocols import Transaction
from snell.system.files import FileError, read_capped, write_atomically


def export_memories(
    memories: Memories, path: str, *, project: str, namespace: str = "", form: str = ""
) -> dict[str, Any]:
    """Write all memories of a project, or of all (`*`), to a new file."""
    target, form = _absolute(path), form_of(path, form)
    check_form(form)
    _check_target(target)
    found = memories.read(lambda tx: list(rows.iter_memories(tx, project=project, namespace=namespace)))
    try:
        write_atomically(target, write_memories(found, form))
    except OSError as error:
        advice = (
            "make room, or name a file on another disk" if error.errno in _FULL else "name a file that you may write"
        )
        raise NotRememberedError(f"cannot be written: {_why(error)}", where=f"`{target}`", advice=advice) from None
    return {"path": str(target), "memories": len(found)}


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _check_target(target: Path) -> None:
    """Check before anything is read: an existing file is not replaced, and no folder is created."""
    if target.is_dir():
        raise NotRememberedError("is a folder", where=f"`{target}`", advice="name a new file in it")
    if target.exists() or target.is_symlink():
        raise NotRememberedError("exists already", where=f"`{target}`", advice="name a new file")
    if not target.parent.is_dir():
        raise NotRememberedError("is not a folder", where=f"`{target.parent}`", advice="create it, or name another")


def _why(error: OSError) -> str:
    return error.strerror.lower() if error.strerror else str(error)


def import_memories(
    memories: Memories, path: str, *, project: str, form: str = "", is_dry: bool = True, similar: float = 0.95
) -> dict[str, Any]:
    """
    Import the memories of a file, all or none. Each keeps its project, unless one is named (`*`: its own).

    A file is not trusted: it is redacted and checked like any other input.
    """
    found = _read_file(_absolute(path), form_of(path, form))
    pairs = [(validate_draft(redact_draft(draft_of(memory))), memory) for memory in found]
    if project != ANY:
        pairs = [(replace(draft, project=project), memory) for draft, memory in pairs]
    statuses: Counter[str] = Counter()

    def work(tx: Transaction) -> None:
        for draft, memory in pairs:
            id_ = memory.id if is_id(memory.id) and not rows.get_many(tx, [memory.id]) else ""
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


class _Undo(Exception):  # noqa: N818 - not an error: it rolls a dry run back
    """Roll the transaction back."""


def _read_file(source: Path, form: str) -> list[Memory]:
    try:
        return read(read_capped(source, LARGEST), form)
    except OSError as error:
        advice = "name a file that `snell memory export` wrote"
        raise NotRememberedError(f"cannot be read: {_why(error)}", where=f"`{source}`", advice=advice) from None
    except FileError as error:
        raise NotRememberedError(error.message, where=f"`{source}`", advice=error.advice) from None
    except NotRememberedError as error:  # it says what is wrong, and perhaps in which line
        where = f"`{source}`, {error.where}" if error.where else f"`{source}`"
        advice = error.advice or "nothing was imported; correct it, or export it again with `snell memory export`"
        raise NotRememberedError(error.message, where=where, advice=advice) from None


def _absolute(path: str) -> Path:
    path = os.path.expanduser(path)
    if not os.path.isabs(path) or "\0" in path:
        raise NotRememberedError(f"`{path[:200]}` is not an absolute path", advice="give the full path")
    return Path(path)
