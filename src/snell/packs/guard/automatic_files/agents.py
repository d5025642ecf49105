"""What coding agents run by themselves: MCP servers, and hooks and commands in the texts of skills and agents."""

import re
from collections.abc import Iterator
from typing import Any

from snell.packs.guard.automatic_files.entries import (
    Entry,
    command_line,
    member,
    members_of_part,
    objects,
    read_json,
    read_toml,
)
from snell.system.lazy_regex import lazy_regex

_SERVED = "as an MCP server, whenever the coding agent starts"
_SERVERS = ("mcpServers", "servers", "mcp", "mcp_servers", "context_servers", "extensions", "amp.mcpServers")
_YAML_COMMAND = lazy_regex(r"(?m)^[ \t]*(?:-\s*)?(?:command|cmd|url|uri|httpUrl)\s*:\s*[\"']?([^\s\"'].*)$")
_TOML_SERVER = lazy_regex(r"(?m)^[ \t]*(?:command|url)\s*=\s*[\"']([^\"']+)[\"']")


def read_servers(text: str) -> Iterator[Entry]:
    """Yield the MCP servers of a client's file: programs that it starts, and addresses whose tools it offers."""
    value = read_json(text) if "{" in text[:400] or "[" not in text[:400] else None
    value = read_toml(text) if value is None else value
    if isinstance(value, dict):
        lines = _servers_in(value, 0)
    else:
        lines = [line for name, line in members_of_part(text) if name in _TARGETS]
        lines += [line.rstrip().rstrip("\"'") for line in _YAML_COMMAND.findall(text)]
        lines += _TOML_SERVER.findall(text)
        lines += [f"with {args}" for name, args in members_of_part(text) if name == "args"]
    for line in dict.fromkeys(filter(None, lines)):
        yield Entry(line, _SERVED, asks=True)


_TARGETS = ("command", "url", "httpUrl", "serverUrl", "cmd")


def _servers_in(value: Any, depth: int) -> list[str]:
    """Return the servers under any of their usual names; `projects` of a user's file have some each."""
    lines = [_server_line(each) for name in _SERVERS for each in objects(member(value, name)).values()]
    if depth < 3:
        inner = [each for name, each in objects(value).items() if name not in _SERVERS[:5]]
        inner += list(objects(member(value, "mcp")).values())
        lines += [line for each in inner for line in _servers_in(each, depth + 1)]
    return lines


def _server_line(server: Any) -> str:
    command = member(server, "command") or member(server, "cmd")
    if isinstance(command, dict):  # Zed: a path and its arguments
        return command_line(member(command, "path"), member(command, "args"))
    if command:
        env = [f"{name}={given}" for name, given in (member(server, "env") or {}).items() if name in _LOADERS]
        return " ".join((*env, command_line(command, member(server, "args"))))
    return next((str(server[name]) for name in _TARGETS if isinstance(server.get(name), str)), "")


_LOADERS = ("NODE_OPTIONS", "LD_PRELOAD", "PYTHONSTARTUP", "PATH", "BASH_ENV")
_FRONT = lazy_regex(r"\A\ufeff?---[ \t]*\n(.*?)(?:\n---|\Z)", re.DOTALL)
_HOOKS = lazy_regex(r"(?m)^[\"']?hooks[\"']?[ \t]*:(.*(?:\n(?:[ \t-].*|))*)")
_HOOK_COMMAND = lazy_regex(
    r"[\"']?\b(?:command|url|run)[\"']?\s*:\s*(?:[|>][-+]?\s*\n\s*)?(\"[^\"\n]*\"|'[^'\n]*'|[^\n}\]]+)"
)
_HOOK_EVENT = lazy_regex(
    r"\b((?:Pre|Post)ToolUse\w*|SessionStart|SessionEnd|Stop|Subagent\w+|UserPromptSubmit|PreCompact)\b"
)
_INLINE = lazy_regex(r"!`([^`\n]+)`|!\{([^{}\n]+)\}")


def read_agent_text(text: str) -> Iterator[Entry]:
    """Yield the hooks that a skill, an agent or a command declares, and the commands that run when it is used."""
    front = _FRONT.match(text)
    declared = _HOOKS.search(front[1] if front else "") or (
        _HOOKS.search(text) if not front and _is_part(text) else None
    )
    for found in _HOOK_COMMAND.finditer(declared[1]) if declared else ():
        event = _HOOK_EVENT.findall(declared[1][: found.start()]) if declared else []
        yield Entry(found[1].strip().strip("\"'"), f"as a hook on {event[-1] if event else 'its events'}", asks=True)
    for double, braced in _INLINE.findall(text):
        yield Entry(double or braced, "whenever the command or skill is used")


def _is_part(text: str) -> bool:
    """Tell whether a text without front matter may be a part of it: it names a hook's type."""
    return "type:" in text and _HOOK_EVENT.search(text) is not None
