"""Grok Build: every file of its hooks folder counts; a matcher for all tools is left out."""

from snell.model.installs import Install

INSTALL = Install(
    name="grok",
    title="Grok Build",
    programs=("grok",),
    base="~/.grok",
    folders=("{base}",),
    form="own_file",
    format="whole",
    hooks={"user": "{base}/hooks/snell.json", "project": ".grok/hooks/snell.json"},
    events=(
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "StopFailure",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Notification",
        "PermissionDenied",
    ),
    mcp={"user": "{base}/config.toml", "project": ".grok/config.toml"},
    mcp_form="mcp_servers",
    mcp_format="toml",
    rules={"user": "{base}/AGENTS.md", "project": "AGENTS.md"},
    reads=("claude-code:",),
    after=("in a project: trust the folder when Grok asks; project hooks are skipped before that",),
    remarks=("it also runs Claude Code's hook files; `[compat.claude] hooks = false` in its config.toml stops that",),
)
