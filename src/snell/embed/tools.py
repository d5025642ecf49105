"""A tool: a function, and what must hold before it is called."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct

from snell.embed.tool_call import Input
from snell.engine.json_schema import schema_errors


class Tool(Struct, frozen=True):
    """Every function here may be a coroutine. `run` gets the input as keyword arguments."""

    name: str
    run: Callable[..., Any]
    schema: Mapping[str, Any] | None = None  # of the input; without one it must fit the parameters of `run`
    validate: Callable[[Input], Any] | None = None  # what is wrong beyond the schema: texts, False or a ValueError
    permission: Callable[[Input], Any] | None = None  # Allow, Ask, Deny, Rewrite or nothing
    is_enabled: bool | Callable[[], Any] = True
    known_as: str = ""  # Claude Code's name for such a tool, so that hooks for that kind of tool see it
    timeout: float | None = None  # seconds

    def execute(self) -> Callable[[Input], Any]:
        return partial(_called_async if inspect.iscoroutinefunction(self.run) else _called, self.run)

    def enabled(self) -> Callable[[], Any]:
        given = self.is_enabled
        return given if callable(given) else lambda: given

    def check(self) -> Callable[[Input], Any]:
        """The schema first, since a rule of one's own may rely on it."""
        signature = _signature(self.run) if self.schema is None else None
        return partial(_checked_async if inspect.iscoroutinefunction(self.validate) else _checked, self, signature)


def tools_by_name(given: Iterable[Tool | Callable[..., Any]]) -> dict[str, Tool]:
    """Tools by their names; a plain function is a tool of its own name."""
    tools = [each if isinstance(each, Tool) else Tool(each.__name__, each) for each in given]
    by_name = {tool.name: tool for tool in tools}
    if len(by_name) < len(tools):
        names = [tool.name for tool in tools]
        raise ValueError(f"there are several tools called `{next(name for name in names if names.count(name) > 1)}`")
    for tool in tools:
        _check_schema(tool)
    return by_name


def _check_schema(tool: Tool) -> None:
    """A schema that says nothing would let everything through."""
    if tool.schema is None:
        return
    from snell.packs.tool_inputs.input_check import schema_problem

    is_one = isinstance(tool.schema, Mapping)
    wrong = schema_problem(tool.schema) if is_one else f"it is {type(tool.schema).__name__}, not an object"
    if wrong:
        raise ValueError(f"the schema of the tool `{tool.name}` cannot be used: {wrong}")


def _called(function: Callable[..., Any], value: Input) -> Any:
    return function(**value)


async def _called_async(function: Callable[..., Any], value: Input) -> Any:
    return await function(**value)


def _checked(tool: Tool, signature: inspect.Signature | None, value: Input) -> Any:
    return _misfits(tool, signature, value) or (tool.validate(value) if tool.validate else None)


async def _checked_async(tool: Tool, signature: inspect.Signature | None, value: Input) -> Any:
    found = _misfits(tool, signature, value)
    return found or (await tool.validate(value) if tool.validate else None)


def _misfits(tool: Tool, signature: inspect.Signature | None, value: Input) -> list[str]:
    if tool.schema is not None:
        return schema_errors(value, tool.schema, "") or _finer_faults(value, tool.schema)
    try:
        if signature:
            signature.bind(**value)
    except TypeError as error:
        return [str(error)]
    return []


def _finer_faults(value: Input, schema: Mapping[str, Any]) -> list[str]:
    """What only a whole validator sees: bounds, patterns, alternatives. It needs the `guard` extra."""
    from snell.packs.tool_inputs.input_check import schema_faults

    return schema_faults(dict(value), schema)


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # some functions that are not written in Python have none
        return None
