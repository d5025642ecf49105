"""Cursor: flat entries under its own names; one unknown event name would void the whole file."""

from snell.model.installs import Install

INSTALL = Install(
    name="cursor",
    title="Cursor",
    programs=("cursor", "cursor-agent"),
    base="~/.cursor",
    folders=("{base}",),
    form="cursor",
    hooks={"user": "{base}/hooks.json", "project": ".cursor/hooks.json"},
    events=(
        "sessionStart",
        "sessionEnd",
        "beforeSubmitPrompt",
        "preToolUse",
        "postToolUse",
        "postToolUseFailure",
        "stop",
        "subagentStart",
        "subagentStop",
        "preCompact",
    ),
    session_start=("sessionStart",),
    mcp={"user": "{base}/mcp.json", "project": ".cursor/mcp.json"},
    rules={"project": "AGENTS.md"},
    after=("restart Cursor, and look at the Hooks page of its settings",),
    remarks=(
        "with third-party configurations switched on it also runs Claude Code's hook files",
        "in a project it reads no hook file that is a link, or that is in a linked folder",
    ),
)
