"""
The queue of calls that a run must repeat first: while it is not empty, only its first call may run.

Each call has two attempts; then the user is asked.
"""

from msgspec import Struct

from snell.model.protocols import Transaction
from snell.model.tables import Table
from snell.records import ledger
from snell.work import runs

ATTEMPTS = 2


class Replay(Struct, frozen=True):
    run_id: str
    tool_call_id: str
    position: int
    raw_tool_name: str
    normalized_args_hash: str
    attempts: int
    status: str


_REPLAYS = Table("run_replays", Replay)
_INSERT = _REPLAYS.insert("ON CONFLICT (run_id, tool_call_id) DO NOTHING")


def queue(tx: Transaction, run_id: str, tool_call_id: str) -> bool:
    """Queue a call of this run; False if it is unknown or queued already."""
    call = ledger.find(tx, tool_call_id)
    if call is None or call.run_id != run_id:
        return False
    position = int(tx.rows("SELECT COALESCE(MAX(position), 0) + 1 FROM run_replays WHERE run_id = ?", run_id)[0][0])
    replay = Replay(run_id, tool_call_id, position, call.raw_tool_name, call.normalized_args_hash, 0, "queued")
    return tx.do(_INSERT, *_REPLAYS.values(replay)) == 1


def first(tx: Transaction, run_id: str) -> Replay | None:
    """Return the call that must be made now."""
    return _REPLAYS.first(tx, "WHERE run_id = ? AND status = 'queued' ORDER BY position LIMIT 1", run_id)


def count_attempt(tx: Transaction, replay: Replay, now: int) -> bool:
    """
    Count a call that was made instead of the queued one.

    At the second, give up the queued call, ask the user and return False.
    """
    attempts = replay.attempts + 1
    status = "queued" if attempts < ATTEMPTS else "given_up"
    _set_status(tx, replay, status, attempts)
    if status == "given_up":
        runs.wait_for_human(tx, replay.run_id, now, f"`{replay.raw_tool_name}` could not be repeated")
    return status == "queued"


def finish_replay(tx: Transaction, replay: Replay) -> None:
    _set_status(tx, replay, "done", replay.attempts)


def _set_status(tx: Transaction, replay: Replay, status: str, attempts: int) -> None:
    sql = "UPDATE run_replays SET attempts = ?, status = ? WHERE run_id = ? AND tool_call_id = ?"
    tx.do(sql, attempts, status, replay.run_id, replay.tool_call_id)
