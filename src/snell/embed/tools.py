"""A tool of an agent: a function, and the checks before it is called."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct

from snell.embed.tool_call import Input
from snell.engine.json_schema import schema_errors


class Tool(Struct, frozen=True):
    """A tool. Every function may be a coroutine. `run` gets the input as keyword arguments."""

    name: str
    run: Callable[..., Any]
    schema: Mapping[str, Any] | None = None  # of the input; without one it must match the parameters of `run`
    validate: Callable[[Input], Any] | None = None  # problems beyond the schema: texts, False or a ValueError
    permission: Callable[[Input], Any] | None = None  # Allow, Ask, Deny, Rewrite or nothing
    is_enabled: bool | Callable[[], Any] = True
    known_as: str = ""  # the name of a similar tool of Claude Code, so that its hooks match
    timeout: float | None = None  # seconds

    def execute(self) -> Callable[[Input], Any]:
        run = self.run
        return partial(_run_async, run) if inspect.iscoroutinefunction(run) else lambda value: run(**value)

    def enabled_check(self) -> Callable[[], Any]:
        given = self.is_enabled
        return given if callable(given) else lambda: given

    def check(self) -> Callable[[Input], Any]:
        """Return the check of an input: the schema first, since `validate` may rely on it."""
        signature = _signature(self.run) if self.schema is None else None
        return lambda value: _input_faults(self, signature, value) or (self.validate(value) if self.validate else None)


def tools_by_name(given: Iterable[Tool | Callable[..., Any]]) -> dict[str, Tool]:
    """Return tools by name; a plain function becomes a tool with the function's name."""
    tools = [each if isinstance(each, Tool) else Tool(each.__name__, each) for each in given]
    by_name = {tool.name: tool for tool in tools}
    for tool in tools:
        if by_name[tool.name] is not tool:
            raise ValueError(f"there are several tools with the name `{tool.name}`")
        _check_schema(tool)
    return by_name


def _check_schema(tool: Tool) -> None:
    """Raise ValueError for a schema that would accept every input."""
    if tool.schema is None:
        return
    from snell.packs.tool_inputs.input_check import schema_problem

    is_one = isinstance(tool.schema, Mapping)
    wrong = schema_problem(tool.schema) if is_one else f"it is {type(tool.schema).__name__}, not an object"
    if wrong:
        raise ValueError(f"the schema of the tool `{tool.name}` cannot be used: {wrong}")


async def _run_async(function: Callable[..., Any], value: Input) -> Any:
    return await function(**value)


def _input_faults(tool: Tool, signature: inspect.Signature | None, value: Input) -> list[str]:
    if tool.schema is not None:
        from snell.packs.tool_inputs.input_check import schema_faults  # bounds, patterns: needs the `guard` extra

        return schema_errors(value, tool.schema) or schema_faults(dict(value), tool.schema)
    try:
        if signature:
            signature.bind(**value)
    except TypeError as error:
        return [str(error)]
    return []


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # some built-in functions have none
        return None
