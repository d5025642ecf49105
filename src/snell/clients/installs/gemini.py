"""Gemini CLI: groups as Claude Code has them, its own event names, time limits in milliseconds."""

from snell.model.installs import Install, Switch

_FILES = ("/etc/gemini-cli/settings.json", ".gemini/settings.json", "{base}/settings.json")

INSTALL = Install(
    name="gemini",
    title="Gemini CLI",
    programs=("gemini",),
    base="~/.gemini",
    folders=("{base}/settings.json", "{base}/tmp"),
    form="gemini",
    format="jsonc",
    hooks={"user": "{base}/settings.json", "project": ".gemini/settings.json"},
    # PreCompress is left out: it fires before every request to the model, compaction or not.
    events=("SessionStart", "SessionEnd", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "Notification"),
    matcher=".*",
    switches=(
        Switch(("hooksConfig", "enabled"), False, _FILES),
        Switch(("hooksConfig", "disabled"), "snell", _FILES),
        Switch(("hooks", "enabled"), False, _FILES),
        Switch(("hooks", "disabled"), "snell", _FILES),
    ),
    mcp={"user": "{base}/settings.json", "project": ".gemini/settings.json"},
    mcp_format="jsonc",
    rules={"user": "{base}/GEMINI.md", "project": "GEMINI.md"},
    after=("trust the folder when Gemini CLI asks; in an untrusted one it runs no hooks at all",),
)
