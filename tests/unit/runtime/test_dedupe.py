"""The decisions on the last requests are kept, up to a size."""

from snell.model.decision import Decision
from snell.model.events import event_from
from snell.runtime.event_flow import KEPT, MOST_BYTES, DecisionCache, delivery_key
from snell.runtime.hook_request import PAIRS, TOGETHER, TwinFilter

EVENT = event_from({"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "ls"}}, "PreToolUse")


def kept(*sizes: int) -> list[str]:
    """Return the numbers of the requests that are still known after decisions of these sizes."""
    cache = DecisionCache()
    for number, size in enumerate(sizes):
        cache.keep(str(number), Decision(event=EVENT, id=str(number)), size)
    found = [cache.get(str(number)) for number in range(len(sizes))]
    return [decision.id for decision in found if decision]


def test_the_oldest_go_when_there_are_too_many_or_too_large_ones() -> None:
    assert len(kept(*[10] * (KEPT + 5))) == KEPT
    assert kept(*[MOST_BYTES // 2] * 4) == ["2", "3"]
    assert kept(10, MOST_BYTES + 1, 10) == ["2"]


def test_the_same_delivery_again_counts_once() -> None:
    cache = DecisionCache()
    for _ in range(5):
        cache.keep("a", Decision(event=EVENT, id="a"), MOST_BYTES // 2)
    cache.keep("b", Decision(event=EVENT, id="b"), MOST_BYTES // 2)
    assert [cache.get(key) is not None for key in "ab"] == [True, True]


def test_a_delivery_without_identity_is_none() -> None:
    assert delivery_key(EVENT) == ("", 0)
    assert delivery_key(EVENT, "r1")[1] > 50


PROMPT = event_from({"session_id": "s1", "prompt": "go on"}, "UserPromptSubmit", "cursor")
OWN, OTHER = "cursor", ""


def test_the_same_from_two_files_is_one_call_and_from_one_file_again_it_is_the_next() -> None:
    pairs = TwinFilter()
    came = [(OWN, "1"), (OTHER, "2"), (OWN, "3"), (OTHER, "4"), (OTHER, "5"), (OWN, "6"), (OWN, "7")]
    found = [pairs.request_of(PROMPT, source, request_id, 0.0) for source, request_id in came]
    assert found == ["1", "1", "3", "3", "5", "5", "7"]


def test_what_differs_comes_late_or_has_an_id_is_a_call_of_its_own() -> None:
    pairs = TwinFilter()
    other = event_from({"session_id": "s1", "prompt": "stop"}, "UserPromptSubmit", "cursor")
    known = event_from({"session_id": "s1", "prompt": "go on", "timestamp": 5}, "UserPromptSubmit", "cursor")
    assert pairs.request_of(PROMPT, OWN, "1", 0.0) == "1"
    assert pairs.request_of(other, OTHER, "2", 0.0) == "2"
    assert pairs.request_of(known, OTHER, "3", 0.0) == "3"
    assert pairs.request_of(PROMPT, OTHER, "4", TOGETHER + 1) == "4"
    generic = event_from({"session_id": "s1", "prompt": "go on"}, "UserPromptSubmit")
    assert [pairs.request_of(generic, source, source, 0.0) for source in ("generic", "")] == ["generic", ""]


def test_only_the_last_calls_are_waited_for() -> None:
    pairs = TwinFilter()
    prompts = [event_from({"prompt": str(number)}, "UserPromptSubmit", "cursor") for number in range(PAIRS + 1)]
    for prompt in prompts:
        pairs.request_of(prompt, OWN, prompt.prompt, 0.0)
    assert pairs.request_of(prompts[0], OTHER, "new", 0.0) == "new"
    assert pairs.request_of(prompts[-1], OTHER, "new", 0.0) == prompts[-1].prompt
