"""Follow the decisions in the store as they are made. Reading never blocks the processes that write them."""

import time
from typing import Any

import msgspec
from msgspec import Struct

from snell.cli.call_summary import about
from snell.model.protocols import Database, Transaction
from snell.records import decisions
from snell.records.decisions import Row
from snell.runtime.database_journal import session_beginning

AT_ONCE = 200
TRACE_MS = 2_000  # a trace is written shortly after its decision, or never; a busy machine takes its time


class Run(Struct, frozen=True):
    hook: str
    ms: float
    said: str = ""  # the effects, such as `deny` or `rewrite, note`; empty for no opinion
    failed: bool = False


class SeenDecision(Struct, frozen=True):
    """One decision and its hooks, as `snell watch` shows it."""

    id: str
    at: int
    session_id: str
    client: str
    event: str
    tool: str
    verdict: str
    ms: float
    rewritten: bool
    failures: int
    call: str
    project: str
    cwd: str
    hooks: tuple[Run, ...]


class Follower:
    """Return each decision once, in order; `session` is a prefix of a session id."""

    def __init__(self, database: Database, session: str = "") -> None:
        self._database = database
        self._session = session_beginning(session)
        self._at = 0

    def earlier(self, number: int) -> list[SeenDecision]:
        """Return the most recent decisions; `new` continues after them."""

        def read(tx: Transaction) -> list[SeenDecision]:
            self._at = decisions.newest_seq(tx)
            found = decisions.recent(tx, session_begins=self._session, limit=number)
            return [_load(tx, row) for row in reversed(found)]

        return self._database.run(read, only_reads=True)

    def new(self) -> list[SeenDecision]:
        """Return the decisions since the last call."""
        return self._database.run(self._new, only_reads=True)

    def _new(self, tx: Transaction) -> list[SeenDecision]:
        seen = []
        for row in decisions.rows_after(tx, self._at, AT_ONCE):
            if decisions.trace(tx, row.id) is None and 0 <= time.time() * 1000 - row.at < TRACE_MS:
                break  # its trace is not written yet; the next call returns it
            self._at = row.seq
            is_asked_for = bool(self._session) or row.event != decisions.SELF_TEST
            if is_asked_for and row.session_id.startswith(self._session):
                seen.append(_load(tx, row))
        return seen


def runs_in(body: str, late: str) -> list[dict[str, Any]]:
    """Return the runs of hooks in a stored trace: before the reply, then after it."""
    record: dict[str, Any] = msgspec.json.decode(body) if body else {}
    return [*(run for each in record.get("rounds", ()) for run in each["runs"]), *msgspec.json.decode(late)]


def _load(tx: Transaction, row: Row) -> SeenDecision:
    trace = decisions.trace(tx, row.id)
    runs = runs_in(trace.body, trace.late) if trace else []
    seen = about(tx, row)
    of_row = {name: getattr(row, name) for name in SeenDecision.__struct_fields__ if hasattr(row, name)}
    return SeenDecision(**{**of_row, **seen.fields(), "rewritten": bool(row.rewritten)}, hooks=tuple(map(_run, runs)))


def _run(run: dict[str, Any]) -> Run:
    said = ", ".join(str(effect).partition(":")[0] for effect in run.get("effects", ()))
    return Run(str(run["hook"]), float(run.get("ms", 0)), said, "failure" in run)
