"""
LangChain: the hooks of a runtime as agent middleware.

    agent = create_agent(model, tools, middleware=[middleware(runtime)])

The hooks see prompts, tool calls and the end of a run, in `invoke` and in `ainvoke`.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

from snell.embed.embedded_agent import EmbeddedAgent, PromptResult, embedded_agent_for, library, reason_to_continue
from snell.embed.tool_call import Input, Plan, Result
from snell.embed.twins import Driver, twins
from snell.model.events import text_of
from snell.runtime.app import Runtime
from snell.system.json_output import json_bytes

PACKAGE = "langchain"


def middleware(runtime: Runtime, **options: Any) -> Any:
    """
    Return middleware for `create_agent(middleware=[...])`.

    Options: session_id (default: the id of the thread), cwd, approve, known_as.
    """
    types = library("langchain.agents.middleware.types", PACKAGE)
    embedded = embedded_agent_for(runtime, "langchain", options)
    may_end, may_continue = types.hook_config(can_jump_to=["end"]), types.hook_config(can_jump_to=["model"])

    class State(types.AgentState):  # type: ignore[misc, name-defined] # the library is optional, so it has no types
        snell_stop: str
        snell_kept_going: bool  # a Stop hook made this run continue

    class Snell(types.AgentMiddleware):  # type: ignore[misc, name-defined] # the library is optional
        state_schema = State

        async def check_prompt(self, driver: Driver, state: Any, runtime: Any) -> Any:
            last = state["messages"][-1] if state["messages"] else None
            prompt = last if getattr(last, "type", "") == "human" else None
            text = text_of(prompt.content) if prompt else ""
            update = _prompt_update(prompt, await _with_session(embedded).submit_by(driver, text)) if prompt else None
            # A mark of an earlier run in the same thread, after which a Stop hook made the agent continue, is reset.
            return {**(update or {}), "snell_kept_going": False} if state.get("snell_kept_going") else update

        before_agent, abefore_agent = map(may_end, twins(check_prompt))

        @may_end  # type: ignore[untyped-decorator] # the library is optional
        def before_model(self, state: Any, runtime: Any) -> Any:
            """End the turn before the next model call, if a hook ended it during a tool call."""
            stop = state.get("snell_stop")
            return {"jump_to": "end", "snell_stop": "", "messages": [_message("AIMessage", stop)]} if stop else None

        async def run_tool(self, driver: Driver, request: Any, handler: Callable[[Any], Any]) -> Any:
            def execute(value: Input) -> Any:
                return handler(request.override(tool_call={**request.tool_call, "args": value}))

            agent = _with_session(embedded)
            return _answer(request, await agent.run_by(driver, _plan(agent, request, execute)))

        wrap_tool_call, awrap_tool_call = twins(run_tool)

        async def check_stop(self, driver: Driver, state: Any, runtime: Any) -> Any:
            active = bool(state.get("snell_kept_going"))
            reason = reason_to_continue(await _with_session(embedded).fire_by(driver, "Stop", stop_hook_active=active))
            messages = [_message("HumanMessage", reason)]
            return {"jump_to": "model", "messages": messages, "snell_kept_going": True} if reason else None

        after_agent, aafter_agent = map(may_continue, twins(check_stop))

    return Snell()


def _with_session(embedded: EmbeddedAgent) -> EmbeddedAgent:
    """Return the agent with the thread of this run as its session."""
    try:
        config = library("langgraph.config", PACKAGE).get_config()
    except RuntimeError:
        return embedded
    return embedded.in_session(config.get("configurable", {}).get("thread_id"))


def _plan(embedded: EmbeddedAgent, request: Any, execute: Callable[[Input], Any]) -> Plan:
    call = request.tool_call
    return embedded.plan(
        call["name"],
        call["args"],
        execute,
        call.get("id") or "",
        passes=(library("langgraph.errors", PACKAGE).GraphBubbleUp,),
        output_for_hooks=lambda returned: getattr(returned, "content", returned),  # of a message
        failure_text=lambda returned: text_of(returned.content) if getattr(returned, "status", "") == "error" else None,
        blocks=False,
    )


def _answer(request: Any, result: Result) -> Any:
    if result.exception and not result.stop:
        raise result.exception
    message, command = _tool_message(request, result), library("langgraph.types", PACKAGE).Command
    if not result.stop:
        return message
    if isinstance(message, command):
        updates = message.update if isinstance(message.update, dict) else {}
        return dataclasses.replace(message, update={**updates, "snell_stop": result.stop})
    return command(update={"messages": [message], "snell_stop": result.stop})


def _tool_message(request: Any, result: Result) -> Any:
    call = request.tool_call
    given = result.output if result.status == "done" else result.original
    if not hasattr(given, "content"):  # refused, or replaced by a hook, or a command of the graph
        if result.status == "done" and _is_graph_output(given):
            return given
        content = _content(given) if result.status == "done" else result.error
        status = "error" if result.is_error else "success"
        given = library("langchain_core.messages", PACKAGE).ToolMessage(
            content=content, tool_call_id=call.get("id") or "", name=call["name"], status=status
        )
    return given.model_copy(update={"content": _with_notes(given.content, result.notes)})


def _is_graph_output(given: Any) -> bool:
    command = library("langgraph.types", PACKAGE).Command
    parts = given if isinstance(given, list) else [given]
    return any(isinstance(each, command) or hasattr(each, "content") for each in parts)


def _content(given: Any) -> Any:
    """Return the output of a hook as content of a message: text or parts; other values as JSON."""
    if isinstance(given, str) or (isinstance(given, list) and all(isinstance(each, str | dict) for each in given)):
        return given
    return "" if given is None else json_bytes(given).decode("utf-8")


def _with_notes(content: Any, notes: tuple[str, ...]) -> Any:
    if isinstance(content, str):
        return "\n".join(filter(None, [content, *notes]))
    return [*content, *({"type": "text", "text": note} for note in notes)]


def _prompt_update(prompt: Any, done: PromptResult) -> Any:
    if done.refusal:
        return {"jump_to": "end", "messages": [_message("AIMessage", done.refusal)]}
    if done.text == text_of(prompt.content):
        return None
    others = [] if isinstance(prompt.content, str) else [part for part in prompt.content if not _is_text(part)]
    content = [{"type": "text", "text": done.text}, *others] if others else done.text
    return {"messages": [prompt.model_copy(update={"content": content})]}  # with the same id, so it replaces the prompt


def _message(kind: str, text: str) -> Any:
    return getattr(library("langchain_core.messages", PACKAGE), kind)(content=text)


def _is_text(part: Any) -> bool:
    return isinstance(part, str) or (isinstance(part, dict) and isinstance(part.get("text"), str))
