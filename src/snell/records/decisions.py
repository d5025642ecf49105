"""Read and write decisions: a small row that is written before the reply is sent, and a trace that follows it."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.protocols import Transaction
from snell.model.tables import Table

Record = dict[str, Any]

SELF_TEST = "SnellDoctor"  # the event that `snell doctor` sends; no hook reacts to it
SEARCHED = 20_000  # decisions that a search by hook reads at most, since it reads their traces


class Row(Struct, frozen=True, kw_only=True):
    """The row of a decision: ids, verdict and hashes, no free text."""

    id: str
    at: int  # milliseconds since 1970; for display, never for ordering
    session_id: str = ""
    client: str = ""
    event: str = ""
    tool: str = ""
    tool_use_id: str = ""
    request_key: str = ""
    verdict: str = "no_opinion"
    ms: float = 0.0
    rewritten: int = 0
    failures: int = 0
    payload_hash: str = ""
    reply_hash: str = ""
    in_ledger: int = 0  # 1: a tool call that needs a row in `tool_calls`
    seq: int = 0  # assigned by the store


class Trace(Struct, frozen=True, kw_only=True):
    seq: int
    decision_id: str
    body: str
    late: str


_ROWS = Table("decisions", Row, assigned="seq")
_TRACES = Table("traces", Trace)
FIELDS, values_of = _ROWS.fields, _ROWS.values
rows_after, traces_after = _ROWS.after, _TRACES.after
_ONCE = "ON CONFLICT (id) DO NOTHING"
_INSERT = _ROWS.insert(_ONCE)
_NEXT = "(SELECT COALESCE(MAX(seq), 0) + 1 FROM traces)"
# The trace of a decision that may be missing here.
_INSERT_TRACE = (
    f"INSERT INTO traces (seq, decision_id, body, late) SELECT {_NEXT}, known.id, ?, ?"
    " FROM (SELECT id FROM decisions WHERE id = ?) AS known"
)


def add(tx: Transaction, row: Row) -> bool:
    """Insert a row; returns whether it is new."""
    return tx.do(_INSERT, *values_of(row)) == 1


def add_trace(tx: Transaction, decision_id: str, body: str) -> None:
    """Store the trace of a decision that has its row. Late runs of hooks stay."""
    change = "ON CONFLICT (decision_id) DO UPDATE SET body = excluded.body, seq = excluded.seq"
    tx.do(f"INSERT INTO traces (seq, decision_id, body, late) VALUES ({_NEXT}, ?, ?, '[]') {change}", decision_id, body)


def add_late(tx: Transaction, decision_id: str, run: Record) -> bool:
    """Add the run of a hook after the reply; returns whether that decision is known."""
    found = tx.rows("SELECT late FROM traces WHERE decision_id = ?", decision_id)
    late = [*msgspec.json.decode(found[0][0]), run] if found else [run]
    text = msgspec.json.encode(late).decode()
    if found:
        return tx.do(f"UPDATE traces SET late = ?, seq = {_NEXT} WHERE decision_id = ?", text, decision_id) == 1
    # The trace may come later; it keeps this.
    return tx.do(_INSERT_TRACE, "", text, decision_id) == 1


def find(tx: Transaction, wanted: str = "last") -> Row | None:
    """Return the newest decision whose id begins with `wanted`, or the last one of a client."""
    if wanted == "last":
        return _ROWS.first(tx, "WHERE event <> ? ORDER BY seq DESC LIMIT 1", SELF_TEST)
    # Ids are ASCII, so all that begin with the prefix sort before this end.
    return _ROWS.first(tx, "WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1", wanted, f"{wanted}\x7f")


def find_delivery(tx: Transaction, request_key: str) -> str:
    """Return the id of the newest decision about a delivery, except one that was put off; empty if there is none."""
    same = "request_key = ? AND request_key <> '' AND verdict <> 'defer'"
    found = tx.rows(f"SELECT id FROM decisions WHERE {same} ORDER BY seq DESC LIMIT 1", request_key)
    return str(found[0][0]) if found else ""


def trace(tx: Transaction, decision_id: str) -> Trace | None:
    return _TRACES.first(tx, "WHERE decision_id = ?", decision_id)


def recent(
    tx: Transaction,
    *,
    session: str = "",
    session_begins: str = "",
    hook: str = "",
    verdict: str = "",
    client: str = "",
    event: str = "",
    limit: int = 20,
    before: int | None = None,
) -> list[Row]:
    """
    Return the last decisions, newest first; `before` is the `seq` of the last one on the previous page.

    A hook may be named without its pack. Events of `snell doctor` are left out unless their event or session is given.
    """
    asked = {"session_id": session, "verdict": verdict, "client": client, "event": event}
    wanted: dict[str, list[Any]] = {f"{name} = ?": [value] for name, value in asked.items() if value}
    if wanted.pop("verdict = ?", None):  # rows of earlier versions call `no_opinion` `silent`
        wanted["(verdict = ? OR verdict = ?)"] = [verdict, "silent" if verdict == "no_opinion" else verdict]
    if not (session or session_begins or event):
        wanted["event <> ?"] = [SELF_TEST]
    if session_begins:
        wanted["session_id >= ? AND session_id < ?"] = [session_begins, f"{session_begins}\x7f"]  # as in `find`
    if hook:
        wanted[f"decisions.seq > (SELECT COALESCE(MAX(seq), 0) - {SEARCHED} FROM decisions)"] = []
        searches = [(column, pattern) for column in ("body", "late") for pattern in run_patterns(hook)]
        either = " OR ".join(f"traces.{column} LIKE ? ESCAPE '!'" for column, _ in searches)
        wanted[f"({either})"] = [pattern for _, pattern in searches]
    if before is not None:
        wanted["decisions.seq < ?"] = [before]
    joined = "JOIN traces ON traces.decision_id = decisions.id" if hook else ""
    clause = f"WHERE {' AND '.join(wanted)}" if wanted else ""
    values = [value for each in wanted.values() for value in each]
    return _ROWS.read(tx, f"{joined} {clause} ORDER BY decisions.seq DESC LIMIT ?", *values, limit)


def newest_seq(tx: Transaction) -> int:
    """Return the `seq` of the last row; 0 if there is none."""
    return int(tx.rows("SELECT COALESCE(MAX(seq), 0) FROM decisions")[0][0])


def without_call(tx: Transaction, after: int, up_to: int, limit: int, since: int = 0) -> list[Row]:
    """
    Return the next decisions, not older than `since`, that need a row in `tool_calls` and have none under their ids.

    The ledger replaces ids with unusual characters, so the caller must look those up again by the replaced id.
    """
    number = "CASE WHEN decisions.tool_use_id = '' THEN decisions.id ELSE decisions.tool_use_id END"
    known = f"SELECT 1 FROM tool_calls c WHERE c.tool_call_id = decisions.session_id || '/' || {number}"
    missing = f"seq > ? AND seq <= ? AND at >= ? AND in_ledger = 1 AND NOT EXISTS ({known})"
    return _ROWS.read(tx, f"WHERE {missing} ORDER BY seq LIMIT ?", after, up_to, since, limit)


def made_since(tx: Transaction, at: int) -> set[str]:
    """Return the ids of decisions that are not older than a time."""
    return {id_ for (id_,) in tx.rows("SELECT id FROM decisions WHERE at >= ?", at)}


def add_many(tx: Transaction, rows: Sequence[Row]) -> int:
    """Insert several rows with one statement, without those that exist; returns how many are new."""
    if not rows:
        return 0
    return tx.do(_ROWS.insert(_ONCE, rows=len(rows)), *(value for row in rows for value in values_of(row)))


def put_traces(tx: Transaction, traces: Sequence[Trace]) -> None:
    """Store traces of another database; those without a decision here are left out."""
    change = "ON CONFLICT (decision_id) DO UPDATE SET body = excluded.body, late = excluded.late, seq = excluded.seq"
    for each in traces:
        # SQLite needs the condition to tell this ON from that of a join.
        tx.do(f"{_INSERT_TRACE} WHERE 1 = 1 {change}", each.body, each.late, each.decision_id)


def run_patterns(hook: str) -> tuple[str, str]:
    """Return LIKE patterns for a run of this hook in a trace, by its full id and by the id without its pack."""
    text = msgspec.json.encode(hook).decode()
    for special in "!%_":
        text = text.replace(special, f"!{special}")
    # A hook that was skipped has no role there.
    return f'%"hook":{text},"role":%', f'%/{text[1:]},"role":%'
