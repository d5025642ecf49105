"""
One line with every prompt: session, skill, phase, heartbeat.

Why      A model that does not know where its work stands asks, or guesses.
What     Under a hundred tokens, only where an effort is active.
Instead  `enabled = false` in `[pack.sessions]`.
"""

from snell.model.context import Context
from snell.model.effects import Note
from snell.model.events import Event
from snell.packs.sessions.caller import caller_of, common, in_transaction, is_idle
from snell.sdk.decorators import informs
from snell.work import hook_arguments, session_events


@informs("UserPromptSubmit")
def context(event: Event, context: Context) -> Note | None:
    """Say where the work stands."""
    if is_idle(context, event):
        return None
    call = hook_arguments.UserPrompt(**common(event), prompt="")
    said = in_transaction(context, lambda tx: session_events.user_prompt(tx, call, caller_of(event, context)))
    return Note(said["sessionContext"]) if said and said["sessionContext"] else None
