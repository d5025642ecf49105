"""Operations on single rows of the work tables, such as `db.effort.start`."""

from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, Literal

from snell.operations.declaration import Operation, Permission
from snell.work import agents, efforts, messages, phases, projects, sessions, skills, tasks

_SESSION = (
    "start finish get find list heartbeat updateContextUsage updateLoadedFiles updatePreloadedFiles setTranscript"
    " getInjections updateInjections"
)
# The table, the module of its functions, and the operations: each is a function of the same name, in camelCase.
_TABLES: Mapping[str, tuple[ModuleType, str]] = {
    "project": (projects, "upsert find"),
    "task": (tasks, "upsert find list"),
    "effort": (efforts, "finish get list findActive getMetadata updateMetadata"),
    "session": (sessions, _SESSION),
    "agents": (agents, "register get list findByEffort updateStatus fleet"),
    "messages": (messages, "append list upsert"),
    "skills": (skills, "upsert get list find delete"),
}
_READS = ("find", "get", "list", "fleet", "phaseHistory")


def _operations() -> Iterator[Operation]:
    for table, (module, names) in _TABLES.items():
        for name in names.split():
            yield _operation(table, name, getattr(module, "list_" if name == "list" else _snake(name)))


def _operation(table: str, name: str, function: Callable[..., Any], sync: Literal["", "around"] = "") -> Operation:
    permission: Permission = "reads" if name.startswith(_READS) else "destroys" if name == "delete" else "writes"
    says = f"{_snake(name).replace('_', ' ').capitalize()} in the table `{table}`."
    return Operation(f"db.{table}.{name}", function, permission=permission, sync=sync, says=says)


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


OPERATIONS = (
    *_operations(),
    _operation("effort", "start", efforts.start, sync="around"),
    _operation("effort", "phase", phases.change),
    _operation("effort", "phaseHistory", phases.history),
)
