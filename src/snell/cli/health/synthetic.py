"""One event through the installed command, as a client would send it, and its row in the store afterwards."""

import os
import subprocess
import time
from collections.abc import Iterator
from statistics import median

import msgspec

from snell.cli.health import Check, Status, Visit
from snell.cli.health.shim import shim_path
from snell.daemon.client import DaemonError, ask
from snell.records.decisions import SELF_TEST
from snell.runtime.app import database_of
from snell.runtime.database_journal import StoreJournal

TIMES = 5
SECONDS = 30.0


def checks(visit: Visit) -> Iterator[Check]:
    path = shim_path(visit.env)
    if path is None:
        return
    session = f"doctor-{os.urandom(6).hex()}"
    command = [str(path), "--client", "generic"]
    taken = []
    for number in range(1 + TIMES):
        began = time.perf_counter()
        problem = _sent(command, visit, session, number)
        taken.append((time.perf_counter() - began) * 1000)
        if problem:
            yield Check("synthetic event", "fail", f"`{' '.join(command)}` {problem}", "`snell daemon run` shows why")
            return
    arrived = _arrived(visit, session)
    if arrived < len(taken):
        detail = f"{len(taken)} were answered, and the store has {arrived}"
        yield Check("synthetic event", "fail", detail, "check the store above, and whether two installations are mixed")
        return
    how = "the daemon" if _is_served(visit) else "each in a process of its own, without a daemon"
    status: Status = "ok" if how == "the daemon" else "warn"
    detail = f"{len(taken)} answered by {how}; first {taken[0]:.1f} ms, then {median(taken[1:]):.1f} ms"
    yield Check("synthetic event", status, detail, "" if status == "ok" else "`snell daemon start` shows why")


def _sent(command: list[str], visit: Visit, session: str, number: int) -> str:
    """What went wrong; nothing when all is well."""
    fields = {"hook_event_name": SELF_TEST, "session_id": session, "cwd": str(visit.cwd), "number": number}
    try:
        done = subprocess.run(
            command,
            input=msgspec.json.encode(fields),
            env=dict(visit.env),
            cwd=visit.cwd,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"did not answer within {SECONDS:g} s"
    said = done.stderr.decode("utf-8", "replace").strip()
    return f"ended with {done.returncode}: {said[:300]}" if done.returncode or said else ""


def _arrived(visit: Visit, session: str) -> int:
    database = database_of(visit.where)
    try:
        return len(StoreJournal(database).recent(session=session, limit=100))
    finally:
        database.close()


def _is_served(visit: Visit) -> bool:
    try:
        return bool(ask(visit.where.run, "ping") == "pong")
    except DaemonError:
        return False
