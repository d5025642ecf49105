"""
Tool kinds that hold across clients.

A hook written for `kind="shell"` works wherever an agent runs commands. Clients translate their own tool names
into Claude Code's; this table says which kind each of those is.
"""

from collections.abc import Mapping

KINDS: Mapping[str, str] = {
    "Bash": "shell",
    "PowerShell": "shell",
    "Edit": "edit",
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

ALL_KINDS = ("shell", "edit", "write", "read", "search", "web", "mcp", "agent", "skill", "other")

# A renamed tool answers to both names, so that a matcher written for the old one keeps working.
_RENAMED = {"Task": "Agent", "Agent": "Task"}


def kind_of(tool: str) -> str:
    """The kind of a tool, by Claude Code's name for it."""
    if not tool:
        return ""
    return KINDS.get(tool) or ("mcp" if tool.startswith("mcp__") else "other")


def names_of(*tools: str) -> tuple[str, ...]:
    """Every name under which a matcher may find this tool: the given ones and what they were called before."""
    names = dict.fromkeys(name for name in tools if name)
    names.update(dict.fromkeys(_RENAMED[name] for name in tuple(names) if name in _RENAMED))
    return tuple(names)


def mcp_parts(tool: str) -> tuple[str, str]:
    """Server and tool of an `mcp__server__tool` name; empty strings for any other tool."""
    prefix, _, rest = tool.partition("__")
    server, _, name = rest.partition("__")
    return (server, name) if prefix == "mcp" else ("", "")
