"""Read and write decisions: a small row that is written before the reply is sent, and a trace that follows it."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.protocols import Transaction

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


FIELDS = tuple(name for name in Row.__struct_fields__ if name != "seq")
_COLUMNS = ", ".join(FIELDS)
_BLANKS = ", ".join("?" for _ in FIELDS)
_INSERT = f"INSERT INTO decisions ({_COLUMNS}) VALUES ({_BLANKS}) ON CONFLICT (id) DO NOTHING"
_SELECT = "SELECT " + ", ".join(f"d.{name}" for name in (*FIELDS, "seq")) + " FROM decisions d"
_NEXT = "(SELECT COALESCE(MAX(seq), 0) + 1 FROM traces)"


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
    known = "SELECT id FROM decisions WHERE id = ?"
    return (
        tx.do(
            f"INSERT INTO traces (seq, decision_id, body, late) SELECT {_NEXT}, id, '', ? FROM ({known}) AS of_it",
            text,
            decision_id,
        )
        == 1
    )


def find(tx: Transaction, wanted: str = "last") -> Row | None:
    """Return the newest decision whose id begins with `wanted`, or the last one of a client."""
    if wanted == "last":
        return _first(tx.rows(f"{_SELECT} WHERE d.event <> ? ORDER BY d.seq DESC LIMIT 1", SELF_TEST))
    # Ids are ASCII, so all that begin with the prefix sort before this end.
    return _first(
        tx.rows(f"{_SELECT} WHERE d.id >= ? AND d.id < ? ORDER BY d.id DESC LIMIT 1", wanted, f"{wanted}\x7f")
    )


def trace(tx: Transaction, decision_id: str) -> Trace | None:
    found = tx.rows("SELECT seq, decision_id, body, late FROM traces WHERE decision_id = ?", decision_id)
    return _trace(found[0]) if found else None


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
    asked = (("session_id", session), ("verdict", verdict), ("client", client), ("event", event))
    where = [f"d.{column} = ?" for column, value in asked if value]
    if verdict == "no_opinion":  # rows of earlier versions call it `silent`
        where[where.index("d.verdict = ?")] = "(d.verdict = ? OR d.verdict = 'silent')"
    values: list[Any] = [value for _, value in asked if value]
    if not (session or session_begins or event):
        where += ["d.event <> ?"]
        values += [SELF_TEST]
    if session_begins:
        where += ["d.session_id >= ? AND d.session_id < ?"]
        values += [session_begins, f"{session_begins}\x7f"]  # as in `find`
    joined = ""
    if hook:
        joined = " JOIN traces t ON t.decision_id = d.id"
        where += [f"d.seq > (SELECT COALESCE(MAX(seq), 0) - {SEARCHED} FROM decisions)"]
        searches = [(column, pattern) for column in ("t.body", "t.late") for pattern in _run_patterns(hook)]
        where += ["(" + " OR ".join(f"{column} LIKE ? ESCAPE '!'" for column, _ in searches) + ")"]
        values += [pattern for _, pattern in searches]
    if before is not None:
        where += ["d.seq < ?"]
        values += [before]
    clause = f" WHERE {' AND '.join(where)}" if where else ""
    found = tx.rows(f"{_SELECT}{joined}{clause} ORDER BY d.seq DESC LIMIT ?", *values, limit)
    return [_row(each) for each in found]


def newest_seq(tx: Transaction) -> int:
    """Return the `seq` of the last row; 0 if there is none."""
    return int(tx.rows("SELECT COALESCE(MAX(seq), 0) FROM decisions")[0][0])


def rows_after(tx: Transaction, seq: int, limit: int) -> list[Row]:
    """Return the next rows in the order of their insertion."""
    return [_row(each) for each in tx.rows(f"{_SELECT} WHERE d.seq > ? ORDER BY d.seq LIMIT ?", seq, limit)]


def without_call(tx: Transaction, after: int, up_to: int, limit: int, since: int = 0) -> list[Row]:
    """
    Return the next decisions, not older than `since`, that need a row in `tool_calls` and have none under their ids.

    The ledger replaces ids with unusual characters, so the caller must look those up again by the replaced id.
    """
    number = "CASE WHEN d.tool_use_id = '' THEN d.id ELSE d.tool_use_id END"
    known = f"SELECT 1 FROM tool_calls c WHERE c.tool_call_id = d.session_id || '/' || {number}"
    where = f"d.seq > ? AND d.seq <= ? AND d.at >= ? AND d.in_ledger = 1 AND NOT EXISTS ({known})"
    found = tx.rows(f"{_SELECT} WHERE {where} ORDER BY d.seq LIMIT ?", after, up_to, since, limit)
    return [_row(each) for each in found]


def made_since(tx: Transaction, at: int) -> set[str]:
    """Return the ids of decisions that are not older than a time."""
    return {id_ for (id_,) in tx.rows("SELECT id FROM decisions WHERE at >= ?", at)}


def traces_after(tx: Transaction, seq: int, limit: int) -> list[Trace]:
    """Return the next traces, in the order of their last change."""
    columns = "SELECT seq, decision_id, body, late FROM traces"
    return [_trace(each) for each in tx.rows(f"{columns} WHERE seq > ? ORDER BY seq LIMIT ?", seq, limit)]


def add_many(tx: Transaction, rows: Sequence[Row]) -> int:
    """Insert several rows with one statement, without those that exist; returns how many are new."""
    if not rows:
        return 0
    blanks = ", ".join(f"({_BLANKS})" for _ in rows)
    sql = f"INSERT INTO decisions ({_COLUMNS}) VALUES {blanks} ON CONFLICT (id) DO NOTHING"
    return tx.do(sql, *(value for row in rows for value in values_of(row)))


def put_traces(tx: Transaction, traces: Sequence[Trace]) -> None:
    """Store traces of another database; those without a decision here are left out."""
    change = "ON CONFLICT (decision_id) DO UPDATE SET body = excluded.body, late = excluded.late, seq = excluded.seq"
    for each in traces:
        known = "SELECT id FROM decisions WHERE id = ?"
        tx.do(
            f"INSERT INTO traces (seq, decision_id, body, late) SELECT {_NEXT}, id, ?, ? FROM ({known}) AS of_it"
            f" WHERE 1 = 1 {change}",
            each.body,
            each.late,
            each.decision_id,
        )


def values_of(row: Row) -> list[Any]:
    return [getattr(row, name) for name in FIELDS]


def _first(found: list[tuple[Any, ...]]) -> Row | None:
    return _row(found[0]) if found else None


def _row(values: Sequence[Any]) -> Row:
    return Row(**dict(zip((*FIELDS, "seq"), values, strict=True)))


def _trace(values: Sequence[Any]) -> Trace:
    seq, decision_id, body, late = values
    return Trace(seq=seq, decision_id=decision_id, body=body, late=late)


def _run_patterns(hook: str) -> tuple[str, str]:
    """Return LIKE patterns for a run of this hook in a trace, by its full id and by the id without its pack."""
    text = msgspec.json.encode(hook).decode()
    for special in "!%_":
        text = text.replace(special, f"!{special}")
    # A hook that was skipped has no role there.
    return f'%"hook":{text},"role":%', f'%/{text[1:]},"role":%'
