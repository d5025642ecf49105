"""Notes that wait for an event that can carry them."""

import pytest
from msgspec.structs import replace

from snell.engine.aggregate import LIMIT
from snell.engine.deferred_notes import hold
from snell.model.decision import Reason
from snell.model.effects import Deny, Note, Stop
from snell.model.events import Event
from snell.store.in_memory import InMemoryStore
from tests.helpers import call, decide_event, event, hook, summary_of


def notes_on(on: Event, marks: InMemoryStore) -> list[tuple[str, str]]:
    return summary_of(decide_event(on, marks=marks)).get("notes", [])


@pytest.mark.parametrize("name", ["Stop", "SubagentStop"])
@pytest.mark.parametrize("prompt", ["UserPromptSubmit", "SessionStart"])
def test_a_note_given_at_the_end_of_a_turn_waits_for_the_next_prompt(name: str, prompt: str) -> None:
    marks = InMemoryStore()
    decision = decide_event(event(name), hook("a", Note("remember"), on=name), marks=marks)
    assert (summary_of(decision), decision.merge) == ({"verdict": "no_opinion"}, ("notes wait for the next prompt",))
    assert notes_on(call(), marks) == []
    assert [notes_on(event(prompt), marks) for _ in range(2)] == [[("a", "remember")], []]


def test_a_note_beside_a_block_of_stop_goes_out_at_once() -> None:
    marks = InMemoryStore()
    hooks = [hook("a", Note("remember"), on="Stop"), hook("b", Deny("not done"), on="Stop")]
    assert summary_of(decide_event(event("Stop"), *hooks, marks=marks)) == {
        "verdict": "deny",
        "reasons": [("b", "not done")],
        "notes": [("a", "remember")],
    }
    assert notes_on(event("UserPromptSubmit"), marks) == []


def test_a_note_where_the_client_would_drop_it_waits_for_the_next_event_that_carries_one_and_is_said_once() -> None:
    marks = InMemoryStore()
    deaf = replace(call(), takes_notes=False)
    for _ in range(2):
        decision = decide_event(deaf, hook("a", Note("remember")), marks=marks)
        assert (summary_of(decision), decision.merge) == ({"verdict": "no_opinion"}, ("notes wait for the next event",))
    assert [notes_on(each, marks) for each in (deaf, call(), call())] == [[], [("a", "remember")], []]


def test_a_note_beside_a_refusal_goes_with_its_reason_even_where_the_client_takes_none() -> None:
    deaf = replace(call(), takes_notes=False)
    decision = decide_event(deaf, hook("a", (Deny("no"), Note("remember"))))
    assert summary_of(decision) == {"verdict": "deny", "reasons": [("a", "no")], "notes": [("a", "remember")]}


def test_a_note_beside_the_stop_effect_waits() -> None:
    marks = InMemoryStore()
    hooks = [hook("a", (Note("remember"), Stop("enough")), on="Stop"), hook("b", Deny("not done"), on="Stop")]
    assert summary_of(decide_event(event("Stop"), *hooks, marks=marks)) == {
        "verdict": "no_opinion",
        "stop": ("a", "enough"),
    }
    assert notes_on(event("UserPromptSubmit"), marks) == [("a", "remember")]


def test_a_late_note_goes_out_with_the_next_event_that_can_carry_one() -> None:
    marks = InMemoryStore()
    hold(event("PreToolUse"), [Reason("late", "the build is red")], marks, until="event")
    carried = [notes_on(event(name), marks) for name in ("Notification", "Stop", "PostToolUse", "PreToolUse")]
    assert carried == [[], [], [("late", "the build is red")], []]


def test_waiting_notes_come_before_those_of_the_event_in_the_order_they_came() -> None:
    marks = InMemoryStore()
    hold(event("Stop"), [Reason("a", "1")], marks, until="prompt")
    hold(event("Stop"), [Reason("b", "2"), Reason("c", "3")], marks, until="event")
    decision = decide_event(event("UserPromptSubmit"), hook("d", Note("4"), on="UserPromptSubmit"), marks=marks)
    assert decision.note == "1\n2\n3\n4"


def test_a_note_for_the_next_prompt_does_not_leave_with_a_late_one() -> None:
    marks = InMemoryStore()
    hold(event("Stop"), [Reason("a", "for the prompt")], marks, until="prompt")
    hold(event("Stop"), [Reason("b", "for any event")], marks, until="event")
    assert notes_on(call(), marks) == [("b", "for any event")]
    assert notes_on(event("UserPromptSubmit"), marks) == [("a", "for the prompt")]


def test_notes_wait_for_their_own_session() -> None:
    marks = InMemoryStore()
    hold(event("Stop"), [Reason("a", "1")], marks, until="event")
    assert notes_on(call(session_id="s2"), marks) == []
    assert notes_on(call(), marks) == [("a", "1")]


def test_waiting_notes_keep_to_the_budget() -> None:
    marks = InMemoryStore()
    hold(event("Stop"), [Reason(f"h{n}", "x" * 1000) for n in range(20)], marks, until="prompt")
    notes = decide_event(event("UserPromptSubmit"), marks=marks).notes
    assert sum(len(note.text) for note in notes) <= LIMIT
