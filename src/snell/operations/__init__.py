"""
Remote calls about one topic each: a module with COMMANDS, `topic.verb` -> function of (house, arguments, env).

A module is imported when somebody first calls one of its commands.
"""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from snell.runtime.app import Runtime

Arguments = Mapping[str, Any]
Call = Callable[[Runtime, Arguments, Mapping[str, str]], Any]

# What stands before the dot in a command's name, and the module that answers.
TOPICS: Mapping[str, str] = {
    "agent": "snell.operations.agent",
    "commands": "snell.operations.commands",
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
    """The function that answers a command; None where there is none."""
    module = TOPICS.get(name.partition(".")[0])
    commands: Mapping[str, Call] = import_module(module).COMMANDS if module else {}
    return partial(commands[name], runtime) if name in commands else None
