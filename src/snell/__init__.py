"""
One hook runtime for every AI coding agent.

    from snell import Deny, ShellCall, judges

Names are looked up when they are first used, so that `import snell` itself loads nothing.
"""

TYPE_CHECKING = False  # what type checkers know by this name; importing `typing` would cost more than all of Snell

if TYPE_CHECKING:
    from snell.embed.runner import ToolRunner
    from snell.embed.tools import Tool
    from snell.model.decision import Decision, Outcome
    from snell.model.effects import Allow, Ask, Defer, Deny, Env, Extra, Note, Remark, Rewrite, Stop, Tell, Verdict
    from snell.model.events import Event
    from snell.model.hooks import Hook, Scope
    from snell.runtime.app import Runtime
    from snell.runtime.callback_hooks import HookMatcher
    from snell.sdk.decorators import informs, judges, rewrites, watches
    from snell.sdk.subjects import (
        AgentCall,
        AgentRun,
        Compaction,
        DatabaseCall,
        EditCall,
        FileEvent,
        McpCall,
        Notification,
        Prompt,
        ReadCall,
        SearchCall,
        Session,
        ShellCall,
        SkillCall,
        Task,
        ToolCall,
        Turn,
        WebCall,
        WriteCall,
    )

_WHERE = {
    "snell.sdk.decorators": "informs judges rewrites watches",
    "snell.sdk.subjects": (
        "AgentCall AgentRun Compaction DatabaseCall EditCall FileEvent McpCall Notification Prompt ReadCall SearchCall "
        "Session ShellCall SkillCall Task ToolCall Turn WebCall WriteCall"
    ),
    "snell.embed.runner": "ToolRunner",
    "snell.embed.tools": "Tool",
    "snell.model.decision": "Decision Outcome",
    "snell.model.effects": "Allow Ask Defer Deny Env Extra Note Remark Rewrite Stop Tell Verdict",
    "snell.model.events": "Event",
    "snell.model.hooks": "Hook Scope",
    "snell.runtime.callback_hooks": "HookMatcher",
    "snell.runtime.app": "Runtime",
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names.split()}

__all__ = [
    "AgentCall",
    "AgentRun",
    "Allow",
    "Ask",
    "Compaction",
    "DatabaseCall",
    "Decision",
    "Defer",
    "Deny",
    "EditCall",
    "Env",
    "Event",
    "Extra",
    "FileEvent",
    "Hook",
    "HookMatcher",
    "McpCall",
    "Note",
    "Notification",
    "Outcome",
    "Prompt",
    "ReadCall",
    "Remark",
    "Rewrite",
    "Runtime",
    "Scope",
    "SearchCall",
    "Session",
    "ShellCall",
    "SkillCall",
    "Stop",
    "Task",
    "Tell",
    "Tool",
    "ToolCall",
    "ToolRunner",
    "Turn",
    "Verdict",
    "WebCall",
    "WriteCall",
    "informs",
    "judges",
    "rewrites",
    "watches",
]


def __getattr__(name: str) -> object:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module `snell` has no name `{name}`")
    from importlib import import_module

    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
