"""
LangChain: the hooks of a runtime as agent middleware.

    agent = create_agent(model, tools, middleware=[middleware(runtime)])

The hooks see prompts, tool calls and the end of a run, in `invoke` and in `ainvoke`.
"""

import dataclasses
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from snell.embed.embedded_agent import EmbeddedAgent, PromptResult, embedded_agent_for, library, reason_to_continue
from snell.embed.tool_call import Input, Plan, Result
from snell.runtime.app import Runtime
from snell.system.json_output import json_bytes

PACKAGE = "langchain"


def middleware(runtime: Runtime, **options: Any) -> Any:
    """
    Return middleware for `create_agent(middleware=[...])`.

    Options: session_id (default: the id of the thread), cwd, approve, known_as.
    """
    types = library("langchain.agents.middleware.types", PACKAGE)
    at, named = embedded_agent_for(runtime, "langchain", options), "session_id" in options
    agent = _CurrentAgent(at, is_named=named)

    class State(types.AgentState):  # type: ignore[misc, name-defined] # the library is optional, so it has no types
        snell_stop: str
        snell_kept_going: bool  # a Stop hook made this run continue

    class Snell(types.AgentMiddleware):  # type: ignore[misc, name-defined] # the library is optional
        state_schema = State

        @types.hook_config(can_jump_to=["end"])  # type: ignore[untyped-decorator] # the library is optional
        def before_agent(self, state: Any, runtime: Any) -> Any:
            prompt = _last_prompt(state)
            update = _prompt_update(prompt, agent.now().submit(_text(prompt))) if prompt else None
            return _with_reset(state, update)

        @types.hook_config(can_jump_to=["end"])  # type: ignore[untyped-decorator] # the library is optional
        async def abefore_agent(self, state: Any, runtime: Any) -> Any:
            prompt = _last_prompt(state)
            update = _prompt_update(prompt, await agent.now().submit_async(_text(prompt))) if prompt else None
            return _with_reset(state, update)

        @types.hook_config(can_jump_to=["end"])  # type: ignore[untyped-decorator] # the library is optional
        def before_model(self, state: Any, runtime: Any) -> Any:
            """End the turn before the next model call, if a hook ended it during a tool call."""
            stop = state.get("snell_stop")
            return {"jump_to": "end", "snell_stop": "", "messages": [_message("AIMessage", stop)]} if stop else None

        def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
            return _answer(request, agent.now().run(_plan(agent.now(), request, _execute_by(handler, request))))

        async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
            plan = _plan(agent.now(), request, _execute_by_async(handler, request))
            return _answer(request, await agent.now().run_async(plan))

        @types.hook_config(can_jump_to=["model"])  # type: ignore[untyped-decorator] # the library is optional
        def after_agent(self, state: Any, runtime: Any) -> Any:
            return _continue_update(
                reason_to_continue(agent.now().fire("Stop", stop_hook_active=_is_kept_going(state)))
            )

        @types.hook_config(can_jump_to=["model"])  # type: ignore[untyped-decorator] # the library is optional
        async def aafter_agent(self, state: Any, runtime: Any) -> Any:
            return _continue_update(
                reason_to_continue(await agent.now().fire_async("Stop", stop_hook_active=_is_kept_going(state)))
            )

    return Snell()


class _CurrentAgent:
    def __init__(self, at: EmbeddedAgent, *, is_named: bool) -> None:
        self._at = at
        self._is_named = is_named

    def now(self) -> EmbeddedAgent:
        """Return the agent with the thread id of this run as its session id."""
        try:
            config = library("langgraph.config", PACKAGE).get_config()
        except RuntimeError:
            return self._at
        thread = config.get("configurable", {}).get("thread_id")
        return replace(self._at, session_id=str(thread)) if thread and not self._is_named else self._at


class _ToolFailedError(Exception):
    """A message about a failed tool; the library returns most failures as messages instead of raising them."""

    def __init__(self, message: Any) -> None:
        super().__init__(_text(message))
        self.message = message


def _plan(at: EmbeddedAgent, request: Any, execute: Callable[[Input], Any]) -> Plan:
    call = request.tool_call
    passes = (library("langgraph.errors", PACKAGE).GraphBubbleUp,)
    return at.plan(
        call["name"], call["args"], execute, call.get("id") or "", passes=passes, output_for_hooks=_output_for_hooks
    )


def _execute_by(handler: Callable[[Any], Any], request: Any) -> Callable[[Input], Any]:
    return lambda value: _unless_failed(handler(_with_input(request, value)))


def _execute_by_async(handler: Callable[[Any], Awaitable[Any]], request: Any) -> Callable[[Input], Awaitable[Any]]:
    async def execute(value: Input) -> Any:
        return _unless_failed(await handler(_with_input(request, value)))

    return execute


def _with_input(request: Any, value: Input) -> Any:
    return request.override(tool_call={**request.tool_call, "args": value})


def _unless_failed(returned: Any) -> Any:
    if getattr(returned, "status", "") == "error":
        raise _ToolFailedError(returned)
    return returned


def _output_for_hooks(returned: Any) -> Any:
    """Return the content of a message; hooks see only that."""
    return getattr(returned, "content", returned)


def _answer(request: Any, result: Result) -> Any:
    error = result.exception
    if error and not isinstance(error, _ToolFailedError) and not result.stop:
        raise error
    message, command = _tool_message(request, result), library("langgraph.types", PACKAGE).Command
    if not result.stop:
        return message
    if isinstance(message, command):
        updates = message.update if isinstance(message.update, dict) else {}
        return dataclasses.replace(message, update={**updates, "snell_stop": result.stop})
    return command(update={"messages": [message], "snell_stop": result.stop})


def _tool_message(request: Any, result: Result) -> Any:
    call = request.tool_call
    given = result.exception.message if isinstance(result.exception, _ToolFailedError) else result.output
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


def _last_prompt(state: Any) -> Any:
    last = state["messages"][-1] if state["messages"] else None
    return last if getattr(last, "type", "") == "human" else None


def _prompt_update(prompt: Any, done: PromptResult) -> Any:
    if done.refusal:
        return {"jump_to": "end", "messages": [_message("AIMessage", done.refusal)]}
    if done.text == _text(prompt):
        return None
    others = [] if isinstance(prompt.content, str) else [part for part in prompt.content if not _is_text(part)]
    content = [{"type": "text", "text": done.text}, *others] if others else done.text
    return {"messages": [prompt.model_copy(update={"content": content})]}  # with the same id, so it replaces the prompt


def _with_reset(state: Any, update: Any) -> Any:
    """Reset the mark of an earlier run in the same thread, after which a Stop hook made the agent continue."""
    return {**(update or {}), "snell_kept_going": False} if _is_kept_going(state) else update


def _is_kept_going(state: Any) -> bool:
    return bool(state.get("snell_kept_going"))


def _continue_update(reason: str) -> Any:
    if not reason:
        return None
    return {"jump_to": "model", "messages": [_message("HumanMessage", reason)], "snell_kept_going": True}


def _message(kind: str, text: str) -> Any:
    return getattr(library("langchain_core.messages", PACKAGE), kind)(content=text)


def _text(message: Any) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    return "\n".join(part if isinstance(part, str) else part["text"] for part in content if _is_text(part))


def _is_text(part: Any) -> bool:
    return isinstance(part, str) or (isinstance(part, dict) and isinstance(part.get("text"), str))
