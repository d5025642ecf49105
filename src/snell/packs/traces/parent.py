"""
Join traces to those of the client.

Why      A client with telemetry of its own, or the program that started it, may have begun a trace.
What     At the start of a session the TRACEPARENT of the client's environment is kept, and an exporter that has ended
         is started again.
Instead  `enabled = false` in `[pack.traces]` sends nothing.
"""

import re
import threading
from collections.abc import Sequence
from typing import Any

from snell.model.context import Context
from snell.model.events import Event
from snell.packs.traces.service import serve_again
from snell.sdk.decorators import informs

MOST = 200  # sessions; the exporter needs a parent only until it has read the session's first event
# The ids of a trace and of the span in it that is the parent; zeros are no ids.
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}")


@informs("SessionStart")
def keep_parent(event: Event, context: Context) -> None:
    """Keep the trace that the session belongs to."""
    parent = _TRACEPARENT.fullmatch(context.env.get("TRACEPARENT", ""))
    if event.session_id and parent:
        context.marks.change("traces", "parents", lambda known: _with(known, event.session_id, parent.groups()))
    threading.Thread(target=serve_again, name="snell-traces", daemon=True).start()


def _with(known: Any, session_id: str, parent: Sequence[str]) -> dict[str, Any]:
    others = [(name, value) for name, value in (known or {}).items() if name != session_id]
    return dict([*others, (session_id, parent)][-MOST:])
