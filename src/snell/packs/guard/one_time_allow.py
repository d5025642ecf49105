"""
A person's word that one denied command may pass, once.

What was denied last is a mark. The word is a file that only a person's terminal writes: no remote call makes one, so
that an agent which reaches the daemon cannot give itself leave. The next call of exactly that command in that session
uses it up. Commands are compared by their hash, since what is kept as text has no secrets left.
"""

import contextlib
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from snell.model.protocols import Store
from snell.system.files import FileError, read_capped, write_atomically

SCOPE, DENIED = "guard", "guard/denied"
FILE = "allowed-once.json"
LONGEST_SHOWN, LONGEST_FILE = 2_000, 16_384


def record_denied(marks: Store, session_id: str, command: str, why: str) -> None:
    """Remember what was denied last."""
    denied = {"session": session_id, "command": command[:LONGEST_SHOWN], "why": why, "hash": _hash(command)}
    marks.put(SCOPE, DENIED, denied)


def last_denied(marks: Store) -> Mapping[str, Any] | None:
    kept = marks.get(SCOPE, DENIED)
    return kept if isinstance(kept, Mapping) else None


def allow_once(state: Path, session_id: str, command_hash: str) -> None:
    """Let exactly this command pass once in its session; it takes the place of an earlier word."""
    write_atomically(state / FILE, msgspec.json.encode({"session": session_id, "hash": command_hash}))


def use_allowance(state: Path | None, session_id: str, command: str) -> bool:
    """Did a person allow this command? Asking uses the allowance up."""
    if state is None:
        return False
    try:
        kept = msgspec.json.decode(read_capped(state / FILE, LONGEST_FILE, follow_links=False))
    except (OSError, FileError, ValueError):
        return False
    if kept != {"session": session_id, "hash": _hash(command)}:
        return False
    with contextlib.suppress(FileNotFoundError):
        (state / FILE).unlink()
        return True
    return False  # another call was quicker


def _hash(command: str) -> str:
    return hashlib.sha256(command.encode("utf-8", "surrogatepass")).hexdigest()
