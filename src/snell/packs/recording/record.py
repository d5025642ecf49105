"""
Keep whole events, redacted.

Why      A decision keeps what it decided about; a replay of other events, and of hooks that need more, needs it all.
What     Each event goes into files of its day, with its marks and the kinds of the files that it names; the oldest
         files are deleted when all take more than `max_megabytes`.
Instead  `snell record off` ends it, `snell record off --delete` also deletes what was kept.
"""

from msgspec import Struct

from snell.model.catalogue import CATALOGUE
from snell.model.context import Context
from snell.model.events import Event, session_scope
from snell.packs.recording.files import KeptEvent, file_kinds, keep
from snell.records import marks
from snell.redact import redact_data
from snell.sdk.decorators import watches
from snell.system.json_output import json_value
from snell.system.wall_clock import now_ms

MEGABYTE = 1_048_576
SESSIONS = 256
# Not those that set-up registers only for a hook: an entry for WorktreeCreate alone replaces git's worktrees.
EVENTS = tuple(name for name, row in CATALOGUE.items() if not row.registered_for)


class _Last(Struct):
    marks: object = None


_last: dict[str, _Last] = {}  # by session, to write marks only when they have changed


@watches(*EVENTS, timeout=30)
def keep_event(event: Event, context: Context) -> None:
    """Keep one event in a file of its day."""
    limit = context.options.get("max_megabytes")
    if context.state is None or context.database is None or not isinstance(limit, int) or limit < 1:
        return
    now = now_ms()
    scope = session_scope(event)
    found = context.database.run(lambda tx: marks.in_scope(tx, scope), only_reads=True) if event.session_id else {}
    if len(_last) > SESSIONS:
        _last.clear()
    last = _last.setdefault(event.session_id, _Last())
    changed = found if found != last.marks else None
    last.marks = found
    payload = redact_data(json_value(event.payload))
    kept = KeptEvent(id=context.decision_id, at=now, payload=payload, files=file_kinds(event), marks=changed)
    keep(context.state, kept, limit * MEGABYTE)
