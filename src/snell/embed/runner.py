"""
The tool runner: runs an agent's tools with hooks around every call, and fires the events of its session.

`run` is for plain code, `run_async` for coroutines; likewise `submit` and `fire`. All steps are also reported as
notices, see `stream.py`.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from copy import copy
from functools import partial
from typing import Any

from msgspec.structs import replace

from snell.embed.embedded_agent import EmbeddedAgent, PromptResult, prompt_result, reason_to_continue
from snell.embed.stream import (
    STREAM,
    Error,
    HookExecuted,
    Listener,
    Listeners,
    Notice,
    SessionInfo,
    ToolCalled,
    ToolReturned,
)
from snell.embed.tool_call import Approval, Input, Plan, Result, deep_copy
from snell.embed.tools import Tool, tools_by_name
from snell.model.decision import Decision
from snell.model.effects import Deny
from snell.model.hooks import Hook
from snell.runtime.app import Runtime
from snell.runtime.callback_hooks import AnyMatcher, Registration, hooks_from

CANCELLED = "the session was cancelled"
CLOSED = "this runner is closed: its hooks are unregistered, so it runs no more tools"


class ToolRunner:
    """Run tools in these steps: enabled, valid, PreToolUse, permission, execute, PostToolUse or PostToolUseFailure."""

    def __init__(
        self,
        tools: Iterable[Tool | Callable[..., Any]] = (),
        *,
        hooks: Registration | None = None,
        runtime: Runtime | None = None,
        session_id: str = "",
        cwd: str = "",
        approve: Callable[[Approval], Any] | None = None,
        on_notice: Listener | None = None,
        validates_rewrites: bool = True,
        max_calls: int | None = None,
    ) -> None:
        """
        `runtime` brings further hooks, such as those of the user (`Runtime.for_user()`). `approve` is called for calls
        that need an approval. With `validates_rewrites=False` an input that a hook rewrote is not validated again.
        """
        self.tools = tools_by_name(tools)
        self._checks = {name: tool.check() for name, tool in self.tools.items()}
        self._owns_runtime = runtime is None
        self.runtime = runtime or Runtime.embed(schemas={})  # inputs are checked here, by the schemas of the tools
        self.validates_rewrites = validates_rewrites
        self.max_calls = max_calls
        self.listeners = Listeners([on_notice] if on_notice else [])
        self.at = EmbeddedAgent(
            runtime=self.runtime,
            session_id=session_id or f"session-{uuid.uuid4().hex}",
            cwd=cwd,
            known_as={tool.name: tool.known_as for tool in self.tools.values() if tool.known_as},
            approve=approve,
        )
        self._shared = _Shared()
        self._was_continued = False
        self._has_stopped = False
        self._parent: ToolRunner | None = None
        self._is_closed = False
        self.register(hooks or {})

    def register(self, hooks: Registration, group: str = "") -> list[Hook]:
        """Add hooks for this session; hooks of a group can be unregistered together."""
        self.listeners.add(hooks.get(STREAM, ()))
        found = hooks_from(_without_stream(hooks))
        # Not by `session_id`: such hooks end with the session, and a caller that continues would have no guards.
        if self.at.agent_id or not self._owns_runtime:
            found = [replace(hook, only_for=self.at.name) for hook in found]
        return self.runtime.register(*found, group=group or self.at.name)

    def unregister(self, group: str) -> int:
        """Unregister a group of hooks; returns how many."""
        return self.runtime.unregister(group=group)

    def run(self, tool: str, tool_input: Input, tool_use_id: str = "") -> Result:
        """Run a tool call of the model; refusals and failures are in the result."""
        id_ = tool_use_id or f"call_{uuid.uuid4().hex}"
        begun = self._begin(tool, tool_input, id_)
        return self._end(begun if isinstance(begun, Result) else self.at.run(begun), id_)

    async def run_async(self, tool: str, tool_input: Input, tool_use_id: str = "") -> Result:
        """Do the same without blocking the event loop. Cancelling the task interrupts the tool, and fires the hooks."""
        id_ = tool_use_id or f"call_{uuid.uuid4().hex}"
        begun = self._begin(tool, tool_input, id_)
        return self._end(begun if isinstance(begun, Result) else await self._cancellable(begun), id_)

    def cancel(self) -> None:
        """Interrupt the calls of `run_async` and refuse further ones. Can be called from any thread."""
        self._shared.is_cancelled = True
        for each in tuple(self._shared.running):
            each.get_loop().call_soon_threadsafe(each.cancel)

    def close(self) -> None:
        """Unregister all hooks and refuse further calls; close the runtime if this runner has made it."""
        self._is_closed = True  # first, so that no call runs between the end of the hooks and this one
        self.unregister(self.at.session_id)
        if self._owns_runtime:
            self.runtime.close()

    @property
    def is_closed(self) -> bool:
        """Whether this runner, or one above this sub-agent, is closed."""
        return self._is_closed or (self._parent is not None and self._parent.is_closed)

    def submit(self, prompt: str) -> PromptResult:
        """Let the hooks check a prompt; they may change it, add notes or refuse it."""
        if self.is_closed:
            return PromptResult(prompt=prompt, refusal=CLOSED)
        return prompt_result(self.fire("UserPromptSubmit", prompt=prompt))

    async def submit_async(self, prompt: str) -> PromptResult:
        if self.is_closed:
            return PromptResult(prompt=prompt, refusal=CLOSED)
        return prompt_result(await self.fire_async("UserPromptSubmit", prompt=prompt))

    def stop(self) -> str:
        """Report that the agent wants to stop; returns why it must continue, or an empty text."""
        return self._note_stop(self.fire(self._stop_event(), stop_hook_active=self._was_continued))

    async def stop_async(self) -> str:
        return self._note_stop(await self.fire_async(self._stop_event(), stop_hook_active=self._was_continued))

    def fire(self, name: str, **fields: Any) -> Decision:
        """Fire any other event of the session: `runner.fire("PreCompact", trigger="auto")`."""
        return self._report(self.at.fire(name, **fields))

    async def fire_async(self, name: str, **fields: Any) -> Decision:
        return self._report(await self.at.fire_async(name, **fields))

    def emit(self, notice: Notice) -> None:
        """Send a notice to all listeners."""
        if not self.listeners:
            return
        self.listeners.notify(replace(notice, session_id=self.at.session_id, agent_id=self.at.agent_id))

    @contextmanager
    def session(self, source: str = "startup") -> Iterator[Decision]:
        """Fire SessionStart now and SessionEnd at the end of the block; yields the decision about the start."""
        self._announce_session()
        start = self.fire("SessionStart", source=source)
        try:
            yield start
        finally:
            self.fire("SessionEnd", reason="other")

    @asynccontextmanager
    async def session_async(self, source: str = "startup") -> AsyncIterator[Decision]:
        self._announce_session()
        start = await self.fire_async("SessionStart", source=source)
        try:
            yield start
        finally:
            await self.fire_async("SessionEnd", reason="other")

    @contextmanager
    def subagent(self, agent_type: str, hooks: Registration | None = None) -> "Iterator[ToolRunner]":
        """Yield a runner for a sub-agent. Its hooks see events of it and its sub-agents until the block ends."""
        child = self._child(agent_type, hooks)
        try:
            child.fire("SubagentStart")
            yield child
        finally:  # a sub-agent that failed has stopped as well
            try:
                if not child._has_stopped:
                    child.stop()
            finally:
                child._close_subagent()

    @asynccontextmanager
    async def subagent_async(self, agent_type: str, hooks: Registration | None = None) -> "AsyncIterator[ToolRunner]":
        child = self._child(agent_type, hooks)
        try:
            await child.fire_async("SubagentStart")
            yield child
        finally:
            try:
                if not child._has_stopped:
                    await child.stop_async()
            finally:
                child._close_subagent()

    def _close_subagent(self) -> None:
        self._is_closed = True
        self.unregister(self.at.agent_id)

    def _stop_event(self) -> str:
        return "SubagentStop" if self.at.agent_id else "Stop"

    def _note_stop(self, decision: Decision) -> str:
        why = reason_to_continue(decision)
        self._was_continued, self._has_stopped = bool(why), not why
        return why

    def _begin(self, name: str, tool_input: Input, tool_use_id: str) -> Plan | Result:
        """Return the plan of a call, or the result of a call that cannot run."""
        self.emit(ToolCalled(tool=name, input=deep_copy(tool_input), tool_use_id=tool_use_id))
        tool, shared = self.tools.get(name), self._shared
        if shared.is_cancelled:
            return Result(status="cancelled", tool=name, input=tool_input, error=CANCELLED)
        if self.is_closed:
            return Result(status="refused", tool=name, input=tool_input, error=CLOSED)
        if tool is None:
            return Result(status="unknown", tool=name, input=tool_input, error=f"there is no tool `{name}`")
        if self.max_calls is not None and shared.calls >= self.max_calls:
            error = f"this session has used all of its {self.max_calls} tool calls"
            return Result(status="over budget", tool=name, input=tool_input, error=error)
        shared.calls += 1
        return self.at.plan(
            name,
            tool_input,
            tool.execute(),
            tool_use_id,
            is_enabled=tool.enabled_check(),
            validate=self._checks[name],
            permission=partial(self._permission, tool),
            validates_rewrites=self.validates_rewrites,
            timeout=tool.timeout,
            on_decision=self._report,
        )

    def _permission(self, tool: Tool, value: Input) -> Any:
        """Apply the tool's permission rule; refuse if the runner was closed after the call began."""
        if self.is_closed:
            return Deny(CLOSED)
        return tool.permission(value) if tool.permission else None

    def _end(self, result: Result, tool_use_id: str) -> Result:
        if result.status in ("failed", "timeout"):
            self.emit(Error(message=f"{result.tool}: {result.error}", kind=result.status))
        self.emit(
            ToolReturned(
                tool=result.tool,
                status=result.status,
                input=result.input,
                text=result.text,
                tool_use_id=tool_use_id,
            )
        )
        return result

    async def _cancellable(self, plan: Plan) -> Result:
        running = asyncio.ensure_future(self.at.run_async(plan))
        self._shared.running.add(running)
        try:
            return await running
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not self._shared.is_cancelled or (task and task.cancelling()):  # the waiting task itself was cancelled
                raise
            return Result(status="cancelled", tool=plan.tool, input=plan.input, error=CANCELLED)
        finally:
            self._shared.running.discard(running)

    def _report(self, decision: Decision) -> Decision:
        if not self.listeners:
            return decision
        for _, hook, outcome in decision.runs():
            self.emit(
                HookExecuted(
                    event=decision.event.name,
                    hook=hook.id,
                    status=outcome.status,
                    tool=decision.event.tool_name,
                    seconds=outcome.seconds,
                )
            )
        for failure in decision.failures:
            self.emit(Error(message=f"hook `{failure.hook}` failed: {failure.text}", kind="hook"))
        return decision

    def _announce_session(self) -> None:
        self.emit(SessionInfo(cwd=self.at.cwd, tools=tuple(self.tools)))

    def _child(self, agent_type: str, hooks: Registration | None) -> "ToolRunner":
        child = copy(self)  # the same runtime, tools and budget
        child.at = self.at.subagent(agent_type)
        child.listeners = self.listeners.copy()
        child._parent, child._is_closed = self, False
        child._was_continued = child._has_stopped = False
        child.register(hooks or {})
        return child


class _Shared:
    """State that a session shares with its sub-agents."""

    def __init__(self) -> None:
        self.calls = 0
        self.is_cancelled = False
        self.running: set[asyncio.Future[Result]] = set()


def _without_stream(hooks: Registration) -> Mapping[str, Iterable[AnyMatcher]]:
    return {name: matchers for name, matchers in hooks.items() if name != STREAM}
