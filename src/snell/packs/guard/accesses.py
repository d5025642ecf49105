"""What tools other than the shell do to files, as the steps that the rules know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from snell.kit.subjects import EditCall, ReadCall, SearchCall, ToolCall, WriteCall
from snell.packs.guard.judge import Judgement, judge, judge_steps, strictest
from snell.packs.guard.names import names
from snell.packs.guard.shell.scene import Step
from snell.packs.guard.shell.values import Value

MOST_TEXTS = 40
_COMMAND_KEYS = frozenset(("command", "cmd", "script", "shell_command", "commandline", "command_line"))
_PATH_KEYS = names("path file_path filepath file filename uri source src destination target paths files")
_WRITING = (
    "write",
    "edit",
    "create",
    "delete",
    "remove",
    "move",
    "update",
    "append",
    "patch",
    "rename",
    "save",
    "put",
    "replace",
)


def judge_call(call: ToolCall, cwd: str, home: str, project: str) -> Judgement:
    """Reading, editing, writing and searching by a client's own tools, and what an MCP tool is told."""
    if call.kind == "mcp":
        return _mcp(call, cwd, home, project)
    return judge_steps(tuple(_steps(call, cwd, home)), cwd, home, project)


def _steps(call: ToolCall, cwd: str, home: str) -> Iterator[Step]:
    if isinstance(call, ReadCall):
        yield _reads(_full(call.path, cwd, home), cwd)
    elif isinstance(call, EditCall | WriteCall):
        yield _writes(_full(call.path, cwd, home), cwd)
    elif isinstance(call, SearchCall) and call.tool not in ("Glob", "LS"):
        for name in (call.path, call.input.get("glob")):
            if isinstance(name, str) and name:
                yield _reads(_full(name, cwd, home), cwd)


def _mcp(call: ToolCall, cwd: str, home: str, project: str) -> Judgement:
    found = list[Judgement]()
    writes = any(word in call.tool.rpartition("__")[2].lower() for word in _WRITING)
    for key, text in _texts(call.input):
        if key in _COMMAND_KEYS:
            found.append(judge(text, cwd, home, project))
        elif key in _PATH_KEYS:
            path = _full(text.removeprefix("file://"), cwd, home)
            found.append(judge_steps((_writes(path, cwd) if writes else _reads(path, cwd),), cwd, home, project))
    return strictest(found)


def _texts(given: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(given, str):
        yield key.lower(), given
    elif isinstance(given, Mapping) and depth < 6:
        for name, value in list(given.items())[:MOST_TEXTS]:
            yield from _texts(value, str(name), depth + 1)
    elif isinstance(given, list | tuple) and depth < 6:
        for value in given[:MOST_TEXTS]:
            yield from _texts(value, key, depth + 1)


def _full(path: str, cwd: str, home: str) -> str:
    if path == "~" or path.startswith("~/"):
        return home + path[1:]
    return path if path.startswith("/") else f"{cwd}/{path}"


def _reads(path: str, cwd: str) -> Step:
    return Step("cat", (Value("cat"), Value(path)), cwd, args=(path,))


def _writes(path: str, cwd: str) -> Step:
    return Step(":", (Value(":"),), cwd, writes=(path,))
