"""
Ask for a hand-over before the context is full.

Why      A model whose context runs out forgets its work in the middle of a step.
What     Once a session, when the context has more than `handoff_tokens`, the model is asked to write a summary.
Instead  Raise `handoff_tokens`. The number comes from the client's status line, if `snell setup` has connected it.
"""

from typing import Any

from snell.model.context import Context
from snell.model.effects import Note
from snell.model.events import Event
from snell.sdk.decorators import informs

REMINDED, USAGE = "harness/handoff", "context_usage"


@informs("PostToolUse", "UserPromptSubmit")
def ask_for_handover(event: Event, context: Context) -> Note | None:
    """Ask for a hand-over when the context is nearly full."""
    scope = f"session:{event.session_id}"
    if not is_due(context.marks.get(scope, USAGE), context) or context.marks.get(scope, REMINDED):
        return None
    context.marks.put(scope, REMINDED, True)
    return Note(
        "The context is nearly full. Write down now what is done, what is not, and where to go on; then finish."
    )


def is_due(usage: Any, context: Context) -> bool:
    """Whether the context has more tokens than the limit."""
    tokens = usage.get("tokens") if isinstance(usage, dict) else usage
    if context.env.get("SNELL_DEBUG_HANDOFF"):
        return True
    return isinstance(tokens, int | float) and tokens > context.options.get("handoff_tokens", 180_000)
