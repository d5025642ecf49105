"""
The operations that CLI, RPC and MCP call, one module per topic.

`declaration.py` says how one is declared. A topic's module is imported at the first call of one of its operations.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from snell.operations.declaration import Operation
    from snell.runtime.app import Runtime


class Topic(Struct, frozen=True):
    """The operations whose names, or verbs on the command line, begin with the same word."""

    modules: tuple[str, ...]
    help: str = ""  # of the command `snell TOPIC`, which has one verb for each operation that names one
    example: str = ""
    group: str = "work"  # under which `snell` lists the command


# A new topic needs a line here, and its module.
TOPICS: Mapping[str, Topic] = {
    "agent": Topic(("agent", "work"), "list and register agents, and set their status", "snell agent list"),
    "commands": Topic(("effort",)),
    "context": Topic(("run",)),
    "db": Topic(("db",)),
    "effort": Topic(
        ("effort", "work"), "start, log into, resume and finish efforts", "snell effort start parser implement"
    ),
    "guard": Topic(("run",)),
    "hooks": Topic(("hooks",)),
    "journal": Topic(("journal",)),
    "ledger": Topic(("run",)),
    "loop": Topic(
        ("loop",),
        "send an agent back to work until it reports completion",
        "snell loop start --promise TASK_COMPLETE --max 5",
    ),
    "memory": Topic(
        ("memory", "memory_maintenance", "explore"),
        "store, search and maintain what agents remember",
        'snell memory recall "which database did we choose"',
        "memory",
    ),
    "run": Topic(("run",)),
    "runs": Topic(
        ("runs",),
        "manage runs: work with a budget of time, prompts and tool calls",
        "snell runs start --minutes 30 --calls 100",
    ),
    "session": Topic(
        ("work", "effort"),
        "manage sessions: the context windows of an effort",
        "snell session dehydrate < where-i-am.json",
    ),
    "setup": Topic(("run",)),
    "task": Topic(("work",), "manage tasks: directories that group efforts", "snell task list"),
}


def find(name: str) -> "Operation | None":
    """Return the operation of this name; None if there is none."""
    return next((each for each in operations_of(name.partition(".")[0]) if each.name == name), None)


@cache
def operations_of(topic: str) -> "tuple[Operation, ...]":
    """Return the operations in the modules of a topic; none for an unknown topic."""
    from snell.operations.declaration import operations_in

    modules = TOPICS[topic].modules if topic in TOPICS else ()
    return tuple(each for name in modules for each in operations_in(import_module(f"{__name__}.{name}")))


def all_operations() -> "list[Operation]":
    """Return every operation by name; this imports all topics."""
    found = {each.name: each for topic in TOPICS for each in operations_of(topic)}
    return [found[name] for name in sorted(found)]


def call_for(name: str, runtime: "Runtime") -> Callable[[Mapping[str, Any], Mapping[str, str]], Any] | None:
    """Return a function of (arguments, env) that calls an operation; None if it is unknown."""
    found = find(name)
    return partial(found.invoke, runtime) if found else None
