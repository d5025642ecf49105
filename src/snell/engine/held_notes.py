"""
Notes that wait. A note given while the agent stops would keep it going, so it waits for the next prompt; a note from
a hook that ran in the background waits for the next event that can carry one.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from snell.engine.budget import within_budget
from snell.model.catalogue import CATALOGUE, TURN_ENDS
from snell.model.decision import Decision, Reason
from snell.model.effects import Verdict
from snell.model.events import Event
from snell.model.ports import Store

PROMPTS = frozenset({"UserPromptSubmit", "SessionStart"})


def deliver_or_hold(decision: Decision, marks: Store) -> Decision:
    """Add the notes that were waiting for an event like this one; hold those that cannot go out now."""
    event = decision.event
    if event.name in TURN_ENDS:
        return _held(decision, marks) if decision.notes else decision
    waiting = marks.get(_scope(event), "held_notes")
    # An event that the catalogue does not list may reach no model at all, and the note would be lost.
    carries = waiting and "note" in event.row.can and event.name in CATALOGUE
    return _with(waiting, decision, marks) if carries else decision


def hold(event: Event, notes: Iterable[Reason], marks: Store, until: str) -> None:
    """Keep notes until the next prompt (`until="prompt"`) or the next event that can carry them (`"event"`)."""
    waiting = marks.get(_scope(event), "held_notes") or []
    added = [[until, note.hook, note.text] for note in notes]
    marks.put(_scope(event), "held_notes", [*waiting, *added])


def _held(decision: Decision, marks: Store) -> Decision:
    if decision.verdict is Verdict.DENY:
        return decision  # the turn goes on, and the note with it
    hold(decision.event, decision.notes, marks, until="prompt")
    return replace(decision, notes=(), merge=(*decision.merge, "notes wait for the next prompt"))


def _with(waiting: list[list[str]], decision: Decision, marks: Store) -> Decision:
    event = decision.event
    due = [each for each in waiting if each[0] == "event" or event.name in PROMPTS]
    marks.put(_scope(event), "held_notes", [each for each in waiting if each not in due])
    notes = (*(Reason(hook, text) for _, hook, text in due), *decision.notes)
    return replace(decision, notes=within_budget(decision.reasons, notes)[1])


def _scope(event: Event) -> str:
    return f"session:{event.session_id}"
