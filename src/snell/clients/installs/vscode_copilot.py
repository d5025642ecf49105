"""Copilot in VS Code: reads Copilot's hook files; its local agent has MCP servers in a file of its own."""

from snell.model.installs import Install, Switch

INSTALL = Install(
    name="vscode_copilot",
    title="VS Code Copilot",
    programs=("code", "code-insiders"),
    base="~/.copilot",
    base_variable="COPILOT_HOME",
    folders=("~/.vscode", "~/.config/Code"),
    form="copilot",
    format="whole",
    hooks={"user": "{base}/hooks/snell.json", "project": ".github/hooks/snell.json"},
    events=(
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "Notification",
    ),
    switches=tuple(
        Switch(
            ("chat.hookFilesLocations", folder),
            False,
            (".vscode/settings.json", "~/.config/Code/User/settings.json"),
        )
        for folder in ("~/.copilot/hooks", ".github/hooks")
    ),
    mcp={"user": "~/.config/Code/User/mcp.json", "project": ".vscode/mcp.json"},
    mcp_form="servers",
    mcp_format="jsonc",
    rules={"project": "AGENTS.md"},
    reads=("claude-code:", "copilot:"),
    after=("start a new chat session",),
    remarks=("it shares Copilot's hook files",),
)
