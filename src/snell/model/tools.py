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
    "Delete": "edit",  # not Claude Code's, which has none; whoever guards a file wants to hear of it
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


def kind_of(tool: str) -> str:
    """The kind of a tool, by Claude Code's name for it."""
    if not tool:
        return ""
    return KINDS.get(tool) or ("mcp" if tool.startswith("mcp__") else "other")


def names_of(*tools: str) -> tuple[str, ...]:
    """Every name under which a matcher may find this tool: the given ones and what else they are called."""
    names = dict.fromkeys(name for name in tools if name)
    names.update(dict.fromkeys(also for name in tuple(names) for also in _ALSO.get(name, ())))
    return tuple(names)


def mcp_parts(tool: str) -> tuple[str, str]:
    """Server and tool of an `mcp__server__tool` name; empty strings for any other tool."""
    prefix, _, rest = tool.partition("__")
    server, _, name = rest.partition("__")
    return (server, name) if prefix == "mcp" else ("", "")
