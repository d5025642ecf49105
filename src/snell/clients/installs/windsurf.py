"""Windsurf, now Devin Desktop: an exit code is all it reads."""

from snell.model.installs import Install

INSTALL = Install(
    name="windsurf",
    title="Windsurf (Devin Desktop)",
    programs=("windsurf", "devin-desktop"),
    base="~/.codeium/windsurf",
    folders=("{base}",),
    form="windsurf",
    hooks={"user": "{base}/hooks.json", "project": ".windsurf/hooks.json"},
    events=(
        "pre_user_prompt",
        "pre_read_code",
        "pre_write_code",
        "pre_run_command",
        "pre_mcp_tool_use",
        "post_read_code",
        "post_write_code",
        "post_run_command",
        "post_mcp_tool_use",
        "post_cascade_response",
    ),
    session_start=(),
    mcp={"user": "{base}/mcp_config.json"},
    rules={"project": "AGENTS.md"},
    after=("restart Windsurf",),
    remarks=("Devin Local and the Devin CLI are other programs with hooks of their own, which this does not set up",),
)
