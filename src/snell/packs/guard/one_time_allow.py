"""
Let a user allow one denied command, once.

The last denied command is stored as a mark. The allowance is a file that only `snell allow` at a terminal writes: no
remote call creates one, so an agent that reaches the daemon cannot allow its own commands. The next call of exactly
that command in that session uses the allowance. Commands are compared by hash, because stored texts are redacted.
"""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from snell.model.protocols import Store
from snell.records.idempotency import sha_of
from snell.system.files import FileError, read_capped, write_atomically

SCOPE, DENIED = "guard", "guard/denied"
FILE = "allowed-once.json"
LONGEST_SHOWN, LONGEST_FILE = 2_000, 16_384


def record_denied(marks: Store, session_id: str, command: str, why: str) -> None:
    """Remember the last denied command."""
    denied = {"session": session_id, "command": command[:LONGEST_SHOWN], "why": why, "hash": sha_of(command)}
    marks.put(SCOPE, DENIED, denied)


def last_denied(marks: Store) -> Mapping[str, Any] | None:
    kept = marks.get(SCOPE, DENIED)
    return kept if isinstance(kept, Mapping) else None


def allow_once(state: Path, session_id: str, command_hash: str) -> None:
    """Allow exactly this command once in its session; replaces an earlier allowance."""
    write_atomically(state / FILE, msgspec.json.encode({"session": session_id, "hash": command_hash}))


def use_allowance(state: Path | None, session_id: str, command: str) -> bool:
    """Use the allowance for this command, and tell whether there was one."""
    if state is None:
        return False
    try:
        kept = msgspec.json.decode(read_capped(state / FILE, LONGEST_FILE, follow_links=False))
    except (OSError, FileError, ValueError):
        return False
    if kept != {"session": session_id, "hash": sha_of(command)}:
        return False
    with contextlib.suppress(FileNotFoundError):
        (state / FILE).unlink()
        return True
    return False  # another call has used it
