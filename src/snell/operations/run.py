"""Operations for the supervisor of `snell run`: poll for a restart, forget a run."""

from collections.abc import Mapping
from typing import Any

from snell.runtime.app import Runtime
from snell.work.errors import invalid

Arguments = Mapping[str, Any]


def poll(runtime: Runtime, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    """Return the requested restart of a run, once, and its last session."""
    scope = _scope(arguments)
    restart, session = runtime.store.get(scope, "restart"), runtime.store.get(scope, "session")
    if restart:
        runtime.store.drop(scope, "restart")
        runtime.store.put(scope, "replaced", session.get("id") if isinstance(session, dict) else None)
    return {"restart": restart, "session": session}


def forget(runtime: Runtime, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    """Delete the state of a run that has ended."""
    runtime.store.drop(_scope(arguments))
    return {}


def _scope(arguments: Arguments) -> str:
    run = arguments.get("run")
    if not isinstance(run, str) or not run:
        raise invalid("run: must be text")
    return f"supervisor:{run}"


COMMANDS = {"run.poll": poll, "run.forget": forget}
