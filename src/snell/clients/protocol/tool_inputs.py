"""
Translate tool names and inputs between a client and Claude Code.

Hooks have to judge what the client runs. So if an input has a key under both names, the client's own one is used.
"""

import re
from typing import Any

from msgspec.json import encode

from snell.clients.protocol.table import ClientTable, Tool
from snell.model.command_words import line_of_list
from snell.model.events import Payload

ALL_FILES = "file_paths"  # every file of a call that takes several; `file_path` is the first
JOINT = "__"
_PATCHED_FILE = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$", re.MULTILINE)


def claude_tool(table: ClientTable, name: str, given: Any = None) -> str:
    """Return Claude Code's name for a tool of this client, else the client's own name."""
    if tool := _tool(table, name, given):
        return tool.name
    if table.mcp_name and name.startswith(table.mcp_name[0]):
        prefix, joint = table.mcp_name
        server, found, method = (
            name[len(prefix) :].partition(joint) if joint else ("unknown", prefix, name[len(prefix) :])
        )
        if server and method and found:
            return f"mcp__{server}__{method}"
    return name


def claude_input(table: ClientTable, name: str, given: Payload) -> tuple[Payload, tuple[str, ...]]:
    """Return the input under Claude's keys, and notes on keys that were ignored."""
    tool = _tool(table, name, given)
    if tool is None:
        return _unwrap(table, given), ()
    renamed = {tool.keys[key]: value for key, value in given.items() if key in tool.keys}
    unread = [key for key in given if key in renamed and key not in tool.keys]
    shaped = {tool.keys.get(key, key): value for key, value in given.items() if key not in unread} | renamed
    for key, known in tool.lists.items():
        if isinstance(values := shaped.get(key), list) and (known != "command" or _is_texts(values)):
            shaped |= _from_list(known, shaped.pop(key))
    if tool.is_argv and isinstance(words := shaped.get("command"), list):
        shaped["command"] = line_of_list([str(word) for word in words])
    if tool.is_patch and isinstance(patch := shaped.get("new_string"), str):
        shaped |= {"old_string": "", **_files(files_in_patch(patch))}
    return shaped, tuple(f"{key} in the input is ignored, {table.title} reads another key" for key in unread)


def native_input(table: ClientTable, name: str, value: Any, before: Any) -> Any:
    """Return a rewritten input under the client's own keys."""
    if not isinstance(value, dict):
        return value
    tool = _tool(table, name, before, is_claudes=True)
    if tool is None:
        return _wrap(table, name, value) if table.wraps_mcp and JOINT in name else value
    added = {ALL_FILES, *(("old_string", "file_path") if tool.is_patch else ())}
    kept = {key: each for key, each in value.items() if key not in added}
    for key, known in tool.lists.items():
        if known in kept:
            kept[key] = _to_list(known, kept.pop(known), before)
    if tool.is_argv and isinstance(kept.get("command"), str):
        kept["command"] = ["bash", "-lc", kept["command"]]
    theirs = {
        ours: key for key, ours in reversed([*tool.keys.items()])
    }  # of two keys with one meaning the first is used
    return {theirs.get(key, key): each for key, each in kept.items()}


def takes_change(table: ClientTable, name: str, before: Any, after: Any) -> bool:
    """Return whether the client reads every changed key; a change that it does not read has no effect."""
    if table.rewritable is None or (table.mcp_name and name.startswith(table.mcp_name[0])):
        return True
    old, new = (native_input(table, name, value, before) for value in (before, after))
    read = table.rewritable.get(name, frozenset())
    is_known = isinstance(old, dict) and isinstance(new, dict)
    return is_known and all(key in read for key in new if key not in old or old[key] != new[key])


def files_in_patch(patch: str) -> list[str]:
    """Return the files that a patch in the `*** Begin Patch` form touches, in its order, each once."""
    return list(dict.fromkeys(map(str.rstrip, _PATCHED_FILE.findall(patch))))


def _tool(table: ClientTable, name: str, given: Any, *, is_claudes: bool = False) -> Tool | None:
    tool = table.tools.get(name)
    if tool is None or tool.creates is None:
        return tool
    old = ["old_string"] if is_claudes else [key for key, ours in tool.keys.items() if ours == "old_string"]
    is_edit = isinstance(given, dict) and any(given.get(key) for key in (old or ["old_string"]))
    return tool if is_edit else tool.creates


def _unwrap(table: ClientTable, given: Payload) -> Payload:
    key = next((key for key, what in table.wraps_mcp.items() if what == "input"), "")
    return given[key] if given.keys() == table.wraps_mcp.keys() and isinstance(given.get(key), dict) else given


def _wrap(table: ClientTable, name: str, value: Payload) -> Payload:
    server, _, tool = name.removeprefix("mcp__").partition(JOINT)
    parts = {"name": name, "server": server, "tool": tool, "input": value, "json": encode(value).decode()}
    return {key: parts[what] for key, what in table.wraps_mcp.items()}


def _is_texts(values: list[Any]) -> bool:
    """Return whether all values are strings. Lists with other values stay lists."""
    return all(isinstance(each, str) for each in values)


def _from_list(known: str, values: list[Any]) -> Payload:
    texts = [each if isinstance(each, str) else _path_in(each) for each in values]
    return _files(texts) if known == "file_path" else {known: "\n".join(texts)}


def _to_list(known: str, value: Any, before: Any) -> list[Any]:
    """Return a value as the client's list. Of several files only the first can be rewritten; then it alone is left."""
    is_unchanged = isinstance(before, dict) and before.get(known) == value
    several = before.get(ALL_FILES) if is_unchanged and known == "file_path" else None
    return list(several) if isinstance(several, list) else [value]


def _files(paths: list[str]) -> Payload:
    return {"file_path": paths[0], ALL_FILES: paths} if paths else {}


def _path_in(value: Any) -> str:
    path = value.get("path") if isinstance(value, dict) else None
    return path if isinstance(path, str) else str(value)
