"""
Snell inside Python agents: a tool runner with hooks, for authors of an agent loop.

    runner = ToolRunner([Tool("Bash", run=shell)], hooks={"PreToolUse": [HookMatcher(matcher="*", hooks=[look])]})
    result = runner.run("Bash", {"command": "ls"})

Names are imported on first use.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from snell.embed.embedded_agent import PromptResult
    from snell.embed.runner import ToolRunner
    from snell.embed.stream import (
        AuthRequired,
        Error,
        HookExecuted,
        IterationEnd,
        Notice,
        SessionInfo,
        Status,
        Text,
        Thinking,
        ToolCalled,
        ToolReturned,
        WorkProduct,
    )
    from snell.embed.tool_call import Approval, Result
    from snell.embed.tools import Tool
    from snell.runtime.callback_hooks import HookMatcher

_WHERE = {
    "ToolRunner": "snell.embed.runner",
    "Tool": "snell.embed.tools",
    "HookMatcher": "snell.runtime.callback_hooks",
    "PromptResult": "snell.embed.embedded_agent",
    "Approval": "snell.embed.tool_call",
    "Result": "snell.embed.tool_call",
}

__all__ = [
    "Approval",
    "AuthRequired",
    "Error",
    "HookExecuted",
    "HookMatcher",
    "IterationEnd",
    "Notice",
    "PromptResult",
    "Result",
    "SessionInfo",
    "Status",
    "Text",
    "Thinking",
    "Tool",
    "ToolCalled",
    "ToolReturned",
    "ToolRunner",
    "WorkProduct",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module `snell.embed` has no name `{name}`")
    from importlib import import_module

    return getattr(import_module(_WHERE.get(name, "snell.embed.stream")), name)
