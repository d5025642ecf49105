"""
The tool runner: runs an agent's tools with hooks around every call, and fires the events of its session.

`run` is for plain code, `run_async` for coroutines; likewise `submit` and `fire`. Each pair is one method, see
`twins.py`. All steps are also reported as notices, see `stream.py`.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Iterable
from copy import copy
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.embed import stream
from snell.embed.embedded_agent import EmbeddedAgent, PromptResult, prompt_result, reason_to_continue
from snell.embed.tool_call import Approval, Input, Plan, Result, deep_copy
from snell.embed.tools import Tool, tools_by_name
from snell.embed.twins import PLAIN_CODE, Driver, context_twins, twins
from snell.model.decision import Decision
from snell.model.effects import Deny
from snell.model.hooks import Hook
from snell.runtime.app import Runtime
from snell.runtime.callback_hooks import Registration, hooks_from

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
        on_notice: stream.Listener | None = None,
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
        self.listeners = stream.Listeners([on_notice] if on_notice else [])
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
        self.listeners.add(hooks.get(stream.STREAM, ()))
        found = hooks_from({name: matchers for name, matchers in hooks.items() if name != stream.STREAM})
        # Not by `session_id`: such hooks end with the session, and a caller that continues would have no guards.
        if self.at.agent_id or not self._owns_runtime:
            found = [replace(hook, only_for=self.at.name) for hook in found]
        return self.runtime.register(*found, group=group or self.at.name)

    def unregister(self, group: str) -> int:
        """Unregister a group of hooks; returns how many."""
        return self.runtime.unregister(group=group)

    async def _run(self, driver: Driver, tool: str, tool_input: Input, tool_use_id: str = "") -> Result:
        """
        Run a tool call of the model; refusals and failures are in the result.

        In an event loop, cancelling the task interrupts the tool, and fires the hooks.
        """
        id_ = tool_use_id or f"call_{uuid.uuid4().hex}"
        begun = self._begin(tool, tool_input, id_)
        result = begun if isinstance(begun, Result) else await self._call_tool(driver, begun)
        if result.status in ("failed", "timeout"):
            self.emit(stream.Error(message=f"{result.tool}: {result.error}", kind=result.status))
        fields = {name: getattr(result, name) for name in ("tool", "status", "input", "text")}
        self.emit(stream.ToolReturned(tool_use_id=id_, **fields))
        return result

    run, run_async = twins(_run)

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

    async def _submit(self, driver: Driver, prompt: str) -> PromptResult:
        """Let the hooks check a prompt; they may change it, add notes or refuse it."""
        if self.is_closed:
            return PromptResult(prompt=prompt, refusal=CLOSED)
        return prompt_result(await self._fire(driver, "UserPromptSubmit", prompt=prompt))

    submit, submit_async = twins(_submit)

    async def _stop(self, driver: Driver) -> str:
        """Report that the agent wants to stop; returns why it must continue, or an empty text."""
        name = "SubagentStop" if self.at.agent_id else "Stop"
        why = reason_to_continue(await self._fire(driver, name, stop_hook_active=self._was_continued))
        self._was_continued, self._has_stopped = bool(why), not why
        return why

    stop, stop_async = twins(_stop)

    async def _fire(self, driver: Driver, /, name: str, **fields: Any) -> Decision:
        """Fire any other event of the session: `runner.fire("PreCompact", trigger="auto")`."""
        return self._report(await self.at.fire_by(driver, name, **fields))

    fire, fire_async = twins(_fire)

    def emit(self, notice: stream.Notice) -> None:
        """Send a notice to all listeners."""
        if not self.listeners:
            return
        self.listeners.notify(replace(notice, session_id=self.at.session_id, agent_id=self.at.agent_id))

    async def _session(self, driver: Driver, source: str = "startup") -> AsyncIterator[Decision]:
        """Fire SessionStart now and SessionEnd at the end of the block; yields the decision about the start."""
        self.emit(stream.SessionInfo(cwd=self.at.cwd, tools=tuple(self.tools)))
        start = await self._fire(driver, "SessionStart", source=source)
        try:
            yield start
        finally:
            await self._fire(driver, "SessionEnd", reason="other")

    session, session_async = context_twins(_session)

    async def _subagent(
        self, driver: Driver, agent_type: str, hooks: Registration | None = None
    ) -> "AsyncIterator[ToolRunner]":
        """Yield a runner for a sub-agent. Its hooks see events of it and its sub-agents until the block ends."""
        child = copy(self)  # the same runtime, tools and budget
        child.at = self.at.subagent(agent_type)
        child.listeners = copy(self.listeners)  # to which its own are added
        child._parent, child._is_closed = self, False
        child._was_continued = child._has_stopped = False
        child.register(hooks or {})
        try:
            await child._fire(driver, "SubagentStart")
            yield child
        finally:  # a sub-agent that failed has stopped as well
            try:
                if not child._has_stopped:
                    await child._stop(driver)
            finally:
                child._is_closed = True
                child.unregister(child.at.agent_id)

    subagent, subagent_async = context_twins(_subagent)

    def _begin(self, name: str, tool_input: Input, tool_use_id: str) -> Plan | Result:
        """Return the plan of a call, or the result of a call that cannot run."""
        self.emit(stream.ToolCalled(tool=name, input=deep_copy(tool_input), tool_use_id=tool_use_id))
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

    async def _call_tool(self, driver: Driver, plan: Plan) -> Result:
        if driver is PLAIN_CODE:
            return await self.at.run_by(driver, plan)
        running = asyncio.ensure_future(self.at.run_by(driver, plan))
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
        about = {"event": decision.event.name, "tool": decision.event.tool_name}
        for _, hook, outcome in decision.runs():
            self.emit(stream.HookExecuted(hook=hook.id, status=outcome.status, seconds=outcome.seconds, **about))
        for failure in decision.failures:
            self.emit(stream.Error(message=f"hook `{failure.hook}` failed: {failure.text}", kind="hook"))
        return decision


class _Shared(Struct):
    """State that a session shares with its sub-agents."""

    calls: int = 0
    is_cancelled: bool = False
    running: set["asyncio.Future[Result]"] = set()
