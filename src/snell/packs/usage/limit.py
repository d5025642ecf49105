"""
Keep a session within a number of tokens.

Why      A session that goes in circles costs more than anyone meant to spend.
What     Before each tool call the tokens in the session's transcript are counted, with those of its sub-agents and
         without those read from the cache. At `session_tokens` the user is asked, and an approval lets the session use
         as many again; with `at_limit = "stop"` no tool runs any more.
Instead  Set a higher `session_tokens` in `[pack.usage]`, or begin another session.
"""

from snell.model.context import Context
from snell.model.effects import Ask, Deny, Effect, Stop
from snell.model.events import Event, persistent_scope
from snell.sdk.decorators import informs, judges
from snell.sdk.subjects import ToolCall

ASKED, ALLOWED = "usage/asked", "usage/allowed"


@judges("PreToolUse", waits=True)
def ask_at_limit(call: ToolCall, event: Event, context: Context) -> list[Effect] | None:
    """Ask or stop at the limit."""
    scope, most = persistent_scope(event.session_id), _limit(context)
    allowed = context.marks.get(scope, ALLOWED) or most
    if not most:
        return None
    spent = call.usage.tokens_spent
    if spent < allowed:
        return None
    text = f"this session has used {spent:,} tokens, and its limit is {allowed:,}"
    if context.options.get("at_limit") == "stop":
        return [Deny(text, instead="stop now, and say what is left to do"), Stop(text)]
    context.marks.put(scope, ASKED, {"id": call.id})
    return [Ask(f"{text}; if you approve, it may use {most:,} more")]


@informs("PostToolUse", waits=True)
def extend_limit(call: ToolCall, event: Event, context: Context) -> None:
    """Let the session use as many again when the call that was asked about has run."""
    scope = persistent_scope(event.session_id)
    if context.marks.get(scope, ASKED) == {"id": call.id}:
        context.marks.put(scope, ALLOWED, call.usage.tokens_spent + _limit(context))
        context.marks.drop(scope, ASKED)


def _limit(context: Context) -> int:
    value = context.options.get("session_tokens")
    return value if isinstance(value, int) and value > 0 else 0
