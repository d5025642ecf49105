"""
Remote calls about one topic each: a module with COMMANDS, `topic.verb` -> function of (house, arguments, env).

A module is imported when somebody first calls one of its commands.
"""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from snell.runtime.house import House

Arguments = Mapping[str, Any]
Call = Callable[[House, Arguments, Mapping[str, str]], Any]

# What stands before the dot in a command's name, and the module that answers.
TOPICS: Mapping[str, str] = {
    "agent": "snell.runtime.calls.agent",
    "commands": "snell.runtime.calls.commands",
    "context": "snell.runtime.calls.context",
    "db": "snell.runtime.calls.db",
    "explore": "snell.runtime.calls.explore",
    "guard": "snell.runtime.calls.guard",
    "hooks": "snell.runtime.calls.hooks",
    "journal": "snell.runtime.calls.journal",
    "ledger": "snell.runtime.calls.ledger",
    "loop": "snell.runtime.calls.loop",
    "memory": "snell.runtime.calls.memory",
    "run": "snell.runtime.calls.run",
    "runs": "snell.runtime.calls.runs",
    "setup": "snell.runtime.calls.setup",
    "tend": "snell.runtime.calls.tend",
}


def call_for(name: str, house: House) -> Callable[[Arguments, Mapping[str, str]], Any] | None:
    """The function that answers a command; None where there is none."""
    module = TOPICS.get(name.partition(".")[0])
    commands: Mapping[str, Call] = import_module(module).COMMANDS if module else {}
    return partial(commands[name], house) if name in commands else None
