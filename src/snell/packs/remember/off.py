"""
Skip transcripts while memory is off.

Why      A user who disables memory does not expect it to contain what was written meanwhile, once it is enabled again.
What     While `[pack.remember] enabled = false`, the position in a transcript moves to its end without reading it.
Instead  Leave `enabled` out: then the pack is off as well, and a transcript is later read from where it was left.
"""

from snell.memory.capture import inbox_of
from snell.memory.transcript_position import is_session, is_transcript
from snell.model.context import Context
from snell.model.events import Event
from snell.sdk.decorators import watches


@watches("PreCompact", "Stop", "SessionEnd", timeout=30, waits=True)
def skip_capture(event: Event, context: Context) -> None:
    """Skip what was written while memory is off."""
    skip_while_off(event, context)


def skip_while_off(event: Event, context: Context) -> None:
    """Move the position to the end of the transcript. If nothing was ever captured, nothing is written either."""
    inbox = inbox_of(context)
    root = inbox and inbox.root
    if root and (root / "state").is_dir() and is_session(event.session_id) and is_transcript(event.transcript_path):
        from snell.memory.transcript_capture import skip_to_end

        skip_to_end(root, event.session_id, event.transcript_path)
