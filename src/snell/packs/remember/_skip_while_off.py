"""What is said while nothing is to be captured must not be captured later, when it is switched on again."""

from snell.memory.transcript_position import is_session, is_transcript
from snell.model.context import Context
from snell.model.events import Event


def skip_while_off(event: Event, context: Context) -> None:
    """Move past what the transcript holds by now. Where nothing was ever captured, nothing is written either."""
    root = context.state / "memory" if context.state else None
    if root and (root / "state").is_dir() and is_session(event.session_id) and is_transcript(event.transcript_path):
        from snell.memory.transcript_capture import skip_to_end

        skip_to_end(root, event.session_id, event.transcript_path)
