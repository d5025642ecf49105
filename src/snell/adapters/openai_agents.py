"""
OpenAI Agents SDK: an agent whose function tools, those of MCP servers included, have the hooks of a house around them.

    agent = hooked(Agent(name="helper", tools=[...]), house)

Prompts pass an input guardrail, which can refuse them; the library offers no place where it could reword them, so one
that a hook rewords is refused as well. Tools that the provider runs cannot be seen from here.
"""

import copy
import dataclasses
import json
from collections.abc import Callable
from typing import Any

from snell.runtime.embedding import Embedding, embedding_for, library
from snell.runtime.house import House
from snell.runtime.tool_call import Input, Result

PACKAGE = "openai-agents"


def hooked(agent: Any, house: House, **options: Any) -> Any:
    """The same agent with hooks, and the agents it hands over to. Options: session_id, cwd, approve, known_as."""
    return _hooked(agent, embedding_for(house, "openai_agents", options), {})


def hooked_tool(tool: Any, at: Embedding) -> Any:
    """One function tool with hooks around it."""
    sdk = library("agents", PACKAGE)
    if not isinstance(tool, sdk.FunctionTool):
        return tool
    other = copy.copy(tool)
    invoke = tool.on_invoke_tool

    async def on_invoke_tool(context: Any, arguments: str) -> Any:
        given = _parsed(arguments)
        if given is None:
            return "the arguments are not a JSON object, so the tool did not run"

        async def execute(value: Input) -> Any:
            return await invoke(context, json.dumps(value, ensure_ascii=False))

        plan = at.plan(tool.name, given, execute, getattr(context, "tool_call_id", ""))
        return _answer(await at.run_async(plan), sdk)

    other.on_invoke_tool = on_invoke_tool
    return other


def guardrail(at: Embedding) -> Any:
    """An input guardrail that has the hooks look at a prompt before the model gets it."""
    sdk = library("agents", PACKAGE)

    async def snell(_context: Any, _agent: Any, given: Any) -> Any:
        prompt = _prompt(given)
        done = await at.submit_async(prompt, takes_notes=False) if prompt else None
        why = done.refusal if done else ""
        if done and not why and done.prompt != prompt:
            why = "a hook reworded the prompt, which cannot be done here; have it looked at before you start the run"
        return sdk.GuardrailFunctionOutput(output_info=why, tripwire_triggered=bool(why))

    return sdk.InputGuardrail(guardrail_function=snell, name="snell", run_in_parallel=False)


def _hooked(agent: Any, at: Embedding, done: dict[int, Any]) -> Any:
    """Agents may hand over to each other in circles."""
    sdk = library("agents", PACKAGE)
    if isinstance(agent, sdk.Handoff):
        return _handoff(agent, at, done)
    if id(agent) in done or not isinstance(agent, sdk.Agent):
        return done.get(id(agent), agent)
    fields = {field.name: getattr(agent, field.name) for field in dataclasses.fields(agent) if field.init}
    other = done[id(agent)] = _agent_class(type(agent), at)(**fields)
    other.input_guardrails = [guardrail(at), *agent.input_guardrails]
    other.handoffs = [_hooked(each, at, done) for each in agent.handoffs]
    return other


def _handoff(handoff: Any, at: Embedding, done: dict[int, Any]) -> Any:
    """Which agent it leads to is known when it is taken."""

    async def on_invoke_handoff(context: Any, given: Any = None) -> Any:
        return _hooked(await handoff.on_invoke_handoff(context, given), at, done)

    other = copy.copy(handoff)
    other.on_invoke_handoff = on_invoke_handoff
    return other


def _agent_class(kind: Any, at: Embedding) -> Any:
    async def get_all_tools(self: Any, run_context: Any) -> list[Any]:
        return [hooked_tool(tool, at) for tool in await kind.get_all_tools(self, run_context)]

    return type(kind.__name__, (kind,), {"get_all_tools": get_all_tools})


def _answer(result: Result, sdk: Any) -> Any:
    if result.stop:
        raise _tripwire(result, sdk)
    if result.exception:
        raise result.exception
    return result.text if result.is_error or result.notes else result.output


def _tripwire(result: Result, sdk: Any) -> Exception:
    """The library's own way of ending a run from within a tool."""
    output = sdk.ToolGuardrailFunctionOutput.raise_exception(output_info=result.stop)
    nothing: Callable[[Any], Any] = lambda _data: output  # noqa: E731 - it only gives the guardrail its name
    error: Exception = sdk.ToolInputGuardrailTripwireTriggered(sdk.ToolInputGuardrail(nothing, name="snell"), output)
    return error


def _parsed(arguments: str) -> Input | None:
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def _prompt(given: Any) -> str:
    """The text that the user added last."""
    if isinstance(given, str):
        return given
    users = [each for each in given if isinstance(each, dict) and each.get("role") == "user"]
    content = users[-1].get("content") if users else ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content or () if isinstance(part, dict))
