"""Start, show and stop the promise loop of a session."""

from collections.abc import Mapping
from typing import Any

from msgspec import to_builtins

from snell.model.errors import SnellError
from snell.packs.harness.promise_loop import Loop, end_loop, loop_of, save_loop
from snell.runtime.app import Runtime
from snell.runtime.database_journal import StoreJournal

Arguments = Mapping[str, Any]


def start(runtime: Runtime, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    promise, most = arguments.get("promise"), arguments.get("max", 10)
    if not isinstance(promise, str) or not promise.strip():
        raise SnellError("`promise` is missing: the words that end the loop")
    if not isinstance(most, int) or isinstance(most, bool) or not 1 <= most <= 1000:
        raise SnellError("`max` must be a number from 1 to 1000")
    session = _session(runtime, arguments)
    loop = Loop(promise, str(arguments.get("objective") or ""), most)
    save_loop(session, loop, runtime.store)
    return {"session": session, **to_builtins(loop), "problem": getattr(runtime.store, "problem", "")}


def status(runtime: Runtime, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    session = _session(runtime, arguments)
    loop = loop_of(session, runtime.store)
    return {"session": session, **(to_builtins(loop) if loop else {})}


def stop(runtime: Runtime, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    session = _session(runtime, arguments)
    was_running = loop_of(session, runtime.store) is not None
    end_loop(session, runtime.store)
    return {"session": session, "stopped": was_running}


def _session(runtime: Runtime, arguments: Arguments) -> str:
    """Return the named session, else the one with the last decision. Raises SnellError."""
    named = arguments.get("session")
    if isinstance(named, str) and named:
        return named
    rows = StoreJournal(runtime.database).recent(limit=1) if runtime.database else []
    if not rows or not rows[0].session_id:
        raise SnellError("no session yet", advice="start the agent first, or name a session with --session")
    return rows[0].session_id


COMMANDS = {"loop.start": start, "loop.status": status, "loop.stop": stop}
