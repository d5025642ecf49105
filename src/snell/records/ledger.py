"""
Read and write the ledger: the table `tool_calls`, one row per tool call.

`packs/ledger/record.py` calls `begin` before a tool runs and `finish` after it; `runtime/watchers.py` adds rows
that are missing. To add a column, add a field to `Call` and a migration (see `store/__init__.py`).

Beginning and end of a call may be written in any order, with the same result. A row that has ended never changes again;
the audit chain relies on that. Only an abandoned call, whose end is unknown, may still get its end later.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.errors import SnellError
from snell.model.protocols import Transaction
from snell.model.tables import Table, assignments, where_given
from snell.system.lazy_regex import lazy_regex

OPEN = ("prepared", "running")
ENDED = ("succeeded", "failed", "denied", "abandoned_on_resume")
SETTLED = ("succeeded", "failed", "denied")  # final
PREVIEW = 500  # characters of a receipt that are shown
LONGEST_BODY = 262_144
_SAFE = lazy_regex(r"[\w.:@ -]{1,128}", re.ASCII)


class Call(Struct, frozen=True, kw_only=True):
    """One tool call. Times are milliseconds since 1970; for display, never for ordering."""

    tool_call_id: str
    run_id: str = ""
    step_id: str = ""
    created_at: int = 0
    updated_at: int = 0
    raw_tool_name: str = ""
    tool_name: str = ""
    tool_namespace: str = ""
    side_effect_class: str = "external"
    replay_policy: str = "REPLAY_EXACT"
    replay_status: str = ""
    policy_matched: int = 0
    policy_rule_id: str = ""
    normalized_args_hash: str = ""
    idempotency_key: str = ""
    status: str = "prepared"
    attempt: int = 1
    request_ref: str = ""
    response_ref: str = ""
    external_correlation_id: str = ""
    error_code: str = ""
    error_detail: str = ""
    session_id: str = ""
    agent_id: str = ""
    client: str = ""
    effort: str = ""
    decision_id: str = ""
    started_at: int = 0
    finished_at: int = 0
    duration_ms: int = 0
    intent: str = "[]"  # paths that it may create or change
    confirmed: str = "[]"  # those of them that existed afterwards
    revision: int = 0  # given by the store

    @property
    def has_side_effects(self) -> bool:
        return self.side_effect_class != "read_only"


class End(Struct, frozen=True, kw_only=True):
    status: str
    at: int
    duration_ms: int | None = None  # as measured by the client; else the time between begin and end
    response_ref: str = ""
    external_correlation_id: str = ""
    error_code: str = ""
    error_detail: str = ""
    confirmed: str = "[]"


_CALLS = Table("tool_calls", Call, assigned="revision")
FIELDS, calls_after = _CALLS.fields, _CALLS.after
_NEXT = "(SELECT COALESCE(MAX(revision), 0) + 1 FROM tool_calls)"
_INSERT = _CALLS.insert("ON CONFLICT (tool_call_id) DO NOTHING", number=_NEXT)
_OVERWRITE = ", ".join(f"{name} = excluded.{name}" for name in (*FIELDS[1:], "revision"))
_PUT = _CALLS.insert(f"ON CONFLICT (tool_call_id) DO UPDATE SET {_OVERWRITE}", number="?")
_NEWEST_FIRST = "ORDER BY created_at DESC, tool_call_id DESC"
# The id of the call without its session; written as in the index, or the index would not be used.
_NUMBER = {
    "sqlite": "substr(tool_call_id, instr(tool_call_id, '/') + 1)",
    "postgres": "(substr(tool_call_id, strpos(tool_call_id, '/') + 1) COLLATE \"C\")",
}


def begin(tx: Transaction, call: Call) -> bool:
    """Insert a call before it runs, or add details if its end was written first; False if it has ended."""
    if insert_if_missing(tx, call):
        return True
    known = find(tx, call.tool_call_id)
    if known is None or known.status not in OPEN:
        return False
    changing: tuple[str, ...] = ("status", "updated_at")
    if not known.normalized_args_hash and not is_chained(tx, call.tool_call_id):
        changing = FIELDS  # it was inserted from its decision, without details
    changes = {name: getattr(call, name) for name in changing}
    # INVARIANT: a call gets another revision only when something changes, else the audit would report tampering.
    if any(getattr(known, name) != value for name, value in changes.items()):
        _update(tx, call.tool_call_id, changes)
    return True


def finish(tx: Transaction, call: Call, end: End) -> bool:
    """Write the end of a call; `call` is inserted first if it has no row. Returns whether the row changed."""
    insert_if_missing(tx, call)
    known = find(tx, call.tool_call_id)
    if known is None or known.status in SETTLED or (known.status not in OPEN and end.status not in SETTLED):
        return False
    took = end.duration_ms if end.duration_ms is not None else max(0, end.at - known.started_at)
    changes = {"updated_at": end.at, "finished_at": end.at, **msgspec.structs.asdict(end), "duration_ms": max(0, took)}
    del changes["at"]
    _update(tx, call.tool_call_id, changes)
    return True


def insert_if_missing(tx: Transaction, call: Call) -> bool:
    """Insert a call; returns whether it is new."""
    return tx.do(_INSERT, *_CALLS.values(call)) == 1


def put_copy(tx: Transaction, call: Call) -> None:
    """Write the present state of a call of another database, over an earlier state."""
    tx.do(_PUT, *_CALLS.values(call), call.revision)


def find(tx: Transaction, tool_call_id: str) -> Call | None:
    return _CALLS.first(tx, "WHERE tool_call_id = ?", tool_call_id)


def find_by_prefix(tx: Transaction, wanted: str) -> list[Call]:
    """Return at most two calls by id, by id without session, or by its prefix; `last` is the newest call."""
    if wanted == "last":
        return _CALLS.read(tx, f"{_NEWEST_FIRST} LIMIT 1")
    exact = find(tx, wanted)
    if exact:
        return [exact]
    number = _NUMBER[tx.dialect]
    # Ids are ASCII, so all that begin with the prefix sort before this end.
    begins = f"WHERE {number} >= ? AND {number} < ? LIMIT 2"
    same = _CALLS.read(tx, f"WHERE {number} = ? LIMIT 2", wanted)
    return same or _CALLS.read(tx, begins, wanted, f"{wanted}\x7f")


def find_one(tx: Transaction, wanted: str) -> Call:
    """Return the call that `find_by_prefix` finds. Raises SnellError if there is none, or more than one."""
    found = find_by_prefix(tx, wanted)
    if len(found) != 1:
        what = "several calls match" if found else "no call matches"
        raise SnellError(f"{what} `{wanted}`", advice="`snell ledger list` shows the ids")
    return found[0]


def open_calls(tx: Transaction, run_id: str) -> list[Call]:
    """Return the calls of a run whose end is not recorded."""
    return _CALLS.read(tx, "WHERE run_id = ? AND status IN ('prepared', 'running') ORDER BY revision", run_id)


def newest_open(tx: Transaction, run_id: str, raw_tool_name: str, args_hash: str) -> Call | None:
    """Return the last open call of this tool with these arguments, for clients that send no call id."""
    same = "run_id = ? AND raw_tool_name = ? AND normalized_args_hash = ? AND status IN ('prepared', 'running')"
    return _CALLS.first(tx, f"WHERE {same} ORDER BY revision DESC LIMIT 1", run_id, raw_tool_name, args_hash)


def recent(tx: Transaction, asked: Mapping[str, str] | None = None, limit: int = 20) -> list[Call]:
    """Return the last calls, of those with the values in `asked`, newest first."""
    clause, values = where_given(asked or {})
    return _CALLS.read(tx, f"{clause} {_NEWEST_FIRST} LIMIT ?", *values, limit)


def page(tx: Transaction, asked: Mapping[str, str], after: tuple[int, str], limit: int) -> list[Call]:
    """Return a page of calls, oldest first; `after` is the time and id of the last call on the previous page."""
    clause, values = where_given(asked)
    beyond = f"{'AND' if clause else 'WHERE'} (created_at > ? OR (created_at = ? AND tool_call_id > ?))"
    order = "ORDER BY created_at, tool_call_id LIMIT ?"
    return _CALLS.read(tx, f"{clause} {beyond} {order}", *values, after[0], after[0], after[1], limit)


def put_body(tx: Transaction, text: str, *, at: int, size: int) -> str:
    """Store a redacted text and return its key, which is its hash."""
    if not text:
        return ""
    ref = body_ref(text)
    sql = "INSERT INTO tool_bodies (ref, created_at, size, body) VALUES (?, ?, ?, ?)"
    tx.do(f"{sql} ON CONFLICT (ref) DO UPDATE SET created_at = excluded.created_at", ref, at, size, text)
    return ref


def body_ref(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def body(tx: Transaction, ref: str) -> tuple[str, int] | None:
    """Return a stored text and the size of the original before it was cut."""
    found = tx.rows("SELECT body, size FROM tool_bodies WHERE ref = ?", ref) if ref else []
    return (str(found[0][0]), int(found[0][1])) if found else None


def safe_id(text: str) -> str:
    """Return an id of a client, or a short hash of it if it contains unusual characters."""
    if not text or _SAFE.fullmatch(text):
        return text
    return "#" + hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def is_chained(tx: Transaction, tool_call_id: str) -> bool:
    """Whether the audit chain has the beginning of this call."""
    return bool(tx.rows("SELECT 1 FROM audit_chain WHERE record_id = ? AND kind = 'opened'", tool_call_id))


def _update(tx: Transaction, tool_call_id: str, changes: Mapping[str, Any]) -> None:
    sets = f"{assignments(changes)}, revision = {_NEXT}"
    tx.do(f"UPDATE tool_calls SET {sets} WHERE tool_call_id = ?", *changes.values(), tool_call_id)
