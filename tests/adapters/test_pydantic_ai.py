"""Pydantic AI with a scripted model."""

import asyncio

import pytest

from tests.adapters.hooked_tool import HookedTool

pydantic_ai = pytest.importorskip(
    "pydantic_ai", reason="pydantic-ai-slim is not installed; `python3 dev.py adapters` brings it"
)
from pydantic import BaseModel  # noqa: E402 - after it is known to be there
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart  # noqa: E402 - same
from pydantic_ai.models.function import FunctionModel  # noqa: E402 - same

from snell import HookMatcher, Note, Rewrite, Runtime  # noqa: E402 - same
from snell.embed.adapters.pydantic_ai import capability  # noqa: E402 - same


def run(hooked_tool, text, prompt="go", **options):
    """Returns what the model was told at last, and what the run gave."""
    told = []

    def model(messages, info):
        told.append([getattr(part, "content", None) for part in messages[-1].parts])
        if len(told) == 1:
            return ModelResponse(parts=[ToolCallPart("shout", {"text": text}, "c1")])
        return ModelResponse(parts=[TextPart("done")])

    agent = pydantic_ai.Agent(
        FunctionModel(model), tools=[hooked_tool.shout], capabilities=[capability(hooked_tool.runtime, **options)]
    )
    output = asyncio.run(agent.run(prompt)).output
    return (told[-1][0] if told else None), output


@pytest.mark.parametrize(
    ("text", "told", "shouted"),
    [
        ("hey", "HEY", ["hey"]),
        ("secret", "that is a secret", []),
        ("quiet", "HUSH", ["hush"]),
        ("noted", "NOTED\nthat was noted", ["noted"]),
        ("password", "***", ["password"]),
        ("ask", "may I?; there is no `approve` function to ask the user", []),
    ],
)
def test_a_call_is_refused_rewritten_noted_and_its_output_replaced(text, told, shouted):
    hooked_tool = HookedTool()
    assert (run(hooked_tool, text), hooked_tool.shouted) == ((told, "done"), shouted)


def test_a_person_may_be_asked():
    assert run(HookedTool(), "ask", approve=lambda approval: True)[0] == "ASK"


def test_a_tool_that_fails_is_reported_and_fails_as_it_always_did():
    hooked_tool = HookedTool()
    with pytest.raises(RuntimeError, match="too loud"):
        run(hooked_tool, "boom")
    assert hooked_tool.seen[-1] == ("PostToolUseFailure", "boom", "too loud")


def test_what_a_hook_rewrote_is_validated_by_the_library():
    hooked_tool = HookedTool()
    told, _ = run(hooked_tool, "wrong")
    assert (hooked_tool.shouted, told[0]["type"]) == ([], "string_type")


def test_what_a_hook_rewrote_arrives_as_the_types_of_the_tool():
    class Place(BaseModel):
        name: str

    seen = []

    def go(place: Place) -> str:
        """Go there."""
        seen.append(place)
        return "there"

    def reroute(event):
        return Rewrite(place={"name": event.tool_input["place"]["name"].upper()})

    def model(messages, info):
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart("go", '{"place": {"name": "rome"}}', "c1")])
        return ModelResponse(parts=[TextPart("done")])

    runtime = Runtime.embed(hooks={"PreToolUse": [HookMatcher("go", [reroute])]})
    agent = pydantic_ai.Agent(FunctionModel(model), tools=[go], capabilities=[capability(runtime)])
    assert asyncio.run(agent.run("go")).output == "done"
    assert seen == [Place(name="ROME")]


def test_a_note_on_an_output_that_is_not_text_stands_beside_it():
    told = []

    def count() -> list[int]:
        """Count."""
        return [1, 2]

    def model(messages, info):
        told.append([part.content for part in messages[-1].parts])
        return ModelResponse(parts=[ToolCallPart("count", {}, "c1") if len(told) == 1 else TextPart("done")])

    runtime = Runtime.embed(hooks={"PostToolUse": [HookMatcher("count", [lambda event: Note("well counted")])]})
    agent = pydantic_ai.Agent(FunctionModel(model), tools=[count], capabilities=[capability(runtime)])
    assert asyncio.run(agent.run("go")).output == "done"
    assert told[1] == [[1, 2], "well counted"]


def test_a_hook_may_end_the_run():
    hooked_tool = HookedTool()
    assert (run(hooked_tool, "stop")[1], hooked_tool.shouted) == ("enough shouting", [])


def test_a_prompt_is_refused_or_reworded():
    assert run(HookedTool(), "hey", "swear") == (None, "mind your language")
    hooked_tool = HookedTool()
    told = []

    def model(messages, info):
        told.append(messages[-1].parts[-1].content)
        return ModelResponse(parts=[TextPart("done")])

    agent = pydantic_ai.Agent(FunctionModel(model), capabilities=[capability(hooked_tool.runtime)])
    assert (asyncio.run(agent.run("hi")).output, told) == ("done", ["hello"])
