"""Find mistakes in the source of a Python hook without running it: what its role cannot return, a missing decorator."""

import ast
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from snell.engine.limit_effects import ROLE_EFFECTS
from snell.model.effects import EFFECT_TYPES
from snell.sdk.decorators import SUPPLIES

_EFFECTS = {each.__name__ for each in EFFECT_TYPES}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def source_problems(path: Path, source: bytes) -> list[str]:
    """Return what is wrong, each with file and line; for a file that is no Python, where its syntax ends."""
    try:
        functions = _functions(source)
    except SyntaxError as error:
        return [f"{path}:{error.lineno or 1}: SyntaxError: {error.msg}"]
    except (ValueError, RecursionError, MemoryError) as error:
        return [f"{path}:1: it cannot be parsed: {error}"]
    return [f"{path}:{line}: hook `{each.name}`: {text}" for each in functions for line, text in _problems(each)]


def hooks_in(source: bytes) -> list[tuple[str, str, list[str]]]:
    """Return name, role and events of each hook; none for a file that is no Python."""
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        return [(each.name, *role) for each in _functions(source) for role in hook_roles(each).items()]
    return []


def _functions(source: bytes) -> list[Function]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as an invalid escape in a string
        compile(source, "<hook>", "exec", dont_inherit=True)
        return [node for node in ast.parse(source).body if isinstance(node, Function)]


def hook_roles(function: Function) -> dict[str, list[str]]:
    """Return the roles that a function is decorated with, and the events of each."""
    found: dict[str, list[str]] = {}
    for each in function.decorator_list:
        called = each.func if isinstance(each, ast.Call) else each
        role = getattr(called, "attr", getattr(called, "id", ""))  # `snell.judges(...)`, or `judges(...)`
        if role in ROLE_EFFECTS:
            given = each.args if isinstance(each, ast.Call) else []
            found[role] = [str(one.value) for one in given if isinstance(one, ast.Constant)]
    return found


def _problems(function: Function) -> Iterator[tuple[int, str]]:
    roles, returned = hook_roles(function), list(_return_values(function))
    effects = [(line, name) for line, name in returned if name in _EFFECTS]
    takes_event = any(each.arg in SUPPLIES for each in function.args.args) or not function.args.args
    if not function.decorator_list and effects and takes_event and not function.name.startswith("_"):
        role = _role_with(effects[0][1])
        yield function.lineno, f'it returns {effects[0][1]}, but has no decorator; write @{role}("PreToolUse")'
    for line, name in returned if roles else ():
        if name not in _EFFECTS:
            yield line, f"it returns {name}, which is not an effect; return Deny(...), Note(...) or None"
        elif not any(name.lower() in ROLE_EFFECTS[role] for role in roles):
            yield line, f"@{next(iter(roles))} cannot return {name}; use @{_role_with(name)}"


def _role_with(effect: str) -> str:
    return next(role for role in ("informs", "rewrites", "judges") if effect.lower() in ROLE_EFFECTS[role])


def _return_values(function: Function) -> Iterator[tuple[int, str]]:
    """Yield line and name of what a function surely returns: an effect that it makes, or a constant that is no JSON."""
    for node in _own_nodes(function):
        value = node.value if isinstance(node, ast.Return) else None
        for each in [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]:
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Name | ast.Attribute):
                name = getattr(each.func, "attr", getattr(each.func, "id", ""))
                if name in _EFFECTS:
                    yield each.lineno, name
            elif isinstance(each, ast.Constant) and each.value is not None and not str(each.value).startswith("{"):
                yield each.lineno, type(each.value).__name__


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of functions inside it."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, Function | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)
