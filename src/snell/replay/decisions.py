"""
Read recorded decisions as events to decide again, session by session.

The trace of a decision has the input of a tool, the output of one, or a prompt, redacted. A file of `snell record` has
the whole payload of any event, its marks and the files that it names; it wins over the trace.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.catalogue import row_of
from snell.model.errors import SnellError
from snell.model.protocols import Database, Transaction
from snell.packs.recording.files import KeptEvent, kept_events
from snell.records.decisions import SELF_TEST, Row, find
from snell.replay.recorded_event import NOT_WHOLE, RecordedEvent, why_incomplete
from snell.system.paths import Places

COUNTED = ("PreToolUse", "UserPromptSubmit", "PermissionRequest")
_WHERE = "at >= ? AND event <> ? AND client NOT IN ('', 'person')"
_SESSIONS = f"SELECT session_id, COUNT(*) FROM decisions WHERE {_WHERE} GROUP BY session_id ORDER BY MIN(seq)"
_ROWS = (
    "SELECT decisions.id, decisions.at, decisions.client, decisions.event, decisions.tool, decisions.tool_use_id,"
    " decisions.verdict, COALESCE(traces.body, '') FROM decisions"
    " LEFT JOIN traces ON traces.decision_id = decisions.id"
    f" WHERE decisions.session_id = ? AND {_WHERE} ORDER BY decisions.seq"
)


class EventFilter(Struct, frozen=True):
    """Selects events: not older than a time, of one session (its id or the beginning of it), of one client."""

    since: int
    session: str = ""
    client: str = ""

    def wants(self, session: str, client: str) -> bool:
        return session.startswith(self.session) and self.client in ("", client)


class _Trace(Struct):
    """The part of a trace that a replay needs."""

    cwd: str = ""
    agent_id: str = ""
    agent_type: str = ""
    tool_name: str = ""
    kind: str = ""
    flags: tuple[str, ...] = ()
    value: Any = None
    reasons: list[dict[str, Any]] = []
    changes: list[dict[str, Any]] = []
    problems: list[str] = []
    rounds: msgspec.Raw = msgspec.Raw(b"[]")


_decode = msgspec.json.Decoder(_Trace).decode


def sessions_in(database: Database, asked: EventFilter) -> list[tuple[str, int]]:
    """Return the sessions with events since then, each with their number, in the order in which they began."""
    rows = database.run(lambda tx: tx.rows(_SESSIONS, asked.since, SELF_TEST), only_reads=True)
    return [(session, number) for session, number in rows if session.startswith(asked.session)]


def find_row(database: Database, decision_id: str) -> Row:
    """Return the row of a decision that exists."""
    row = database.run(lambda tx: find(tx, decision_id), only_reads=True)
    if row is None or row.client in ("", "person"):
        raise SnellError(f"no client asked for decision `{decision_id}`", advice="`snell log` lists others")
    return row


def session_of(database: Database, row: Row) -> EventFilter:
    """Return what to ask for to get the session of a decision."""
    sql = "SELECT MIN(at) FROM decisions WHERE session_id = ?"
    first = database.run(lambda tx: tx.rows(sql, row.session_id), only_reads=True)
    return EventFilter(int(first[0][0]), row.session_id)


def up_to(events: list[RecordedEvent], decision_id: str) -> list[RecordedEvent]:
    """Return the events of a session until a decision; none if it is not among them."""
    places = [place for place, each in enumerate(events) if each.id == decision_id]
    return events[: places[0] + 1] if places else []


def recorded_sessions(database: Database, where: Places, asked: EventFilter) -> Iterator[list[RecordedEvent]]:
    """Yield the events of each session, in their order."""
    kept = {each.id: each for each in kept_events(where.state, asked.since)}
    for session, _ in sessions_in(database, asked):

        def rows(tx: Transaction, session: str = session) -> list[tuple[Any, ...]]:
            return tx.rows(_ROWS, session, asked.since, SELF_TEST)

        inputs: dict[str, Any] = {}  # of tools, by the number of the call
        events = [_event(session, row, kept, inputs) for row in database.run(rows, only_reads=True)]
        if wanted := [each for each in events if asked.wants(session, each.client)]:
            yield wanted


def _event(session: str, row: tuple[Any, ...], kept: Mapping[str, KeptEvent], inputs: dict[str, Any]) -> RecordedEvent:
    id_, at, client, name, tool, number, verdict, body = row
    trace = _decode(body) if body else _Trace(problems=["its trace is gone"])
    known = row_of(name)
    event = RecordedEvent(
        name=name,
        payload=_payload(session, name, tool, number, trace),
        client=client,
        session=session,
        at=at,
        id=id_,
        number=number,
        tool=tool,
        tool_name=trace.tool_name or tool,
        kind=trace.kind,
        flags=trace.flags,
        verdict="no_opinion" if verdict == "silent" else verdict,
        hooks=tuple(each.get("hook", "") for each in trace.reasons),
        rounds=bytes(trace.rounds),
        is_counted=name in COUNTED or id_ in kept,
    )
    if whole := kept.get(id_):
        event.payload, event.marks, event.files = whole.payload, whole.marks, whole.files
        if trace.changes:
            event.payload[known.rewrites] = trace.changes[0].get("before")  # what was kept is what the hooks made of it
        event.unknown = why_incomplete(event.payload)
        return event
    value = trace.changes[0].get("before") if trace.changes else trace.value
    if known.rewrites and value is not None:
        event.payload[known.rewrites] = value
        event.unknown = why_incomplete(value)
    else:
        event.unknown = "its trace is gone" if not body or trace.problems else NOT_WHOLE
        event.is_counted = event.is_counted and name == "PreToolUse"
    if name == "PreToolUse":
        inputs[number] = value
    elif name == "PostToolUse" and number in inputs:
        event.payload["tool_input"] = inputs.pop(number)
    return event


def _payload(session: str, name: str, tool: str, number: str, trace: _Trace) -> dict[str, Any]:
    fields = {"session_id": session, "hook_event_name": name, "cwd": trace.cwd, "tool_name": tool}
    fields |= {"tool_use_id": number, "agent_id": trace.agent_id, "agent_type": trace.agent_type}
    return {key: value for key, value in fields.items() if value}
