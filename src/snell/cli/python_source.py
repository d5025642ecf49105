"""A look at somebody's Python file without running it: its text, the hooks it declares, and whether it can be read."""

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from snell.model.errors import SnellError
from snell.system.files import read_capped

MOST_LINES = 60
LARGEST = 1_000_000

ROLES = frozenset({"judges", "rewrites", "informs", "watches"})


class Look(Struct, frozen=True):
    lines: tuple[str, ...] = ()  # the first ones
    further: int = 0  # how many lines there are beyond these
    hooks: tuple[str, ...] = ()
    problem: str = ""


def look_at(path: Path) -> Look:
    """What a person should see of a file before it may run. Nothing of it is executed."""
    try:
        source = read_capped(path, LARGEST)
    except (OSError, SnellError) as error:
        return Look(problem=f"it cannot be shown: {error}")
    lines = [line.removesuffix("\r").expandtabs(4) for line in source.decode("utf-8", "replace").split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    hooks, problem = _declared(source)
    return Look(tuple(lines[:MOST_LINES]), max(len(lines) - MOST_LINES, 0), hooks, problem)


def visible(text: str) -> str:
    """Text that cannot move the cursor, hide itself or change what stands before it."""
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def _declared(source: bytes) -> tuple[tuple[str, ...], str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in a string is not our business
            compile(source, "<hook>", "exec", dont_inherit=True)
            tree = ast.parse(source)
    except SyntaxError as error:
        return (), f"it cannot run: line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return (), f"it cannot run: {error}"
    return tuple(_hooks(tree)), ""


def _hooks(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and (role := _name(decorator.func)) in ROLES:
                    events = [str(each.value) for each in decorator.args if isinstance(each, ast.Constant)]
                    yield f"{node.name} {role} {', '.join(events)}"


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
