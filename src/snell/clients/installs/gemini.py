"""Gemini CLI: groups as Claude Code has them, its own event names, time limits in milliseconds."""

from snell.model.installs import Install

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
    mcp={"user": "{base}/settings.json", "project": ".gemini/settings.json"},
    mcp_format="jsonc",
    rules={"user": "{base}/GEMINI.md", "project": "GEMINI.md"},
    after=("trust the folder when Gemini CLI asks; in an untrusted one it runs no hooks at all",),
)
