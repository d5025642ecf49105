"""
Detect why a turn ended.

Why      An agent that ran into a limit looks like one that is done.
What     The end of the transcript is read: the user is told of a rate limit or of a context that is used up; for the
         latter `snell run` starts a new window.
Instead  `enabled = false` in `[pack.sessions]`.
"""

from snell.model.context import Context
from snell.model.effects import Tell
from snell.model.events import Event
from snell.packs.sessions.caller import is_idle
from snell.sdk.decorators import informs
from snell.system.transcripts import tail_of
from snell.work.supervisor_state import SUPERVISOR, ask_for_restart, restart_prompt
from snell.work.transcript_end import find_failure

TEXTS = {
    "exhausted": "the context is used up; a new session continues the effort (`snell run -- AGENT` starts one)",
    "rate_limited": "the agent stopped at a rate limit; its work is not done",
}


@informs("Stop", "StopFailure")
def report_limit(event: Event, context: Context) -> Tell | None:
    """Tell the user when a turn ended because of a limit."""
    run = context.env.get(SUPERVISOR)
    if is_idle(context, event) and not run:
        return None
    trouble = find_failure(tail_of(event.transcript_path))
    if trouble == "exhausted" and run:
        ask_for_restart(event, context.marks, context.env, "exhausted", restart_prompt(None))
    return Tell(TEXTS[trouble]) if trouble else None
