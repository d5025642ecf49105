"""
Pydantic AI: the hooks of a runtime as a capability of an agent.

    agent = Agent(model, tools=[...], capabilities=[capability(runtime)])

The hooks see prompts and tool calls. The library validates an input that a hook rewrote like that of the model.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

from snell.embed.embedded_agent import EmbeddedAgent, embedded_agent_for, library
from snell.embed.tool_call import Input, Result
from snell.model.events import json_equal
from snell.runtime.app import Runtime

PACKAGE = "pydantic-ai-slim"


def capability(runtime: Runtime, **options: Any) -> Any:
    """
    Return a capability for `Agent(capabilities=[...])`.

    Options: session_id (default: the id of the conversation), cwd, approve, known_as.
    """
    base = library("pydantic_ai.capabilities", PACKAGE).AbstractCapability
    agent = embedded_agent_for(runtime, "pydantic_ai", options)

    class Snell(base):  # type: ignore[misc, valid-type] # the library is optional, so it has no types
        def __init__(self) -> None:
            self.validates: dict[str, Callable[[Any], Any]] = {}  # by the id of a call
            self.stop = ""
            self.has_asked = False

        def get_ordering(self) -> Any:
            """Run next to the tool, so that no other capability changes what the hooks saw."""
            return library("pydantic_ai.capabilities", PACKAGE).CapabilityOrdering(position="innermost")

        async def for_run(self, ctx: Any) -> Any:
            return Snell()  # its state belongs to one run

        async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
            is_first, self.has_asked = not self.has_asked, True
            if self.stop:
                raise _skip_model(self.stop)
            return await _check_prompt(_with_session(agent, ctx), request_context) if is_first else request_context

        async def wrap_tool_validate(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
            self.validates[call.tool_call_id] = handler
            return await handler(args)

        async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
            validate = self.validates.pop(call.tool_call_id, None)
            given, execute = _jsonable(args), _execute_by(handler, args, validate)
            embedded, more = _with_session(agent, ctx), {"passes": _control_exceptions(), "output_for_hooks": _jsonable}
            result = await embedded.run_async(embedded.plan(call.tool_name, given, execute, call.tool_call_id, **more))
            self.stop = self.stop or result.stop  # several calls may run at once
            return _answer(result)

    return Snell()


def _with_session(agent: EmbeddedAgent, ctx: Any) -> EmbeddedAgent:
    return agent.in_session(getattr(ctx, "conversation_id", None))


def _execute_by(
    handler: Callable[[Any], Any], args: Any, validate: Callable[[Any], Any] | None
) -> Callable[[Input], Any]:
    """Return a function that runs the tool; an input that a hook rewrote is validated first."""
    given = _jsonable(args)

    async def execute(value: Input) -> Any:
        if json_equal(value, given):
            return await handler(args)
        return await handler(await validate(value) if validate else value)

    return execute


def _control_exceptions() -> tuple[type[BaseException], ...]:
    """Return the exceptions by which tools control the library; they are not failures."""
    errors = library("pydantic_ai.exceptions", PACKAGE)
    names = ("CallDeferred", "ApprovalRequired", "SkipToolExecution")
    return tuple(getattr(errors, name) for name in names if hasattr(errors, name))


def _answer(result: Result) -> Any:
    if result.exception:
        raise result.exception
    if result.is_error:
        return result.text
    if not result.notes:
        return result.output
    return result.text if isinstance(result.output, str) else _with_notes(result.output, "\n".join(result.notes))


def _with_notes(output: Any, notes: str) -> Any:
    """Return an output that is not text with the notes as additional content."""
    kind = library("pydantic_ai.messages", PACKAGE).ToolReturn
    given = output if isinstance(output, kind) else kind(output)
    content = given.content
    text = (
        "\n".join(filter(None, [content, notes])) if content is None or isinstance(content, str) else [*content, notes]
    )
    return dataclasses.replace(given, content=text)


async def _check_prompt(embedded: EmbeddedAgent, request: Any) -> Any:
    """Return the first request of a run with its prompt as the hooks changed it."""
    messages = library("pydantic_ai.messages", PACKAGE)
    last = request.messages[-1] if request.messages else None
    parts = [part for part in getattr(last, "parts", ()) if isinstance(part, messages.UserPromptPart)]
    content = parts[-1].content if parts else ""
    texts = [content] if isinstance(content, str) else [part for part in content if isinstance(part, str)]
    if not (prompt := "\n".join(texts)):
        return request
    done = await embedded.submit_async(prompt)
    if done.refusal:
        raise _skip_model(done.refusal)
    if done.text != prompt:
        others = [] if isinstance(content, str) else [part for part in content if not isinstance(part, str)]
        parts[-1].content = done.text if isinstance(content, str) else [done.text, *others]
    return request


def _skip_model(text: str) -> Exception:
    messages = library("pydantic_ai.messages", PACKAGE)
    response = messages.ModelResponse(parts=[messages.TextPart(text)])
    error: Exception = library("pydantic_ai.exceptions", PACKAGE).SkipModelRequest(response)
    return error


def _jsonable(value: Any) -> Any:
    return library("pydantic_core", PACKAGE).to_jsonable_python(value, fallback=str, bytes_mode="base64")
