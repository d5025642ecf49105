"""Codex CLI: Claude's form in a file of its own, and a review of every hook before it counts."""

from snell.model.installs import Install, Switch

INSTALL = Install(
    name="codex",
    title="Codex CLI",
    programs=("codex",),
    base="~/.codex",
    base_variable="CODEX_HOME",
    folders=("{base}",),
    form="groups",
    hooks={"user": "{base}/hooks.json", "project": ".codex/hooks.json"},
    events=(
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
    ),
    matcher="*",
    # Its hooks run in the login shell, whichever that is, and are approved by their text: it stays short and the same.
    ignores_missing=True,
    timeouts={"SessionEnd": 3},
    switches=(
        Switch(("allow_managed_hooks_only",), True, ("/etc/codex/requirements.toml",)),
        Switch(("features", "hooks"), False, (".codex/config.toml", "{base}/config.toml", "/etc/codex/config.toml")),
    ),
    mcp={"user": "{base}/config.toml", "project": ".codex/config.toml"},
    mcp_form="mcp_servers",
    mcp_format="toml",
    rules={"user": "{base}/AGENTS.md", "project": "AGENTS.md"},
    after=("open Codex and approve the hooks under /hooks; until then it skips them without a word",),
)
