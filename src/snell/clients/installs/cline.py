"""Cline: one executable per event, named after it."""

from snell.model.installs import Install

INSTALL = Install(
    name="cline",
    title="Cline",
    programs=("cline",),
    base="~/.cline",
    folders=("{base}", "~/Documents/Cline"),
    form="scripts",
    format="whole",
    hooks={"user": "{base}/hooks", "project": ".clinerules/hooks"},
    events=("TaskStart", "TaskResume", "UserPromptSubmit", "PreToolUse", "PostToolUse", "TaskComplete", "TaskCancel"),
    refusal='{"cancel":true,"errorMessage":"snell-hook is not installed, and nothing may run unchecked"}',
    session_start=("TaskStart", "TaskResume"),
    mcp={"user": "{base}/data/settings/cline_mcp_settings.json"},
    rules={"project": "AGENTS.md"},
    after=("start a new task",),
    remarks=("a refused call ends the whole run in Cline",),
)
