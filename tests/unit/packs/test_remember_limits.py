"""What capturing leaves alone: tools that only read, texts that are there already, and everything but the event."""

import json
from typing import Any

import pytest

from snell.memory.inbox_entry import InboxEntry, encode_entry
from snell.memory.service import memories_of
from snell.memory.types import Draft
from snell.packs.remember.capture import capture_tool_call, capture_transcript
from snell.runtime.app import Runtime
from snell.settings.packs import pack_hooks
from tests.unit.packs.remember_runtime import DECIDED


class Untouched(dict):
    """A result of a tool that must not be looked at."""

    def get(self, *_: Any) -> Any:
        raise AssertionError("it was looked at")

    __getitem__ = __iter__ = items = values = keys = get


@pytest.mark.proves("S4-56")
@pytest.mark.parametrize("tool", ["Read", "Grep", "WebSearch", "mcp__snell__recall", ""])
def test_a_tool_that_is_never_captured_is_dropped_before_its_result_is_looked_at(remembering, tool: str) -> None:
    remembering = remembering()
    payload = {"tool_input": {"command": "ls"}, "tool_response": Untouched(stdout=DECIDED)}
    assert capture_tool_call(remembering.event("PostToolUse", tool_name=tool, **payload), remembering.context) is None
    with pytest.raises(AssertionError, match="looked at"):
        capture_tool_call(remembering.event("PostToolUse", tool_name="Bash", **payload), remembering.context)


@pytest.mark.proves("S4-73")
@pytest.mark.parametrize(("others", "is_known"), [(49, True), (50, False)])
def test_a_text_is_compared_with_the_fifty_that_came_last(remembering, others: int, is_known: bool) -> None:
    remembering = remembering()
    for text in (DECIDED, *(f"We decided that box {number} holds tea." for number in range(others))):
        entry = InboxEntry(content=text, source_hook="Stop", timestamp="", project="p", signal_tier=1)
        remembering.inbox.deliver(encode_entry(entry))
    remembering.say(DECIDED)
    event = remembering.event("Stop", transcript_path=str(remembering.transcript))
    (result,) = capture_transcript(event, remembering.context, trigger="session_end")
    assert (result.reason, result.queued) == (("there already", False) if is_known else ("", True))


@pytest.mark.proves("S4-90")
def test_the_note_to_recall_needs_nothing_but_the_event_and_leaves_nothing(tmp_path) -> None:
    with Runtime.embed(*pack_hooks("remember")) as runtime:
        decision = runtime.fire("SessionStart", source="startup", session_id="s", cwd=str(tmp_path))
        other = runtime.fire("UserPromptSubmit", prompt="which package manager did we choose?", cwd=str(tmp_path))
    assert (len(decision.notes), "recall" in decision.note, decision.tells) == (1, True, ())
    assert (other.notes, list(tmp_path.iterdir())) == ((), [])


@pytest.mark.parametrize(
    ("prompt", "comes"),
    [
        ("format the code with black", False),  # every word has a synonym there, and none is there itself
        ("default exports", True),
        ("what does the new registry interface require?", True),  # two words, and half of them in some form
        ("what does the new printer interface require?", False),
        ("how do I export my two drawings?", False),  # a number says how many, not what
        ("how many workers does the export job need?", True),
        ("how does TypeScript narrow unions?", False),  # a name is one word, although it has two in it
        ("do we name types in TypeScript?", True),
        ("what does base64 mean?", False),  # and so is one with a number
        ("which digest is base64 with us?", True),
    ],
)
def test_a_memory_comes_with_a_prompt_whose_words_it_has(remembering, prompt: str, comes: bool) -> None:
    remembering = remembering()
    for text in (
        "Our TypeScript style: no default exports, and types are named after what they hold.",
        "The export job needs two workers, and retries three times.",
        "Attachments are base64 in the archive, with a digest of the whole in its header.",
        "The old SOAP interface of the registry dies on 1 March; the REST one needs a client certificate.",
    ):
        memories_of(remembering.runtime).remember(Draft(content=text, project=str(remembering.folder)))
    assert bool(remembering.fire("UserPromptSubmit", prompt=prompt).notes) is comes


@pytest.mark.proves("S4-74")
def test_a_last_message_is_known_whatever_its_case_and_outer_space(remembering) -> None:
    """Of a client without a transcript."""
    remembering = remembering()
    found = []
    for text in (DECIDED, f" \n{DECIDED.upper()}  \n"):
        event = remembering.event("Stop", last_assistant_message=text)
        found += [each.reason for each in capture_transcript(event, remembering.context, trigger="session_end")]
    assert found == ["", "there already"]


@pytest.mark.proves("S4-65")
def test_what_was_read_of_a_transcript_is_not_read_again(remembering) -> None:
    remembering = remembering()

    def captured() -> list[str]:
        event = remembering.event("Stop", transcript_path=str(remembering.transcript))
        capture_transcript(event, remembering.context, trigger="session_end")
        return [each.content for each in remembering.captures()]

    remembering.say(DECIDED)
    assert captured() == [DECIDED]
    before = remembering.transcript.read_text(encoding="utf-8")
    other = before.replace(json.loads(before)["uuid"], "12345678").replace("uv for packages", "ox for packages")
    remembering.transcript.write_text(other, encoding="utf-8")  # as long as it was
    remembering.say("The fix was to wait longer.")
    assert captured() == [DECIDED, "The fix was to wait longer."]
