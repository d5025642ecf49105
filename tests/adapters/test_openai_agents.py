"""The OpenAI Agents SDK with a scripted model."""

import asyncio
import json

import pytest

from tests.adapters.stage import Stage

agents = pytest.importorskip("agents", reason="openai-agents is not installed; `python3 dev.py adapters` brings it")
from agents.items import ModelResponse  # noqa: E402 - after it is known to be there
from agents.models.interface import Model  # noqa: E402 - same
from agents.usage import Usage  # noqa: E402 - same
from openai.types.responses import (  # noqa: E402 - same
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from snell.adapters.openai_agents import hooked  # noqa: E402 - same


class Script(Model):
    """Calls the tool once with these arguments, then repeats what it was told."""

    def __init__(self, arguments, tool="shout"):
        self.arguments = arguments
        self.tool = tool
        self.asked = 0

    async def get_response(self, system_instructions, input, *args, **kwargs):  # noqa: A002 - the library's name
        self.asked += 1
        if self.asked == 1:
            output = ResponseFunctionToolCall(
                arguments=self.arguments, call_id=f"call of {self.tool}", name=self.tool, type="function_call"
            )
        else:
            told = str(input[-1]["output"])
            text = ResponseOutputText(annotations=[], text=told, type="output_text")
            output = ResponseOutputMessage(
                id="m1", content=[text], role="assistant", status="completed", type="message"
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    async def stream_response(self, *args, **kwargs):
        raise NotImplementedError
        yield


def run(stage, text, prompt="go", tool=None, **options):
    agents.set_tracing_disabled(True)
    arguments = text if text.startswith(("{", "[")) else json.dumps({"text": text})
    tool = tool or agents.function_tool(stage.shout, failure_error_function=None)
    agent = agents.Agent(name="helper", tools=[tool], model=Script(arguments))
    return asyncio.run(agents.Runner.run(hooked(agent, stage.house, **options), prompt)).final_output


@pytest.mark.parametrize(
    ("text", "told", "shouted"),
    [
        ("hey", "HEY", ["hey"]),
        ("secret", "that is a secret", []),
        ("quiet", "HUSH", ["hush"]),
        ("noted", "NOTED\nthat was noted", ["noted"]),
        ("password", "***", ["password"]),
        ("ask", "may I?; nobody is there who could be asked", []),
        ("[1]", "the arguments are not a JSON object, so the tool did not run", []),
    ],
)
def test_a_call_is_refused_rewritten_noted_and_its_output_replaced(text, told, shouted):
    stage = Stage()
    assert (run(stage, text), stage.shouted) == (told, shouted)


def test_a_person_may_be_asked():
    stage = Stage()
    assert run(stage, "ask", approve=lambda approval: approval.input == {"text": "ask"}) == "ASK"


def test_a_tool_that_fails_is_reported_and_fails_as_it_always_did():
    stage = Stage()
    with pytest.raises(agents.exceptions.UserError, match="too loud"):
        run(stage, "boom")
    assert stage.seen[-1] == ("PostToolUseFailure", "boom", "too loud")


def test_what_a_hook_rewrote_is_validated_by_the_library():
    stage = Stage()
    with pytest.raises(agents.exceptions.ModelBehaviorError):
        run(stage, "wrong")
    assert stage.shouted == []


def test_a_hook_may_end_the_run():
    stage = Stage()
    with pytest.raises(agents.exceptions.ToolInputGuardrailTripwireTriggered) as ended:
        run(stage, "stop")
    assert (ended.value.output.output_info, stage.shouted) == ("enough shouting", [])


@pytest.mark.parametrize(("prompt", "why"), [("swear", "mind your language"), ("hi", "a hook reworded the prompt")])
def test_a_prompt_that_is_refused_or_reworded_does_not_reach_the_model(prompt, why):
    stage = Stage()
    with pytest.raises(agents.exceptions.InputGuardrailTripwireTriggered) as refused:
        run(stage, "hey", prompt)
    assert why in refused.value.guardrail_result.output.output_info
    assert stage.shouted == []


def test_an_agent_may_have_the_hooks_of_two_houses():
    one, two = Stage(), Stage()
    tool = agents.function_tool(one.shout)
    agent = hooked(
        hooked(agents.Agent(name="helper", tools=[tool], model=Script('{"text": "hey"}')), one.house), two.house
    )
    assert asyncio.run(agents.Runner.run(agent, "go")).final_output == "HEY"
    assert one.seen == two.seen == [("UserPromptSubmit", "go"), ("PreToolUse", "hey"), ("PostToolUse", "hey", "HEY")]


def test_agents_that_are_handed_over_to_have_the_hooks_as_well():
    stage = Stage()
    one = agents.Agent(name="one", tools=[agents.function_tool(stage.shout)])
    two = agents.Agent(name="two", tools=[agents.function_tool(stage.shout)], handoffs=[one])
    one.handoffs = [two]
    other = hooked(two, stage.house)
    assert other.handoffs[0].handoffs[0] is other

    async def tools():
        return await other.handoffs[0].get_all_tools(agents.RunContextWrapper(None))

    (tool,) = asyncio.run(tools())
    assert asyncio.run(tool.on_invoke_tool(None, '{"text": "secret"}')) == "that is a secret"


@pytest.mark.parametrize("wrapped", [False, True], ids=["by the agent", "by a handoff of its own"])
def test_a_run_that_is_handed_over_goes_on_with_the_hooks(wrapped):
    agents.set_tracing_disabled(True)
    stage = Stage()
    tool = agents.function_tool(stage.shout)
    second = agents.Agent(name="second", tools=[tool], model=Script('{"text": "secret"}'))
    over = agents.handoff(second, tool_name_override="pass_on") if wrapped else second
    tool_name = "pass_on" if wrapped else "transfer_to_second"
    first = agents.Agent(name="first", handoffs=[over], model=Script("{}", tool_name))
    done = asyncio.run(agents.Runner.run(hooked(first, stage.house), "go"))
    assert (done.last_agent.name, done.final_output, stage.shouted) == ("second", "that is a secret", [])
