"""
Look away.

Why      Whoever switches memory off does not expect to find what was said meanwhile in it, once it is on again.
What     While `[pack.remember] enabled = false`, the place up to which a transcript was read moves on unread.
Instead  Leave `enabled` out: then the pack is off as well, and a transcript is read from where it was left.
"""

from snell.model.context import Context
from snell.model.events import Event
from snell.packs.remember._skip_while_off import skip_while_off
from snell.sdk.decorators import watches


@watches("PreCompact", "Stop", "SessionEnd", timeout=30, waits=True)
def looks_away(event: Event, context: Context) -> None:
    """Move past what was said while memory is off."""
    skip_while_off(event, context)
