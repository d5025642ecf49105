"""
Make spans from rows of the store, with the names of the OpenTelemetry conventions for generative AI.

    invoke_agent CLIENT        a session, when it has ended
      execute_tool TOOL        a tool call, when it has ended
        hook ID                a hook that ran before or after it
      event NAME               any other event
        hook ID

Ids follow from the ids of session, call and decision, so a child can be sent before its parent.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from snell.clients import CLIENTS, client_named
from snell.packs.traces.options import Options
from snell.records.decisions import Row
from snell.records.ledger import Call
from snell.records.orphaned_calls import call_id
from snell.redact import redact_data
from snell.traces.otlp import Table, id_of, make_span

IDLE = 30 * 60_000  # milliseconds without an event after which a session counts as ended
MOST_SESSIONS = 500


class Session(Struct, frozen=True):
    """One part of a session, from its first event to its end; a resumed session has another part."""

    client: str
    started: int  # milliseconds since 1970
    last: int
    trace: str  # ids in hexadecimal
    parent: str  # of the client's TRACEPARENT
    is_sent: bool = False


class SpanBuilder:
    """Makes the spans of one batch; `sessions` is what is known of sessions after it."""

    def __init__(self, options: Options, sessions: Mapping[str, Session], parents: Mapping[str, Any]) -> None:
        self._options, self._parents = options, parents
        self.sessions = dict(sessions)
        self.spans: list[Table] = []

    def add_decision(self, row: Row, record: Table, late: Sequence[Table]) -> None:
        """Add the hooks of a decision, and its event if it is not part of a tool call."""
        self._note_event(row)
        if not row.in_ledger:
            self._add_event(row, record)
        runs = [run for each in record.get("rounds", ()) for run in each["runs"]]
        self._add_hooks(row, runs, row.at - row.ms)
        self.add_late(row, late, 0)
        if row.event == "SessionEnd":
            self._end_session(row.session_id, row.at)

    def add_late(self, row: Row, late: Sequence[Table], known: int) -> None:
        """Add hooks that ended after the reply, without those that are known."""
        self._add_hooks(row, late[known:], row.at, f"late {known}")

    def add_call(self, call: Call, row: Row | None, record: Table) -> None:
        """Add a tool call that has ended; `row` and `record` are of the decision about it."""
        self._session(call.session_id, call.client, call.started_at)
        error = "" if call.status == "succeeded" else call.status
        values = {
            **_tool(call.raw_tool_name, call.tool_call_id.partition("/")[2]),
            **_agent(call.session_id, call.client, call.agent_id),
            "snell.tool_call.status": call.status,
            "snell.tool_call.side_effects": call.side_effect_class,
            "error.type": (call.error_code or error) if error else "",
            **(self._decision(row, record) if row else {}),
        }
        ids = (self._trace(call.session_id), id_of(8, "call", call.tool_call_id), self._root(call.session_id))
        times = (call.started_at - (row.ms if row else 0), call.finished_at)
        self.spans.append(make_span(ids, f"execute_tool {call.raw_tool_name}", times, values, error))

    def end_idle_sessions(self, now: int) -> None:
        """Add sessions without an event for some time, and forget the oldest ones."""
        for session_id, session in list(self.sessions.items()):
            if now - session.last > IDLE:
                self._end_session(session_id, session.last)
        for session_id in sorted(self.sessions, key=lambda each: self.sessions[each].last)[:-MOST_SESSIONS]:
            del self.sessions[session_id]

    def _note_event(self, row: Row) -> None:
        known = self._session(row.session_id, row.client, row.at)
        if known.is_sent and row.event != "SessionEnd":  # it was resumed
            known = replace(known, started=row.at, is_sent=False)
        self.sessions[row.session_id] = replace(known, last=max(known.last, row.at))

    def _session(self, session_id: str, client: str, at: int) -> Session:
        if session_id not in self.sessions:
            trace, parent = self._parents.get(session_id) or (id_of(16, "session", session_id).hex(), "")
            self.sessions[session_id] = Session(client, at, at, trace, parent)
        return self.sessions[session_id]

    def _end_session(self, session_id: str, at: int) -> None:
        session = self.sessions[session_id]
        if not session_id or session.is_sent:
            return
        self.sessions[session_id] = replace(session, is_sent=True)
        values = {"gen_ai.operation.name": "invoke_agent", **_agent(session_id, session.client)}
        ids = (self._trace(session_id), self._root(session_id), bytes.fromhex(session.parent))
        self.spans.append(make_span(ids, f"invoke_agent {_title(session.client)}", (session.started, at), values))

    def _add_event(self, row: Row, record: Table) -> None:
        """Add the span of an event; before a tool call that the ledger does not keep, it is that of the call."""
        values = {**_agent(row.session_id, row.client, record.get("agent_id", "")), **self._decision(row, record)}
        name, parent = f"event {row.event}", self._root(row.session_id)
        if row.event == "PreToolUse":
            name, values = f"execute_tool {row.tool}", {**_tool(row.tool, row.tool_use_id), **values}
        elif row.tool_use_id:
            parent = id_of(8, "call", call_id(row))
        ids = (self._trace(row.session_id), _own_id(row), parent)
        self.spans.append(make_span(ids, name, (row.at - row.ms, row.at), values))

    def _add_hooks(self, row: Row, runs: Sequence[Table], at: float, part: str = "") -> None:
        """Add each hook that had an effect or took time, one after the other: only their durations are kept."""
        self._session(row.session_id, row.client, row.at)
        for number, run in enumerate(runs):
            took, failure = float(run.get("ms", 0.0)), run.get("failure") or {}
            if self._options.all_hooks or took or failure or run.get("effects"):
                ids = (self._trace(row.session_id), id_of(8, "hook", row.id, part, str(number)), _own_id(row))
                error = str(failure.get("message", "failed")) if failure else ""
                values = {
                    "snell.hook.id": run["hook"],
                    "snell.event": row.event,
                    **{
                        f"snell.hook.{name}": run.get(name, "")
                        for name in ("role", "scope", "layer", "handler", "status")
                    },
                    "snell.hook.effects": [str(each) for each in run.get("effects", ())],
                    "error.type": failure.get("kind", ""),
                }
                self.spans.append(make_span(ids, f"hook {run['hook']}", (at, at + took), values, error))
            at += took

    def _decision(self, row: Row, record: Table) -> Table:
        shown: Table = {f"snell.{name}": getattr(row, name) for name in ("event", "verdict", "failures")}
        shown |= {"snell.decision.id": row.id, "snell.decision.ms": row.ms, "snell.rewritten": bool(row.rewritten)}
        shown["snell.reason"] = str(record.get("reason", ""))
        if self._options.inputs and row.tool and "value" in record:
            shown["gen_ai.tool.call.arguments"] = str(msgspec.json.encode(redact_data(record["value"])).decode())
        return shown

    def _trace(self, session_id: str) -> bytes:
        return bytes.fromhex(self.sessions[session_id].trace)

    def _root(self, session_id: str) -> bytes:
        """Return the id of the session's span; empty for events without a session."""
        return id_of(8, "session", session_id, str(self.sessions[session_id].started)) if session_id else b""


def _own_id(row: Row) -> bytes:
    """Return the id of the span that a decision belongs to: of its tool call, or of its event."""
    return id_of(8, "call", call_id(row)) if row.in_ledger or row.event == "PreToolUse" else id_of(8, "event", row.id)


def _tool(name: str, number: str) -> Table:
    kind = "extension" if name.startswith("mcp__") else "function"
    known = {"operation.name": "execute_tool", "tool.name": name, "tool.call.id": number, "tool.type": kind}
    return {f"gen_ai.{key}": value for key, value in known.items()}


def _agent(session_id: str, client: str, agent_id: str = "") -> Table:
    agent = {"gen_ai.agent.name": _title(client), "gen_ai.agent.id": agent_id, "snell.client": client}
    return {**agent, "gen_ai.conversation.id": session_id, "session.id": session_id}


def _title(client: str) -> str:
    return client_named(client).title if client in CLIENTS else client or "unknown"
