"""Pydantic AI at work: calls beside each other, streams, agents in tools, hooks that raise, runs that are cancelled."""

import asyncio

import pytest

from snell import HookMatcher, Runtime
from tests.adapters.hooked_tool import HookedTool

pydantic_ai = pytest.importorskip(
    "pydantic_ai", reason="pydantic-ai-slim is not installed; `python3 dev.py adapters` brings it"
)
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart  # noqa: E402 - after it is known to be there
from pydantic_ai.models.function import DeltaToolCall, FunctionModel  # noqa: E402 - same

from snell.embed.adapters.pydantic_ai import capability  # noqa: E402 - same


class Talk:
    """A model that makes these calls at once, then ends; it remembers what it was told."""

    def __init__(self, *calls):
        self.calls = calls
        self.told = []

    def answer(self, messages, info):
        if len(messages) == 1:
            return ModelResponse(
                parts=[ToolCallPart(name, given, f"c{n}") for n, (name, given) in enumerate(self.calls)]
            )
        self.told = [part.content for part in messages[-1].parts]
        return ModelResponse(parts=[TextPart("done")])

    async def stream(self, messages, info):
        said = self.answer(messages, info)
        for place, part in enumerate(said.parts):
            if isinstance(part, TextPart):
                yield part.content
            else:
                yield {place: DeltaToolCall(part.tool_name, part.args_as_json_str(), tool_call_id=part.tool_call_id)}

    def agent(self, runtime, *tools):
        model = FunctionModel(self.answer, stream_function=self.stream)
        return pydantic_ai.Agent(model, tools=tools, capabilities=[capability(runtime)])


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("streams", [False, True])
def test_calls_beside_each_other_are_judged_each_by_itself(is_async, streams):
    hooked_tool = HookedTool()

    async def shout(text: str) -> str:
        await asyncio.sleep(0)
        return hooked_tool.shout(text)

    talk = Talk(*(("shout", {"text": text}) for text in ("hey", "secret", "quiet", "password")))
    agent = talk.agent(hooked_tool.runtime, shout if is_async else hooked_tool.shout)

    async def main():
        if not streams:
            return (await agent.run("go")).output
        async with agent.run_stream("go") as result:
            return await result.get_output()

    assert asyncio.run(main()) == "done"
    assert (talk.told, sorted(hooked_tool.shouted)) == (
        ["HEY", "that is a secret", "HUSH", "***"],
        ["hey", "hush", "password"],
    )


@pytest.mark.parametrize(("on_failure", "told"), [(None, "HEY"), ("block", "guard `broken` could not run")])
def test_a_hook_that_raises_counts_by_its_policy_and_the_run_goes_on(on_failure, told):
    def broken(event):
        raise ZeroDivisionError("by hand")

    hooked_tool, talk = HookedTool(), Talk(("shout", {"text": "hey"}))
    runtime = Runtime.embed(hooks={"PreToolUse": [HookMatcher("shout", [broken], on_failure=on_failure)]})
    assert asyncio.run(talk.agent(runtime, hooked_tool.shout).run("go")).output == "done"
    assert talk.told[0].startswith(told)


def test_a_tool_that_wants_to_be_called_again_is_a_failure_and_is_called_again():
    tries, failed, after = [], [], []

    def pick(number: int) -> str:
        tries.append(number)
        if len(tries) == 1:
            raise pydantic_ai.ModelRetry("a larger one")
        return "fine"

    def model(messages, info):
        if len(tries) == 2:
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart("pick", {"number": len(tries)}, f"c{len(tries)}")])

    hooks = {
        "PostToolUse": [HookMatcher("*", [lambda event: after.append(event.tool_response)])],
        "PostToolUseFailure": [HookMatcher("*", [lambda event: failed.append(event.payload["error"])])],
    }
    agent = pydantic_ai.Agent(FunctionModel(model), tools=[pick], capabilities=[capability(Runtime.embed(hooks=hooks))])
    assert asyncio.run(agent.run("go")).output == "done"
    assert (tries, failed, after) == ([0, 1], ["a larger one"], ["fine"])


def test_an_agent_inside_of_a_tool_has_its_hooks():
    hooked_tool = HookedTool()
    inner = Talk(("shout", {"text": "secret"}))

    async def delegate() -> str:
        await inner.agent(hooked_tool.runtime, hooked_tool.shout).run("go")
        return inner.told[0]

    outer = Talk(("delegate", {}))
    asyncio.run(outer.agent(hooked_tool.runtime, delegate).run("go"))
    assert (outer.told, hooked_tool.shouted) == (["that is a secret"], [])


def test_a_run_that_is_cancelled_ends_its_tool_and_hooks_get_to_know_it():
    ended, told = [], []

    async def slow() -> str:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    failed = HookMatcher("*", [lambda event: told.append(event.payload["is_interrupt"])])
    agent = Talk(("slow", {})).agent(Runtime.embed(hooks={"PostToolUseFailure": [failed]}), slow)

    async def main():
        task = asyncio.create_task(agent.run("go"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    begun = asyncio.Event()
    asyncio.run(main())
    assert (ended, told) == ([True], [True])
