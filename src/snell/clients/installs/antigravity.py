"""Antigravity: a group of ours in one global file, where a mistake would refuse every tool of every session."""

from snell.model.installs import Install

INSTALL = Install(
    name="antigravity",
    title="Antigravity",
    programs=("agy", "antigravity"),
    base="~/.gemini/config",
    folders=("{base}", "~/.antigravity"),
    form="antigravity",
    # The project's own file is ignored by some versions, so everything goes into the user's.
    hooks={"user": "{base}/hooks.json", "project": ".agents/hooks.json"},
    events=("SessionStart", "PreInvocation", "PreToolUse", "PostToolUse", "Stop"),
    matcher="*",
    # Nothing at all, and a command that is not found, are refusals in several versions.
    neutral={"PreToolUse": '{"decision":"allow"}', "": "{}"},
    refusal='{"decision":"deny","reason":"snell-hook is not installed, and nothing may run unchecked"}',
    mcp={"user": "{base}/mcp_config.json", "project": ".agents/mcp_config.json"},
    rules={"user": "~/.gemini/GEMINI.md", "project": "AGENTS.md"},
    after=("restart Antigravity",),
)
