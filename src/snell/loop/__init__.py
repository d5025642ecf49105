"""
For people who write an agent loop of their own:

    runner = ToolRunner([Tool("Bash", run=shell)], hooks={"PreToolUse": [HookMatcher(matcher="*", hooks=[look])]})
    result = runner.run("Bash", {"command": "ls"})

Names are looked up when they are first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from snell.loop.runner import ToolRunner
    from snell.loop.stream import (
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
    from snell.loop.tools import Tool
    from snell.runtime.callbacks import HookMatcher
    from snell.runtime.embedding import Submitted
    from snell.runtime.tool_call import Approval, Result

_WHERE = {
    "ToolRunner": "snell.loop.runner",
    "Tool": "snell.loop.tools",
    "HookMatcher": "snell.runtime.callbacks",
    "Submitted": "snell.runtime.embedding",
    "Approval": "snell.runtime.tool_call",
    "Result": "snell.runtime.tool_call",
}

__all__ = [
    "Approval",
    "AuthRequired",
    "Error",
    "HookExecuted",
    "HookMatcher",
    "IterationEnd",
    "Notice",
    "Result",
    "SessionInfo",
    "Status",
    "Submitted",
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
        raise AttributeError(f"module `snell.loop` has no name `{name}`")
    from importlib import import_module

    return getattr(import_module(_WHERE.get(name, "snell.loop.stream")), name)
