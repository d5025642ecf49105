"""
Tool kinds that hold across clients.

A hook written for `kind="shell"` works wherever an agent runs commands. Clients translate their own tool names
into Claude Code's; this table has the kind of each of those. The kind of any other tool follows from its input: with a
command line it is a shell.
"""

from collections.abc import Mapping
from typing import Any

from snell.model.command_lines import carries_command
from snell.model.tool_names import is_shell_name, words_of

KINDS: Mapping[str, str] = {
    "Bash": "shell",
    "PowerShell": "shell",
    "Edit": "edit",
    "Delete": "edit",  # not Claude Code's, which has none; a hook that guards a file must see it
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Write": "write",
    "Read": "read",
    "NotebookRead": "read",
    "Grep": "search",
    "Glob": "search",
    "LS": "search",
    "ToolSearch": "search",
    "WebFetch": "web",
    "WebSearch": "web",
    "Agent": "agent",
    "Task": "agent",
    "Skill": "skill",
}

# The `command` of an editor that takes one, together with a path: Anthropic's text editor and memory tools, and others.
EDITOR_COMMANDS: Mapping[str, str] = {
    "view": "read",
    "create": "write",
    "str_replace": "edit",
    "insert": "edit",
    "delete": "edit",
    "rename": "edit",
    "undo_edit": "edit",
}

ALL_KINDS = ("shell", "edit", "write", "read", "search", "web", "mcp", "agent", "skill", "other")

# A renamed tool answers to both names, so that a matcher written for the old one keeps working. A patch may write files
# as well as edit them, whatever the client calls it.
_ALSO = {
    "Task": ("Agent",),
    "Agent": ("Task",),
    "apply_patch": ("Edit", "Write"),
    "Delete": ("Edit", "Write"),
    "ApplyPatch": ("Edit", "Write"),
    "patch": ("Edit", "Write"),
}


def kind_of(tool: str, given: Any = None) -> str:
    """Return the kind of a tool, by Claude Code's name for it, else by what its input carries."""
    if not tool:
        return ""
    return KINDS.get(tool) or ("mcp" if tool.startswith("mcp__") else _guess_kind(tool, given))


def _guess_kind(tool: str, given: Any) -> str:
    if is_shell_name(tool):
        return "shell"
    if isinstance(given, dict) and ("path" in given or "old_path" in given):
        command = given.get("command")
        if isinstance(command, str) and command in EDITOR_COMMANDS:
            return EDITOR_COMMANDS[command]
    return "shell" if carries_command(tool, given) else "other"


def kinds_of(tool: str, kind: str, given: Any) -> tuple[str, ...]:
    """Return every kind of a call: a tool of an MCP server that is given a command line is a shell call too."""
    return (kind, "shell") if kind == "mcp" and carries_command(tool, given) else (kind,)


def shell_alias(tool: str) -> tuple[str, ...]:
    """Return `Bash` for a shell call under another name; no Bash pattern describes what PowerShell is given."""
    return () if {"powershell", "pwsh"} & set(words_of(tool)) or tool == "Bash" else ("Bash",)


def names_of(*tools: str) -> tuple[str, ...]:
    """Return every name under which a matcher may find this tool: the given ones and their synonyms."""
    names = dict.fromkeys(name for name in tools if name)
    names.update(dict.fromkeys(also for name in tuple(names) for also in _ALSO.get(name, ())))
    return tuple(names)


def mcp_parts(tool: str) -> tuple[str, str]:
    """Return server and tool of an `mcp__server__tool` name; empty strings for any other tool."""
    prefix, _, rest = tool.partition("__")
    server, _, name = rest.partition("__")
    return (server, name) if prefix == "mcp" else ("", "")
