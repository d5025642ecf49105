"""Read a Python file without running it: its text, the hooks it declares, and syntax errors."""

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


class SourceReview(Struct, frozen=True):
    lines: tuple[str, ...] = ()  # at most MOST_LINES
    further: int = 0  # the number of lines after these
    hooks: tuple[str, ...] = ()
    problem: str = ""


def review_source(path: Path) -> SourceReview:
    """Return what a person should see of a file before approving it. Nothing of it is executed."""
    try:
        source = read_capped(path, LARGEST)
    except (OSError, SnellError) as error:
        return SourceReview(problem=f"cannot be shown: {error}")
    lines = [line.removesuffix("\r").expandtabs(4) for line in source.decode("utf-8", "replace").split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    hooks, problem = _find_hooks(source)
    return SourceReview(tuple(lines[:MOST_LINES]), max(len(lines) - MOST_LINES, 0), hooks, problem)


def visible(text: str) -> str:
    """Escape characters that could move the cursor or hide text."""
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def _find_hooks(source: bytes) -> tuple[tuple[str, ...], str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as an invalid escape in a string
            compile(source, "<hook>", "exec", dont_inherit=True)
            tree = ast.parse(source)
    except SyntaxError as error:
        return (), f"syntax error{f' in line {error.lineno}' if error.lineno else ''}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return (), f"cannot be parsed: {error}"
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
