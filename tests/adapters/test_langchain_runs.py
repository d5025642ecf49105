"""LangChain at work: calls beside each other, streams, agents in tools, hooks that raise, runs that are cancelled."""

import asyncio

import pytest

from snell import HookMatcher, Runtime
from tests.adapters.hooked_tool import HookedTool

pytest.importorskip("langchain.agents", reason="langchain is not installed; `python3 dev.py adapters` brings it")
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from snell.embed.adapters.langchain import middleware

GO = {"messages": [("user", "go")]}


class Script(GenericFakeChatModel):
    def bind_tools(self, tools, **kwargs):
        return self


def agent_that_calls(runtime, tools, *calls):
    """An agent whose model makes these calls at once, and then ends."""
    wanted = [
        {"name": name, "args": given, "id": f"c{n}", "type": "tool_call"} for n, (name, given) in enumerate(calls)
    ]
    says = iter([AIMessage(content="", tool_calls=wanted), AIMessage(content="done")])
    return create_agent(Script(messages=says), tools, middleware=[middleware(runtime)])


@pytest.mark.parametrize("way", ["stream", "astream"])
def test_calls_beside_each_other_in_a_run_that_streams_are_judged_each_by_itself(way):
    hooked_tool = HookedTool()

    async def shout(text: str) -> str:
        """Say it loudly."""
        await asyncio.sleep(0)
        return hooked_tool.shout(text)

    calls = [("shout", {"text": text}) for text in ("hey", "secret", "quiet", "password")]
    agent = agent_that_calls(hooked_tool.runtime, [tool(hooked_tool.shout if way == "stream" else shout)], *calls)

    async def later():
        return [update async for update in agent.astream(GO, stream_mode="updates")]

    updates = list(agent.stream(GO, stream_mode="updates")) if way == "stream" else asyncio.run(later())
    said = [message for update in updates for message in (update.get("tools") or {}).get("messages", ())]
    told = {message.tool_call_id: message.content for message in said}
    assert told == {"c0": "HEY", "c1": "that is a secret", "c2": "HUSH", "c3": "***"}
    assert sorted(hooked_tool.shouted) == ["hey", "hush", "password"]


@pytest.mark.parametrize(("on_failure", "told"), [(None, "HEY"), ("block", "guard `broken` could not run")])
def test_a_hook_that_raises_counts_by_its_policy_and_the_run_goes_on(on_failure, told):
    def broken(event):
        raise ZeroDivisionError("by hand")

    hooked_tool = HookedTool()
    runtime = Runtime.embed(hooks={"PreToolUse": [HookMatcher("shout", [broken], on_failure=on_failure)]})
    messages = agent_that_calls(runtime, [tool(hooked_tool.shout)], ("shout", {"text": "hey"})).invoke(GO)["messages"]
    assert (messages[2].content.startswith(told), messages[-1].content) == (True, "done")


def test_an_agent_inside_of_a_tool_has_its_hooks_in_the_same_session():
    hooked_tool, sessions = HookedTool(), set()
    watch = HookMatcher("*", [lambda event: sessions.add(event.session_id)])
    runtime = Runtime.embed(hooks={"PreToolUse": [watch, HookMatcher("shout", [hooked_tool.before])]})
    inner = agent_that_calls(runtime, [tool(hooked_tool.shout)], ("shout", {"text": "secret"}))

    @tool
    def delegate() -> str:
        """Let another agent do it."""
        return inner.invoke(GO)["messages"][2].content

    outer = agent_that_calls(runtime, [delegate], ("delegate", {}))
    messages = outer.invoke(GO, {"configurable": {"thread_id": "t1"}})["messages"]
    assert (messages[2].content, hooked_tool.shouted, sessions) == ("that is a secret", [], {"t1"})


def test_a_run_that_is_cancelled_ends_its_tool_and_hooks_get_to_know_it():
    ended, told = [], []

    @tool
    async def slow() -> str:
        """Take long."""
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    failed = HookMatcher("*", [lambda event: told.append(event.payload["is_interrupt"])])
    agent = agent_that_calls(Runtime.embed(hooks={"PostToolUseFailure": [failed]}), [slow], ("slow", {}))

    async def main():
        task = asyncio.create_task(agent.ainvoke(GO))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    begun = asyncio.Event()
    asyncio.run(main())
    assert (ended, told) == ([True], [True])
