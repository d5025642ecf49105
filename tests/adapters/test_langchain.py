"""LangChain agents with a scripted model."""

import asyncio
from typing import Annotated

import pytest

from snell import Deny, HookMatcher, Rewrite, Stop
from snell.runtime.callback_hooks import hooks_from
from tests.adapters.hooked_tool import HookedTool

pytest.importorskip("langchain.agents", reason="langchain is not installed; `python3 dev.py adapters` brings it")
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from snell.embed.adapters.langchain import middleware


class Script(GenericFakeChatModel):
    def bind_tools(self, tools, **kwargs):
        return self


@pytest.fixture(params=["invoke", "ainvoke"])
def run(request):
    def messages(hooked_tool, text, prompt="go", raises=True, config=None, **options):
        call = {"name": "shout", "args": {"text": text}, "id": "c1", "type": "tool_call"}
        says = [AIMessage(content="", tool_calls=[call]), AIMessage(content="done"), AIMessage(content="done again")]
        shout = tool(hooked_tool.shout)
        shout.handle_tool_error = not raises
        agent = create_agent(
            Script(messages=iter(says)), [shout], middleware=[middleware(hooked_tool.runtime, **options)]
        )
        given = {"messages": [("user", prompt)]}
        if request.param == "invoke":
            return agent.invoke(given, config)["messages"]
        return asyncio.run(agent.ainvoke(given, config))["messages"]

    return messages


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
def test_a_call_is_refused_rewritten_noted_and_its_output_replaced(run, text, told, shouted):
    hooked_tool = HookedTool()
    messages = run(hooked_tool, text)
    assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]
    assert (messages[2].content, messages[2].tool_call_id, hooked_tool.shouted) == (told, "c1", shouted)


def test_a_person_may_be_asked(run):
    assert run(HookedTool(), "ask", approve=lambda approval: True)[2].content == "ASK"


def test_a_tool_that_fails_is_reported_and_fails_as_it_always_did(run):
    hooked_tool = HookedTool()
    with pytest.raises(RuntimeError, match="too loud"):
        run(hooked_tool, "boom")
    assert hooked_tool.seen[-1] == ("PostToolUseFailure", "boom", "too loud")


def test_a_failure_that_is_told_to_the_model_comes_with_the_notes_of_hooks(run):
    class Loud(HookedTool):
        def shout(self, text: str) -> str:
            """Say it loudly."""
            raise ToolException("too loud")

    hooked_tool = Loud()
    message = run(hooked_tool, "boom", raises=False)[2]
    assert (message.content, message.status) == ("too loud\ntry it more quietly", "error")
    assert hooked_tool.seen[-1] == ("PostToolUseFailure", "boom", "too loud")


def test_a_hook_may_end_the_run(run):
    hooked_tool = HookedTool()
    messages = run(hooked_tool, "stop")
    assert ([message.content for message in messages[2:]], hooked_tool.shouted) == (["enough shouting"] * 2, [])


def test_a_tool_may_steer_the_graph_and_a_hook_may_end_the_run_after_it(run):
    class Steering(HookedTool):
        def shout(self, text: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command:
            """Say it loudly."""
            return Command(update={"messages": [ToolMessage(text.upper(), tool_call_id=tool_call_id)]})

        def after(self, event):
            return Stop("that was the last word") if event.tool_input["text"] == "bye" else None

    assert [message.content for message in run(Steering(), "hey")][2:] == ["HEY", "done"]
    assert [message.content for message in run(Steering(), "bye")][2:] == ["BYE", "that was the last word"]


def test_a_prompt_is_refused_or_reworded(run):
    assert [message.content for message in run(HookedTool(), "hey", "swear")] == ["swear", "mind your language"]
    assert run(HookedTool(), "hey", "hi")[0].content == "hello"


def test_a_run_that_wants_to_end_may_be_kept_going(run):
    hooked_tool, times = HookedTool(), []

    def not_yet(event):
        times.append(event.session_id)
        return Deny("say it again") if len(times) == 1 else None

    hooked_tool.runtime.register(*hooks_from({"Stop": [HookMatcher(None, [not_yet])]}))
    messages = run(hooked_tool, "hey", config={"configurable": {"thread_id": "t7"}})
    assert [message.content for message in messages[3:]] == ["done", "say it again", "done again"]
    assert times == ["t7", "t7"]


def test_a_hook_gets_to_know_that_it_kept_the_run_going_and_a_new_run_begins_anew(run):
    hooked_tool, seen = HookedTool(), []

    def once(event):
        seen.append(event.payload["stop_hook_active"])
        return None if seen[-1] else Deny("say it again")

    hooked_tool.runtime.register(*hooks_from({"Stop": [HookMatcher(None, [once])]}))
    run(hooked_tool, "hey")
    run(hooked_tool, "hey")
    assert seen == [False, True, False, True]


def test_a_thread_that_was_kept_going_once_begins_its_next_run_anew():
    hooked_tool, seen = HookedTool(), []

    def once(event):
        seen.append(event.payload["stop_hook_active"])
        return None if seen[-1] else Deny("say it again")

    hooked_tool.runtime.register(*hooks_from({"Stop": [HookMatcher(None, [once])]}))
    says = iter([AIMessage(content=str(number)) for number in range(4)])
    agent = create_agent(
        Script(messages=says), [], middleware=[middleware(hooked_tool.runtime)], checkpointer=InMemorySaver()
    )
    for _ in range(2):
        agent.invoke({"messages": [("user", "go")]}, {"configurable": {"thread_id": "t"}})
    assert seen == [False, True, False, True]


@pytest.mark.parametrize(
    ("value", "told"),
    [({"sum": 7}, '{"sum":7}'), (7, "7"), (True, "true"), ([1, 2], "[1,2]"), ("x", "x"), (["a", "b"], ["a", "b"])],
)
def test_an_output_may_be_replaced_by_any_data(run, value, told):
    hooked_tool = HookedTool()
    hooked_tool.runtime.register(*hooks_from({"PostToolUse": [HookMatcher(None, [lambda event: Rewrite(value)])]}))
    assert run(hooked_tool, "hey")[2].content == told
