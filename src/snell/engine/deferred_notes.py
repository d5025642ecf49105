"""
Notes that wait. A note on a stop would keep the agent going, so it waits for the next prompt; a note from a hook in the
background, or on an event where the client would drop it, waits for the next event that can carry one. So does a
message for the user.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from snell.engine.aggregate import cut_to_budget
from snell.model.catalogue import CATALOGUE, TURN_ENDS
from snell.model.decision import Decision, Reason
from snell.model.effects import Verdict
from snell.model.events import Event, session_scope
from snell.model.protocols import Store

HELD_NOTES = "held_notes"  # the mark of a session that holds them


def deliver_or_hold(decision: Decision, marks: Store) -> Decision:
    """Add the notes that were waiting for an event like this one; hold those that cannot go out now."""
    event = decision.event
    if event.name in TURN_ENDS:
        return _hold_notes(decision, marks, "prompt") if decision.notes else decision
    if not event.takes_notes:
        return _hold_notes(decision, marks, "event") if decision.notes else decision
    waiting = marks.get(session_scope(event), HELD_NOTES)
    # On an event that the catalogue does not list the note may not reach the model, and would be lost.
    carries = waiting and "note" in event.row.can and event.name in CATALOGUE
    return _with_waiting(decision, marks) if carries else decision


def hold(event: Event, notes: Iterable[Reason], marks: Store, until: str) -> None:
    """Keep notes until the next `prompt` or `event` that can carry them; `until="user"` is a message for the user."""
    added = [[until, note.hook, note.text] for note in notes]
    # Several hooks in the background may end at once, and an event may take the notes meanwhile.
    marks.change(session_scope(event), HELD_NOTES, lambda waiting: [*(waiting or []), *added])


def _hold_notes(decision: Decision, marks: Store, until: str) -> Decision:
    if decision.verdict is Verdict.DENY:
        return decision  # the note goes with the reason
    # The same note at every call is kept once.
    waiting = (marks.get(session_scope(decision.event), HELD_NOTES) or []) if until == "event" else []
    fresh = [note for note in decision.notes if [until, note.hook, note.text] not in waiting]
    hold(decision.event, fresh, marks, until=until)
    return replace(decision, notes=(), merge=(*decision.merge, f"notes wait for the next {until}"))


def _with_waiting(decision: Decision, marks: Store) -> Decision:
    event = decision.event
    due: list[list[str]] = []

    def without_due(waiting: list[list[str]] | None) -> list[list[str]]:
        due[:] = [each for each in waiting or [] if each[0] != "prompt" or event.row.takes_held_notes]
        return [each for each in waiting or [] if each not in due]

    marks.change(session_scope(event), HELD_NOTES, without_due)
    notes = (*(Reason(hook, text) for until, hook, text in due if until != "user"), *decision.notes)
    tells = (*decision.tells, *(Reason(hook, text) for until, hook, text in due if until == "user"))
    return replace(decision, notes=cut_to_budget(decision.reasons, notes)[1], tells=tells)
