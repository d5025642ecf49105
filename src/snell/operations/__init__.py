"""
The operations that CLI, RPC and MCP call, one module per topic.

A module has COMMANDS: `topic.verb` -> a function of (runtime, arguments, env). It is imported at the first call.
"""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from snell.runtime.app import Runtime

Arguments = Mapping[str, Any]
Call = Callable[[Runtime, Arguments, Mapping[str, str]], Any]

# The part of a command's name before the dot -> the module that has it.
TOPICS: Mapping[str, str] = {
    "agent": "snell.operations.agent",
    "commands": "snell.operations.effort",
    "context": "snell.operations.context",
    "db": "snell.operations.db",
    "explore": "snell.operations.explore",
    "guard": "snell.operations.guard",
    "hooks": "snell.operations.hooks",
    "journal": "snell.operations.journal",
    "ledger": "snell.operations.ledger",
    "loop": "snell.operations.loop",
    "memory": "snell.operations.memory",
    "run": "snell.operations.run",
    "runs": "snell.operations.runs",
    "setup": "snell.operations.setup",
    "tend": "snell.operations.memory_maintenance",
}


def call_for(name: str, runtime: Runtime) -> Callable[[Arguments, Mapping[str, str]], Any] | None:
    """Return the function of a command, bound to the runtime; None if the command is unknown."""
    module = TOPICS.get(name.partition(".")[0])
    commands: Mapping[str, Call] = import_module(module).COMMANDS if module else {}
    return partial(commands[name], runtime) if name in commands else None


def run_in_thread(call: Call) -> Call:
    """Make a slow call run in a thread if an event loop is running, so that the loop is not blocked."""

    def answer(runtime: Runtime, arguments: Arguments, env: Mapping[str, str]) -> Any:
        import asyncio  # slow to import, and few calls need it

        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return call(runtime, arguments, env)
        return loop.run_in_executor(None, call, runtime, arguments, env)

    return answer
