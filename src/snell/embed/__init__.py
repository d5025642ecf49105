"""
Snell inside Python agents: a tool runner with hooks, for authors of an agent loop.

    runner = ToolRunner([Tool("Bash", run=shell)], hooks={"PreToolUse": [HookMatcher(matcher="*", hooks=[look])]})
    result = runner.run("Bash", {"command": "ls"})
"""

from snell.embed.embedded_agent import PromptResult as PromptResult
from snell.embed.runner import ToolRunner as ToolRunner
from snell.embed.stream import AuthRequired as AuthRequired
from snell.embed.stream import Error as Error
from snell.embed.stream import HookExecuted as HookExecuted
from snell.embed.stream import IterationEnd as IterationEnd
from snell.embed.stream import Notice as Notice
from snell.embed.stream import SessionInfo as SessionInfo
from snell.embed.stream import Status as Status
from snell.embed.stream import Text as Text
from snell.embed.stream import Thinking as Thinking
from snell.embed.stream import ToolCalled as ToolCalled
from snell.embed.stream import ToolReturned as ToolReturned
from snell.embed.stream import WorkProduct as WorkProduct
from snell.embed.tool_call import Approval as Approval
from snell.embed.tool_call import Result as Result
from snell.embed.tools import Tool as Tool
from snell.runtime.callback_hooks import HookMatcher as HookMatcher
