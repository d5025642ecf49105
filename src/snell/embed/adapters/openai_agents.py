"""
OpenAI Agents SDK: the hooks of a runtime around the tools of an agent that run in this process.

These are function tools, including those of MCP servers, and tools for shells, patches and free text.

    agent = with_hooks(Agent(name="helper", tools=[...]), runtime)

Prompts pass an input guardrail, which can refuse them; the library has no way to change them, so a prompt that a hook
changes is refused as well. Tools that run at the provider are not visible here.
"""

import copy
import dataclasses
import json
import shlex
from collections.abc import Awaitable, Callable
from typing import Any

from snell.embed.embedded_agent import EmbeddedAgent, embedded_agent_for, library
from snell.embed.tool_call import Input, Result
from snell.runtime.app import Runtime

PACKAGE = "openai-agents"
Execute = Callable[[Input], Any]
_PATCHES = {"create_file": "Write", "update_file": "Edit", "delete_file": "Delete"}


def with_hooks(agent: Any, runtime: Runtime, **options: Any) -> Any:
    """Return a copy of an agent and its handoffs, with hooks. Options: session_id, cwd, approve, known_as."""
    return _agent_with_hooks(agent, embedded_agent_for(runtime, "openai_agents", options), {})


def tool_with_hooks(tool: Any, embedded: EmbeddedAgent) -> Any:
    """Return a tool with hooks around it; unchanged if it does not run in this process."""
    sdk = library("agents", PACKAGE)
    wrap = next((wrap for name, wrap in _WRAPS.items() if isinstance(tool, getattr(sdk, name, ()))), None)
    return wrap(tool, embedded) if wrap else tool


def _function_tool(tool: Any, embedded: EmbeddedAgent) -> Any:
    invoke, told = _raising(tool)

    async def on_invoke_tool(context: Any, arguments: str) -> Any:
        given = _parse_arguments(arguments)
        if given is None:
            return "the arguments are not a JSON object, so the tool did not run"

        def execute(value: Input) -> Any:
            return invoke(context, json.dumps(value, ensure_ascii=False))

        result = await _run(embedded, tool.name, given, execute, getattr(context, "tool_call_id", ""))
        if result.exception and (text := await told(context, result.exception)) is not None:
            return "\n".join([text, *result.notes])
        return _answer(result)

    return _copy_with(tool, on_invoke_tool=on_invoke_tool)


def _raising(tool: Any) -> tuple[Any, Callable[[Any, BaseException], Awaitable[str | None]]]:
    """
    Return a function that calls a tool and raises its failures, and one that returns the text of a failure.

    The library turns most failures into text at once; a copy of the tool without that raises them for the hooks.
    """
    tools = library("agents.tool", PACKAGE)
    let_through = getattr(tools, "set_function_tool_failure_error_function", None)
    formatted = getattr(tools, "maybe_invoke_function_tool_failure_error_function", None)

    async def failure_text(context: Any, error: BaseException) -> str | None:
        if not formatted or not isinstance(error, Exception):
            return None
        text: str | None = await formatted(function_tool=tool, context=context, error=error)
        return text

    if not let_through or not formatted:
        return tool.on_invoke_tool, failure_text
    return let_through(copy.copy(tool), None).on_invoke_tool, failure_text


def _shell_tool(tool: Any, embedded: EmbeddedAgent) -> Any:
    """Return a tool that runs commands, with hooks that see it as Bash."""
    if tool.executor is None:  # it runs in a container of the provider
        return tool

    async def executor(request: Any) -> Any:
        action = request.data.action
        line = "\n".join(action.commands) if hasattr(action, "commands") else shlex.join(action.command)

        def execute(value: Input) -> Any:
            return tool.executor(request if value == {"command": line} else _with_command(request, value["command"]))

        bash = embedded.with_alias(tool.name, "Bash")
        return _answer(await _run(bash, tool.name, {"command": line}, execute, request.data.call_id))

    return dataclasses.replace(tool, executor=executor)


def _with_command(request: Any, line: str) -> Any:
    data, action = request.data, request.data.action
    if hasattr(action, "commands"):
        data = dataclasses.replace(data, action=dataclasses.replace(action, commands=[line]))
    else:  # of a LocalShellTool, which has one program with its arguments
        command = {"command": ["/bin/sh", "-c", line]}
        data = data.model_copy(update={"action": action.model_copy(update=command)})
    return dataclasses.replace(request, data=data)


def _custom_tool(tool: Any, embedded: EmbeddedAgent) -> Any:
    async def on_invoke_tool(context: Any, text: str) -> Any:
        def execute(value: Input) -> Any:
            return tool.on_invoke_tool(context, value["input"])

        return _answer(await _run(embedded, tool.name, {"input": text}, execute, getattr(context, "tool_call_id", "")))

    return _copy_with(tool, on_invoke_tool=on_invoke_tool)


def _copy_with(given: Any, **attributes: Any) -> Any:
    """Return a copy of an object with other attributes; some classes of the library cannot be made again."""
    other = copy.copy(given)
    for name, value in attributes.items():
        setattr(other, name, value)
    return other


def _apply_patch_tool(tool: Any, embedded: EmbeddedAgent) -> Any:
    """Return the tool with hooks around every operation of its editor; they see Write, Edit or Delete."""

    def with_hooks_around(name: str) -> Callable[[Any], Awaitable[Any]]:
        async def operate(operation: Any) -> Any:
            given = _patch(operation)

            def execute(value: Input) -> Any:
                if {**value, "file_path": "", "diff": ""} != {**given, "file_path": "", "diff": ""}:
                    raise ValueError("of a patch only `file_path` and `diff` can be rewritten")
                changed = {} if value == given else {"path": value["file_path"], "diff": value.get("diff")}
                return getattr(tool.editor, name)(dataclasses.replace(operation, **changed))

            result = await _run(embedded.with_alias(tool.name, _PATCHES[name]), tool.name, given, execute, "")
            if not result.is_error or result.exception or result.stop:
                return _answer(result)
            return library("agents.editor", PACKAGE).ApplyPatchResult(status="failed", output=result.text)

        return operate

    editor = type("Editor", (), {name: staticmethod(with_hooks_around(name)) for name in _PATCHES})()
    return dataclasses.replace(tool, editor=editor)


def _patch(operation: Any) -> Input:
    """Return an operation as the input of Write or Edit, so that hooks about written text see it."""
    common = {"file_path": operation.path, "operation": operation.type}
    if operation.type == "delete_file":
        return common
    moved = {"move_to": operation.move_to} if getattr(operation, "move_to", None) else {}
    new = _lines(operation.diff, "+")
    texts = {"content": new} if operation.type == "create_file" else {"new_string": new}
    old = {"old_string": _lines(operation.diff, "-")} if operation.type == "update_file" else {}
    return {**common, **moved, "diff": operation.diff, **old, **texts}


def _lines(diff: str | None, sign: str) -> str:
    return "\n".join(line[1:] for line in (diff or "").splitlines() if line.startswith(sign))


_WRAPS = {
    "FunctionTool": _function_tool,
    "ShellTool": _shell_tool,
    "LocalShellTool": _shell_tool,
    "ApplyPatchTool": _apply_patch_tool,
    "CustomTool": _custom_tool,
}


async def _run(embedded: EmbeddedAgent, name: str, given: Input, execute: Execute, call_id: str) -> Result:
    plan = embedded.plan(name, given, execute, call_id, output_for_hooks=_output_for_hooks, blocks=False)
    return await embedded.run_async(plan)


def guardrail(embedded: EmbeddedAgent) -> Any:
    """Return an input guardrail that lets the hooks check a prompt before the model gets it."""
    sdk = library("agents", PACKAGE)

    async def snell(_context: Any, _agent: Any, given: Any) -> Any:
        prompt = _prompt(given)
        done = await embedded.submit_async(prompt, takes_notes=False) if prompt else None
        why = done.refusal if done else ""
        if done and not why and done.prompt != prompt:
            why = "a hook changed the prompt, which this library does not allow; check it before you start the run"
        return sdk.GuardrailFunctionOutput(output_info=why, tripwire_triggered=bool(why))

    return sdk.InputGuardrail(guardrail_function=snell, name="snell", run_in_parallel=False)


def _agent_with_hooks(agent: Any, embedded: EmbeddedAgent, done: dict[int, Any]) -> Any:
    """Return a copy with hooks; `done` has the copies so far, since handoffs may be circular."""
    sdk = library("agents", PACKAGE)
    if isinstance(agent, sdk.Handoff):
        # The agent of a handoff is not known before it is invoked.
        async def on_invoke_handoff(context: Any, given: Any = None) -> Any:
            return _agent_with_hooks(await agent.on_invoke_handoff(context, given), embedded, done)

        return _copy_with(agent, on_invoke_handoff=on_invoke_handoff)
    if id(agent) in done or not isinstance(agent, sdk.Agent):
        return done.get(id(agent), agent)
    fields = {field.name: getattr(agent, field.name) for field in dataclasses.fields(agent) if field.init}
    other = done[id(agent)] = _agent_class(type(agent), embedded)(**fields)
    other.input_guardrails = [guardrail(embedded), *agent.input_guardrails]
    other.handoffs = [_agent_with_hooks(each, embedded, done) for each in agent.handoffs]
    return other


def _agent_class(kind: Any, embedded: EmbeddedAgent) -> Any:
    async def get_all_tools(self: Any, run_context: Any) -> list[Any]:
        return [tool_with_hooks(tool, embedded) for tool in await kind.get_all_tools(self, run_context)]

    return type(kind.__name__, (kind,), {"get_all_tools": get_all_tools})


def _answer(result: Result) -> Any:
    if result.stop:
        raise _tripwire(result, library("agents", PACKAGE))
    if result.exception:
        raise result.exception
    if result.is_error:
        return result.text
    return _with_notes(result) if result.notes else result.output


def _with_notes(result: Result) -> Any:
    """Add notes as text; images and files are not changed."""
    sdk, output, notes = library("agents", PACKAGE), result.output, "\n".join(result.notes)
    parts = output if isinstance(output, list) else [output]
    kinds = (sdk.ToolOutputText, sdk.ToolOutputImage, sdk.ToolOutputFileContent)
    if parts and all(isinstance(part, kinds) for part in parts):
        return [*parts, sdk.ToolOutputText(text=notes)]
    if isinstance(output, sdk.ShellResult):
        return dataclasses.replace(output, output=[*output.output, sdk.ShellCommandOutput(stdout=notes)])
    if isinstance(output, sdk.ApplyPatchResult):
        return dataclasses.replace(output, output="\n".join(filter(None, [output.output, notes])))
    return result.text


def _output_for_hooks(output: Any) -> Any:
    """Return an output as text or plain data for hooks."""
    sdk = library("agents", PACKAGE)
    if isinstance(output, sdk.ShellResult):
        return "\n".join(filter(None, [part for each in output.output for part in (each.stdout, each.stderr)]))
    if isinstance(output, sdk.ApplyPatchResult):
        return output.output or ""
    return library("pydantic_core", PACKAGE).to_jsonable_python(output, fallback=str, bytes_mode="base64")


def _tripwire(result: Result, sdk: Any) -> Exception:
    """Return the library's exception that ends a run from within a tool."""
    output = sdk.ToolGuardrailFunctionOutput.raise_exception(output_info=result.stop)
    nothing: Callable[[Any], Any] = lambda _data: output  # noqa: E731 - only the name of the guardrail is needed
    error: Exception = sdk.ToolInputGuardrailTripwireTriggered(sdk.ToolInputGuardrail(nothing, name="snell"), output)
    return error


def _parse_arguments(arguments: str) -> Input | None:
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def _prompt(given: Any) -> str:
    """Return the last text of the user."""
    if isinstance(given, str):
        return given
    users = [each for each in given if isinstance(each, dict) and each.get("role") == "user"]
    content = users[-1].get("content") if users else ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content or () if isinstance(part, dict))
