"""Send test events through the installed command, as a client would, and look for them in the store."""

import os
import subprocess
import time
from collections.abc import Iterator
from statistics import median

import msgspec

from snell.cli.health import Check, Installation, Status
from snell.cli.health.shim import shim_path
from snell.daemon.client import DaemonError, ask
from snell.records.decisions import SELF_TEST
from snell.runtime.app import database_of
from snell.runtime.database_journal import StoreJournal

TIMES = 5
SECONDS = 30.0


def checks(installation: Installation) -> Iterator[Check]:
    path = shim_path(installation.env)
    if path is None:
        return
    session = f"doctor-{os.urandom(6).hex()}"
    command = [str(path), "--client", "generic"]
    taken = []
    for number in range(1 + TIMES):
        began = time.perf_counter()
        problem = _send(command, installation, session, number)
        taken.append((time.perf_counter() - began) * 1000)
        if problem:
            yield Check("synthetic event", "fail", f"`{' '.join(command)}` {problem}", "`snell daemon run` shows why")
            return
    stored = _count_stored(installation, session)
    if stored < len(taken):
        detail = f"{len(taken)} events were answered, but the store has {stored}"
        advice = "check the store above, and whether two installations of Snell are mixed"
        yield Check("synthetic event", "fail", detail, advice)
        return
    how = "the daemon" if _is_served(installation) else "separate processes, without a daemon"
    status: Status = "ok" if how == "the daemon" else "warn"
    detail = f"{len(taken)} events answered by {how}; first {taken[0]:.1f} ms, then {median(taken[1:]):.1f} ms"
    yield Check("synthetic event", status, detail, "" if status == "ok" else "`snell daemon start` shows why")


def _send(command: list[str], installation: Installation, session: str, number: int) -> str:
    """Send one event; return what went wrong, or an empty text."""
    fields = {"hook_event_name": SELF_TEST, "session_id": session, "cwd": str(installation.cwd), "number": number}
    try:
        done = subprocess.run(
            command,
            input=msgspec.json.encode(fields),
            env=dict(installation.env),
            cwd=installation.cwd,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"did not answer within {SECONDS:g} s"
    errors = done.stderr.decode("utf-8", "replace").strip()
    return f"exited with {done.returncode}: {errors[:300]}" if done.returncode or errors else ""


def _count_stored(installation: Installation, session: str) -> int:
    database = database_of(installation.where)
    try:
        return len(StoreJournal(database).recent(session=session, limit=100))
    finally:
        database.close()


def _is_served(installation: Installation) -> bool:
    try:
        return bool(ask(installation.where.run, "ping") == "pong")
    except DaemonError:
        return False
