"""
Read case files: tests of a hook, written as data next to it.

    [[case]]
    name   = "a force push is denied"
    files  = { "Makefile" = "test:" }                            # optional: a temporary project
    before = [ { on = "UserPromptSubmit", prompt = "hi" } ]      # optional: earlier events of the same session
    event  = { on = "PreToolUse", kind = "shell", command = "git push --force" }
    expect = { deny = "part of the reason" }
"""

from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from msgspec import Struct

from snell.model.catalogue import did_you_mean
from snell.settings.read_toml import read_toml
from snell.settings.value_tree import InvalidValueError, Node, noun, plain, text_of
from snell.system.files import FileError, read_capped
from snell.testing.case_event import CaseError, CaseEvent, case_event_from
from snell.testing.expectation import Expectation, expectation_from

ENDING = ".cases.toml"
LARGEST = 4_000_000
KEYS = ("name", "event", "expect", "before", "files")

T = TypeVar("T")


class Case(Struct, frozen=True, kw_only=True):
    name: str
    event: CaseEvent
    expect: Expectation = Expectation()
    before: tuple[CaseEvent, ...] = ()
    files: dict[str, str] = {}
    file: str = ""
    line: int = 0


def cases_in(path: Path | str) -> list[Case]:
    """Read the cases of a file. Raises CaseError with file and line."""
    path = Path(path)
    try:
        root = read_toml(text_of(read_capped(path, LARGEST)))
        return [_case(node, str(path)) for node in _case_nodes(root or Node({}, 1))]
    except InvalidValueError as error:
        raise CaseError(error.message, where=f"{path}:{error.line}", advice=error.advice) from None
    except FileError as error:
        raise CaseError(f"the file {error.message}", where=str(path), advice=error.advice) from None
    except OSError as error:
        raise CaseError(f"the file cannot be read: {error.strerror}", where=str(path)) from None


def _case_nodes(root: Node) -> list[Node]:
    for key, node in root.value.items():
        if key != "case":
            advice = did_you_mean(key, ("case",), "start each case with [[case]]")
            raise InvalidValueError(f"unknown key `{key[:80]}`", node.line, advice)
    cases = root.value.get("case")
    if cases is None or cases.value == []:
        raise InvalidValueError(
            "the file has no cases", 1, "start one with [[case]], then `name`, `event` and `expect`"
        )
    if not cases.is_list or not all(each.is_table for each in cases.value):
        raise InvalidValueError("`case` must be a list of tables", cases.line, "start each case with [[case]]")
    return list(cases.value)


def _case(node: Node, file: str) -> Case:
    fields: dict[str, Node] = node.value
    for key, each in fields.items():
        if key not in KEYS:
            advice = did_you_mean(key, KEYS, f"a case has {', '.join(KEYS)}")
            raise InvalidValueError(f"`{key[:80]}` is not a key of a case", each.line, advice)
    for key in ("name", "event", "expect"):
        if key not in fields:
            raise InvalidValueError(f"the case has no `{key}`", node.line, _MISSING[key])
    return Case(
        name=_name(fields["name"]),
        event=_event(fields["event"], "event"),
        expect=_at(fields["expect"], expectation_from),
        before=_before(fields["before"]) if "before" in fields else (),
        files=_files(fields["files"]) if "files" in fields else {},
        file=file,
        line=node.line,
    )


_MISSING = {
    "name": 'describe the case: name = "a force push is denied"',
    "event": 'write the event: event = { on = "PreToolUse", kind = "shell", command = "ls" }',
    "expect": 'write the expected result: expect = "no_opinion", or { deny = "part of the reason" }',
}


def _name(node: Node) -> str:
    if not isinstance(node.value, str) or not node.value.strip():
        raise InvalidValueError("`name` must be a text in quotes", node.line, _MISSING["name"])
    return " ".join(node.value.split())


def _event(node: Node, key: str) -> CaseEvent:
    if not node.is_table:
        raise InvalidValueError(f"`{key}` must be a table, not {noun(node.value)}", node.line, _MISSING["event"])
    return _at(node, case_event_from)


def _before(node: Node) -> tuple[CaseEvent, ...]:
    if not node.is_list:
        advice = 'write before = [ { on = "UserPromptSubmit", prompt = "hi" } ]'
        raise InvalidValueError(f"`before` must be a list of events, not {noun(node.value)}", node.line, advice)
    return tuple(_event(each, "before") for each in node.value)


def _files(node: Node) -> dict[str, str]:
    if not node.is_table:
        message = f"`files` must be a table, not {noun(node.value)}"
        raise InvalidValueError(message, node.line, 'write files = { "Makefile" = "test:" }')
    for name, each in node.value.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
            raise InvalidValueError(f"`{name[:80]}` is outside the temporary project", each.line, "use a relative path")
        if not isinstance(each.value, str):
            raise InvalidValueError(f"the content of `{name[:80]}` must be text", each.line, "put it in quotes")
    return dict(plain(node))


def _at(node: Node, build: Callable[[Any], T]) -> T:
    """Build a value from a node; an error gets the line of the key that is wrong."""
    try:
        return build(plain(node))
    except CaseError as error:
        inner = node.value.get(error.key) if node.is_table else None
        line = inner.line if inner else node.line
        raise InvalidValueError(error.message, line, error.advice) from None
