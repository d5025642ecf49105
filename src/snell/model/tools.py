"""
Tool kinds that hold across clients.

A hook written for `kind="shell"` works wherever an agent runs commands. Clients translate their own tool names
into Claude Code's; this table has the kind of each of those. The kind of any other tool follows from its name and from
what its input carries: a command line, a path with or without a text, a patch, an address, SQL.
"""

from collections.abc import Mapping
from typing import Any

from snell.model.call_contents import contents_of
from snell.model.command_lines import carries_command
from snell.model.tool_names import is_powershell, is_shell_name, is_skill_name

KINDS: Mapping[str, str] = {
    **dict.fromkeys(("Bash", "PowerShell"), "shell"),
    # `Delete` is not Claude Code's, which has none; a hook that guards a file must see it.
    **dict.fromkeys(("Edit", "Delete", "MultiEdit", "NotebookEdit"), "edit"),
    "Write": "write",
    **dict.fromkeys(("Read", "NotebookRead"), "read"),
    **dict.fromkeys(("Grep", "Glob", "LS", "ToolSearch"), "search"),
    **dict.fromkeys(("WebFetch", "WebSearch"), "web"),
    **dict.fromkeys(("Agent", "Task"), "agent"),
    "Skill": "skill",
}

# The `command` of an editor that takes one, together with a path: Anthropic's text editor and memory tools, and others.
EDITOR_COMMANDS: Mapping[str, str] = {
    "view": "read",
    "create": "write",
    **dict.fromkeys(("str_replace", "insert", "delete", "rename", "undo_edit"), "edit"),
}

ALL_KINDS = ("shell", "edit", "write", "read", "search", "web", "database", "mcp", "agent", "skill", "other")

# A renamed tool answers to both names, so that a matcher written for the old one keeps working. A patch may write files
# as well as edit them, whatever the client calls it.
_ALSO = {
    "Task": ("Agent",),
    "Agent": ("Task",),
    **dict.fromkeys(("apply_patch", "Delete", "ApplyPatch", "patch"), ("Edit", "Write")),
}


def kind_of(tool: str, given: Any = None) -> str:
    """Return the kind of a tool, by Claude Code's name for it, else by what its input carries."""
    if not tool:
        return ""
    return KINDS.get(tool) or ("mcp" if tool.startswith("mcp__") else _guess_kind(tool, given))


def _guess_kind(tool: str, given: Any) -> str:
    if is_shell_name(tool):
        return "shell"
    if is_skill_name(tool):
        return "skill"
    if isinstance(given, dict) and ("path" in given or "old_path" in given):
        command = given.get("command")
        if isinstance(command, str) and command in EDITOR_COMMANDS:
            return EDITOR_COMMANDS[command]
    return "shell" if carries_command(tool, given) else contents_of(tool, given).kind or "other"


def kinds_of(tool: str, kind: str, given: Any) -> tuple[str, ...]:
    """Return every kind of a call: a tool of an MCP server is also what its input makes it, such as a shell."""
    if kind != "mcp":
        return (kind,)
    carried = "shell" if carries_command(tool, given) else contents_of(tool, given).kind
    return (kind, carried) if carried else (kind,)


def alias_of(tool: str, kinds: tuple[str, ...]) -> tuple[str, ...]:
    """
    Return Claude Code's name for a tool that does the same, for matchers.

    A tool of an MCP server is only an alias of `Bash`. No Bash pattern describes what PowerShell is given.
    """
    if "shell" in kinds:
        return () if is_powershell(tool) or tool == "Bash" else ("Bash",)
    return () if tool in KINDS or kinds[0] not in _ALIASES else (_ALIASES[kinds[0]],)


_ALIASES = {"edit": "Edit", "write": "Write", "read": "Read", "web": "WebFetch"}


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
