"""What the supervisor of `snell run` asks: is a restart wanted, and which window is mine?"""

from collections.abc import Mapping
from typing import Any

from snell.runtime.app import House
from snell.work.errors import invalid

Arguments = Mapping[str, Any]


def poll(house: House, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    """The restart that was asked for in this run, once; and its last window. Nobody else's run is touched."""
    scope = _scope(arguments)
    restart, session = house.store.get(scope, "restart"), house.store.get(scope, "session")
    if restart:
        house.store.drop(scope, "restart")
        house.store.put(scope, "replaced", session.get("id") if isinstance(session, dict) else None)
    return {"restart": restart, "session": session}


def forget(house: House, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    """The run is over."""
    house.store.drop(_scope(arguments))
    return {}


def _scope(arguments: Arguments) -> str:
    run = arguments.get("run")
    if not isinstance(run, str) or not run:
        raise invalid("run: must be text")
    return f"supervisor:{run}"


COMMANDS = {"run.poll": poll, "run.forget": forget}
