"""Further stories: how each client's model calls memory and sends a sub-agent, and what cannot be shown there."""

import json
from collections.abc import Callable, Mapping
from typing import Any

Call = tuple[str, dict[str, Any]]

# A tool of Snell's MCP server, as the client's model calls it.
MEMORY: Mapping[str, Callable[[str, dict[str, Any]], Call]] = {
    "claude-code": lambda name, given: (f"mcp__snell__{name}", given),
    "codex": lambda name, given: (f"mcp__snell/{name}", given),
    "gemini": lambda name, given: (f"mcp_snell_{name}", given),
    "copilot": lambda name, given: (f"snell-{name}", given),
    "qwen": lambda name, given: ("tool_call", {"name": f"mcp__snell__{name}", "arguments": given}),
    "droid": lambda name, given: (f"snell___{name}", given),
    "grok": lambda name, given: ("use_tool", {"tool_name": f"snell__{name}", "tool_input": given}),
    "kimi": lambda name, given: (f"mcp__snell__{name}", given),
    "opencode": lambda name, given: (f"snell_{name}", given),
}
CHILD_TASK = "CHILD-WORK: look around"
_ASKED = {"description": "child", "prompt": CHILD_TASK}
# The call that sends a sub-agent, and what its model is given when there is nothing to do but wait.
CHILDREN: Mapping[str, Call] = {
    "claude-code": ("Agent", {**_ASKED, "subagent_type": "general-purpose", "run_in_background": False}),
    "codex": ("multi_agent_v1/spawn_agent", {"message": CHILD_TASK}),
    "copilot": ("task", {**_ASKED, "agent_type": "general-purpose", "name": "child", "mode": "sync"}),
    "qwen": ("agent", {**_ASKED, "subagent_type": "general-purpose", "run_in_background": False}),
    "grok": ("spawn_subagent", {**_ASKED, "background": False}),
}
WAITS: Mapping[str, Call] = {"codex": ("multi_agent_v1/wait_agent", {"timeout_ms": 10_000})}

REDIRECT, REMEMBER, SEND_BACK = "redirected", "remembered", "sub-agent sent back"
SKILL_HOOKS, ASK, WARNING = "skill's hooks", "asked at a terminal", "warning of a failed hook"
STORIES = (REDIRECT, REMEMBER, SKILL_HOOKS, SEND_BACK, ASK, WARNING)

# Where a story is told otherwise, or cannot be: for each client, in the words of the documentation.
INSTEAD: Mapping[str, Mapping[str, str]] = {
    "claude-code": {},
    "codex": {ASK: "refused with the reason"},
    "gemini": {SEND_BACK: "reports no sub-agents"},
    "copilot": {WARNING: "shows no message of a hook"},
    "qwen": {
        REDIRECT: "refused, and shown",
        ASK: "refused in `yolo` mode",
        WARNING: "does not show it",
    },
    "droid": {
        REDIRECT: "refused, and shown",
        SEND_BACK: "ignores the answer",
        ASK: "refused with the reason",
        WARNING: "after Ctrl+O",
    },
    "grok": {
        SKILL_HOOKS: "no tool starts skills",
        ASK: "refused with `--always-approve`",
        WARNING: "shows no message of a hook",
    },
    "kimi": {
        REDIRECT: "refused, and shown",
        SEND_BACK: "ignores the answer",
        ASK: "refused with the reason",
        WARNING: "shows no message of a hook",
    },
    "cline": {
        REMEMBER: "its CLI does not offer the server",
        SKILL_HOOKS: "no tool starts skills",
        SEND_BACK: "reports no sub-agents",
        ASK: "refused, which ends the run",
        WARNING: "shows no message of a hook",
    },
    "opencode": {SEND_BACK: "ignores the answer", ASK: "refused with the reason", WARNING: "not seen on the screen"},
    "pi": {REMEMBER: "no MCP", SEND_BACK: "no sub-agents", ASK: "refused with the reason"},
    "cursor": {
        REMEMBER: "the test supplies only a shell",
        SKILL_HOOKS: "the test supplies only a shell",
        SEND_BACK: "the test supplies only a shell",
        ASK: "its SDK has no terminal",
        WARNING: "its SDK has no terminal",
    },
}


def said_so_far(asked: dict[str, Any]) -> str:
    """The conversation in a request to the model, without the tools that are offered."""
    return json.dumps(asked.get("messages") or asked.get("input") or asked.get("contents"))
