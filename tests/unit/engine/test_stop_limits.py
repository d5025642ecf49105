"""A stop is blocked three times a turn and ten times a session, whatever the client says about it."""

from typing import Any

import pytest

from snell.engine.stop_limits import PER_SESSION, PER_TURN
from snell.model.effects import Deny, Note
from snell.store.in_memory import InMemoryStore
from tests.helpers import decide_event, event, hook, summary_of

BLOCKED = {"verdict": "deny", "reasons": [("loop", "go on")]}


class Session:
    """One session in which a hook wants the agent to go on for ever."""

    def __init__(self) -> None:
        self.marks = InMemoryStore()

    def stop(self, name: str = "Stop", **payload: Any) -> dict[str, Any]:
        return summary_of(decide_event(event(name, **payload), hook("loop", Deny("go on"), on=name), marks=self.marks))

    def prompt(self, **payload: Any) -> None:
        decide_event(event("UserPromptSubmit", prompt="next", **payload), marks=self.marks)

    def blocked(self, times: int, name: str = "Stop", **payload: Any) -> list[bool]:
        return [self.stop(name, **payload)["verdict"] == "deny" for _ in range(times)]


def lifted(limit: str) -> dict[str, Any]:
    text = f"the turn ends although `loop` asked to go on: hooks have kept the agent from stopping {limit}"
    return {"verdict": "no_opinion", "tells": [("snell", text)]}


def test_the_limits_are_three_a_turn_and_ten_a_session() -> None:
    assert (PER_TURN, PER_SESSION) == (3, 10)


@pytest.mark.parametrize("flag", [True, False, None, "yes"])
def test_the_fourth_block_of_a_turn_is_lifted_whatever_the_clients_flag_says(flag: Any) -> None:
    session = Session()
    answers = [session.stop(stop_hook_active=flag) for _ in range(5)]
    assert answers == [BLOCKED, BLOCKED, BLOCKED, lifted("3 times in this turn"), lifted("3 times in this turn")]


def test_the_trace_says_that_the_block_was_lifted() -> None:
    session = Session()
    session.blocked(3)
    decision = decide_event(event("Stop"), hook("loop", Deny("go on"), on="Stop"), marks=session.marks)
    assert decision.merge == (
        "deny from `loop`",
        "the block is lifted: hooks have kept the agent from stopping 3 times in this turn",
    )


def test_a_new_prompt_begins_a_new_turn() -> None:
    session = Session()
    assert session.blocked(4) == [True, True, True, False]
    session.prompt()
    assert session.blocked(4) == [True, True, True, False]


def test_a_prompt_id_tells_turns_apart_as_well() -> None:
    session = Session()
    assert session.blocked(4, prompt_id="one") == [True, True, True, False]
    assert session.blocked(4, prompt_id="two") == [True, True, True, False]


def test_ten_blocks_are_the_end_for_a_session() -> None:
    session = Session()
    blocks = []
    for _ in range(5):
        session.prompt()
        blocks.append(sum(session.blocked(4)))
    assert blocks == [3, 3, 3, 1, 0]
    assert session.stop() == lifted("10 times in this session")


def test_sessions_are_counted_apart() -> None:
    session = Session()
    session.blocked(4)
    assert session.blocked(4, session_id="s2") == [True, True, True, False]


def test_sub_agents_are_counted_apart_from_the_main_agent_and_each_other() -> None:
    session = Session()
    assert session.blocked(4) == [True, True, True, False]
    assert session.blocked(4, "SubagentStop", agent_id="a1") == [True, True, True, False]
    assert session.blocked(4, "SubagentStop", agent_id="a2") == [True, True, True, False]


def test_a_stop_that_no_hook_blocks_does_not_count() -> None:
    session = Session()
    for _ in range(5):
        decide_event(event("Stop"), hook("quiet", on="Stop"), hook("note", Note("n"), on="Stop"), marks=session.marks)
    assert session.blocked(4) == [True, True, True, False]


@pytest.mark.parametrize("name", ["PreToolUse", "TaskCompleted", "TeammateIdle", "UserPromptSubmit"])
def test_other_events_may_be_refused_any_number_of_times(name: str) -> None:
    assert Session().blocked(15, name) == [True] * 15


def test_notes_beside_a_lifted_block_wait_for_the_next_prompt_since_they_would_keep_the_turn_going() -> None:
    session = Session()
    session.blocked(3)
    hooks = [hook("loop", (Deny("go on"), Note("remember")), on="Stop")]
    assert summary_of(decide_event(event("Stop"), *hooks, marks=session.marks)) == lifted("3 times in this turn")
    assert summary_of(decide_event(event("UserPromptSubmit"), marks=session.marks))["notes"] == [("loop", "remember")]
