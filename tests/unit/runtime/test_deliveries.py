"""The last deliveries are known again, as many as there is room for."""

from snell.model.decision import Decision
from snell.model.events import event_from
from snell.runtime.deliveries import KEPT, MOST_BYTES, Deliveries, delivery_of

EVENT = event_from({"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "ls"}}, "PreToolUse")


def kept(*sizes: int) -> list[str]:
    """Which are still known after deliveries of these sizes, named by their number."""
    deliveries = Deliveries()
    for number, size in enumerate(sizes):
        deliveries.keep(str(number), Decision(event=EVENT, id=str(number)), size)
    found = [deliveries.earlier(str(number)) for number in range(len(sizes))]
    return [decision.id for decision in found if decision]


def test_the_oldest_go_when_there_are_too_many_or_too_large_ones() -> None:
    assert len(kept(*[10] * (KEPT + 5))) == KEPT
    assert kept(*[MOST_BYTES // 2] * 4) == ["2", "3"]
    assert kept(10, MOST_BYTES + 1, 10) == ["2"]


def test_the_same_delivery_again_counts_once() -> None:
    deliveries = Deliveries()
    for _ in range(5):
        deliveries.keep("a", Decision(event=EVENT, id="a"), MOST_BYTES // 2)
    deliveries.keep("b", Decision(event=EVENT, id="b"), MOST_BYTES // 2)
    assert [deliveries.earlier(key) is not None for key in "ab"] == [True, True]


def test_a_delivery_without_identity_is_none() -> None:
    assert delivery_of(EVENT) == ("", 0)
    assert delivery_of(EVENT, "r1")[1] > 50
