"""
Turn functions of the work layer into operations: `db.*`, `commands.*`, `agent.*` and `hooks.*`.

An operation takes the arguments of its function: names in camelCase or snake_case, types are checked, others ignored.
Each call is one transaction.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import msgspec

from snell.memory.project_identity import shared_name
from snell.model.protocols import Database, Transaction
from snell.operations.sync import sync_before
from snell.runtime.app import Runtime
from snell.work import shared_names
from snell.work.errors import WorkError, invalid
from snell.work.rows import camel, camel_keys

Arguments = Mapping[str, Any]
Env = Mapping[str, str]

IN_USE = ("work", "in_use")  # the mark without which hooks do not look for tasks


def in_transaction(function: Callable[..., Any]) -> Callable[[Runtime, Arguments, Env], Any]:
    """Make an operation of a function over a transaction; the caller's agent and folder come from the environment."""
    names = list(inspect.signature(function).parameters)

    def call(runtime: Runtime, arguments: Arguments, env: Env) -> Any:
        given = fields_of(function, {**_caller_arguments(names, runtime, env), **camel_keys(arguments)})
        answer = database_of(runtime).run(lambda tx: _call_in_project(tx, given.get("cwd"), function, given))
        mark_in_use(runtime)
        if runtime.team:
            runtime.team.notify_change()
        return answer

    return sync_before(call)


def _call_in_project(tx: Transaction, cwd: Any, function: Callable[..., Any], given: dict[str, Any]) -> Any:
    if isinstance(cwd, str):
        shared_names.adopt_checkout(tx, cwd, shared_name)
    return function(tx, **given)


def reading(function: Callable[..., Any]) -> Callable[[Runtime, Arguments, Env], Any]:
    """Make an operation of a function that reads files in the caller's directory, without a database."""

    def call(runtime: Runtime, arguments: Arguments, env: Env) -> Any:
        return function(runtime, **fields_of(function, {"cwd": env.get("CWD", ""), **camel_keys(arguments)}))

    return call


def fields_of(function: Callable[..., Any], given: Arguments) -> dict[str, Any]:
    """Return the checked arguments of a function. Raises WorkError (VALIDATION_ERROR)."""
    checked = convert_arguments(_struct_for(function), given)
    return {name: getattr(checked, name) for name in checked.__struct_fields__}


def convert_arguments(type_: Any, given: Arguments) -> Any:
    try:
        return msgspec.convert(dict(given), type_)
    except msgspec.ValidationError as error:
        raise invalid(issue_in(str(error))) from None


def issue_in(message: str) -> str:
    """Rewrite a message of msgspec as `path: message`."""
    problem, _, path = message.partition(" - at `$")
    if path:
        return f"{path.rstrip('`').lstrip('.')}: {problem}"
    _, quote, rest = problem.partition("field `")
    return f"{rest.rstrip('`')}: is missing" if quote else problem


def database_of(runtime: Runtime) -> Database:
    if runtime.database is None:
        raise WorkError("COMMAND_ERROR", "this runtime has no database")
    return runtime.database


def mark_in_use(runtime: Runtime) -> None:
    runtime.store.put(*IN_USE, True)


def agent_in(env: Env) -> str:
    return env.get("AGENT_ID", "")


def window_in(runtime: Runtime, env: Env) -> str | None:
    """Return the client session that a command is called from, if it runs under `snell run`."""
    run = env.get("SNELL_SUPERVISOR")
    known = runtime.store.get(f"supervisor:{run}", "session") if run else None
    id_ = known.get("id") if isinstance(known, dict) else None
    return id_ if isinstance(id_, str) and id_ else None


def _caller_arguments(names: list[str], runtime: Runtime, env: Env) -> dict[str, Any]:
    known: dict[str, Callable[[], Any]] = {
        "cwd": lambda: env.get("CWD", ""),
        "agent_id": lambda: agent_in(env),
        "client_session_id": lambda: window_in(runtime, env),
    }
    return {camel(name): known[name]() for name in names if name in known}


@cache
def _struct_for(function: Callable[..., Any]) -> Any:
    parameters = list(inspect.signature(function).parameters.values())[1:]
    fields = [
        (each.name, each.annotation) if each.default is each.empty else (each.name, each.annotation, each.default)
        for each in parameters
    ]
    return msgspec.defstruct(f"{function.__name__}_call", fields, kw_only=True, rename="camel")
