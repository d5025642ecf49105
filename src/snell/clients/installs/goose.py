"""Goose: a plugin folder with a manifest; its servers are in a YAML file."""

from snell.model.installs import Install

INSTALL = Install(
    name="goose",
    title="Goose",
    programs=("goose",),
    base="~/.agents/plugins/snell",
    folders=("~/.config/goose",),
    form="goose",
    format="whole",
    hooks={"user": "{base}", "project": ".agents/plugins/snell"},
    events=(
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
    ),
    matcher=".*",
    mcp={"user": "~/.config/goose/config.yaml"},
    mcp_form="extensions",
    mcp_format="yaml",
    rules={"project": "AGENTS.md"},
    after=("start a new session",),
)
