"""
The tool runner: an agent's tools, with hooks around every call, and the events of the session it belongs to.

`run` is for plain code, `run_async` for coroutines; so are `submit` and `fire`. Everything that happens is also
reported as notices, see `stream.py`.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from copy import copy
from functools import partial
from typing import Any

from msgspec.structs import replace

from snell.embed.embedded_agent import EmbeddedAgent, PromptResult, prompt_result, stop_is_blocked
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
CLOSED = "this runner is closed: its hooks are gone, so it runs nothing any more"


class ToolRunner:
    """Runs tools in this order: enabled, valid, PreToolUse, permission, execute, PostToolUse or PostToolUseFailure."""

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
        `house` brings further hooks, such as a person's own (`Runtime.for_user()`). `approve` is asked about calls that
        need an approval. With `validates_rewrites=False` what a hook rewrote is not validated again.
        """
        self.tools = tools_by_name(tools)
        self._checks = {name: tool.check() for name, tool in self.tools.items()}
        self._is_own_house = runtime is None
        self.runtime = runtime or Runtime.embed(schemas={})  # the tools' own schemas count, and are checked here
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
        self._is_kept_going = False
        self._has_stopped = False
        self._above: ToolRunner | None = None
        self._is_closed = False
        self.register(hooks or {})

    def register(self, hooks: Registration, group: str = "") -> list[Hook]:
        """Add hooks for this session; those of a group can be taken back together."""
        self.listeners.add(hooks.get(STREAM, ()))
        found = hooks_from(_without_stream(hooks))
        # Not by `session_id`: such hooks go when a session ends, and whoever goes on would have no guards any more.
        if self.at.agent_id or not self._is_own_house:
            found = [replace(hook, only_for=self.at.name) for hook in found]
        return self.runtime.register(*found, group=group or self.at.name)

    def unregister(self, group: str) -> int:
        """Take a group of hooks back; returns how many."""
        return self.runtime.unregister(group=group)

    def run(self, tool: str, tool_input: Input, tool_use_id: str = "") -> Result:
        """One call of the model's; whatever happens to it is in the result."""
        id_ = tool_use_id or f"call_{uuid.uuid4().hex}"
        begun = self._begin(tool, tool_input, id_)
        return self._end(begun if isinstance(begun, Result) else self.at.run(begun), id_)

    async def run_async(self, tool: str, tool_input: Input, tool_use_id: str = "") -> Result:
        """The same without blocking the loop. Cancelling the task interrupts the tool, and hooks get to know it."""
        id_ = tool_use_id or f"call_{uuid.uuid4().hex}"
        begun = self._begin(tool, tool_input, id_)
        return self._end(begun if isinstance(begun, Result) else await self._cancellable(begun), id_)

    def cancel(self) -> None:
        """From any thread: interrupt the calls that `run_async` waits for, and let no further one begin."""
        self._shared.is_cancelled = True
        for each in tuple(self._shared.running):
            each.get_loop().call_soon_threadsafe(each.cancel)

    def close(self) -> None:
        """Take all hooks back and, unless the house is somebody else's, wait for what still runs; nothing runs then."""
        self._is_closed = True  # first: no call may slip through between the hooks' end and ours
        self.unregister(self.at.session_id)
        if self._is_own_house:
            self.runtime.close()

    @property
    def is_closed(self) -> bool:
        """Has this runner, or one that it is a sub-agent of, given its hooks back?"""
        return self._is_closed or (self._above is not None and self._above.is_closed)

    def submit(self, prompt: str) -> PromptResult:
        """Have the hooks look at a prompt; they may reword it, add to it or refuse it."""
        if self.is_closed:
            return PromptResult(prompt=prompt, refusal=CLOSED)
        return prompt_result(self.fire("UserPromptSubmit", prompt=prompt))

    async def submit_async(self, prompt: str) -> PromptResult:
        if self.is_closed:
            return PromptResult(prompt=prompt, refusal=CLOSED)
        return prompt_result(await self.fire_async("UserPromptSubmit", prompt=prompt))

    def stop(self) -> str:
        """The agent wants to stop. Returns why it is to go on, or nothing: then it may."""
        return self._stopped(self.fire(self._stop_event(), stop_hook_active=self._is_kept_going))

    async def stop_async(self) -> str:
        return self._stopped(await self.fire_async(self._stop_event(), stop_hook_active=self._is_kept_going))

    def fire(self, name: str, **fields: Any) -> Decision:
        """Any other event of the session: `runner.fire("PreCompact", trigger="auto")`."""
        return self._shown(self.at.fire(name, **fields))

    async def fire_async(self, name: str, **fields: Any) -> Decision:
        return self._shown(await self.at.fire_async(name, **fields))

    def emit(self, notice: Notice) -> None:
        """Report something to everybody who listens."""
        if not self.listeners:
            return
        self.listeners.tell(replace(notice, session_id=self.at.session_id, agent_id=self.at.agent_id))

    @contextmanager
    def session(self, source: str = "startup") -> Iterator[Decision]:
        """SessionStart now, SessionEnd at the end of the block; yields what hooks said at the start."""
        self._say_hello()
        start = self.fire("SessionStart", source=source)
        try:
            yield start
        finally:
            self.fire("SessionEnd", reason="other")

    @asynccontextmanager
    async def session_async(self, source: str = "startup") -> AsyncIterator[Decision]:
        self._say_hello()
        start = await self.fire_async("SessionStart", source=source)
        try:
            yield start
        finally:
            await self.fire_async("SessionEnd", reason="other")

    @contextmanager
    def subagent(self, agent_type: str, hooks: Registration | None = None) -> "Iterator[ToolRunner]":
        """A runner for a sub-agent. Its hooks see its events and those below it, and are gone when the block ends."""
        child = self._child(agent_type, hooks)
        try:
            child.fire("SubagentStart")
            yield child
        finally:  # one that failed has stopped as well
            try:
                if not child._has_stopped:
                    child.stop()
            finally:
                child._end_of_block()

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
                child._end_of_block()

    def _end_of_block(self) -> None:
        self._is_closed = True
        self.unregister(self.at.agent_id)

    def _stop_event(self) -> str:
        return "SubagentStop" if self.at.agent_id else "Stop"

    def _stopped(self, decision: Decision) -> str:
        why = stop_is_blocked(decision)
        self._is_kept_going, self._has_stopped = bool(why), not why
        return why

    def _begin(self, name: str, tool_input: Input, tool_use_id: str) -> Plan | Result:
        """The plan of a call, or the result of one that never comes to be."""
        self.emit(ToolCalled(tool=name, input=deep_copy(tool_input), tool_use_id=tool_use_id))
        tool, shared = self.tools.get(name), self._shared
        if shared.is_cancelled:
            return Result(status="cancelled", tool=name, input=tool_input, error=CANCELLED)
        if self.is_closed:
            return Result(status="refused", tool=name, input=tool_input, error=CLOSED)
        if tool is None:
            return Result(status="unknown", tool=name, input=tool_input, error=f"there is no tool `{name}`")
        if self.max_calls is not None and shared.calls >= self.max_calls:
            error = f"the {self.max_calls} tool calls of this session are used up"
            return Result(status="over budget", tool=name, input=tool_input, error=error)
        shared.calls += 1
        return self.at.plan(
            name,
            tool_input,
            tool.execute(),
            tool_use_id,
            is_enabled=tool.enabled(),
            validate=self._checks[name],
            permission=partial(self._permission, tool),
            validates_rewrites=self.validates_rewrites,
            timeout=tool.timeout,
            on_decision=self._shown,
        )

    def _permission(self, tool: Tool, value: Input) -> Any:
        """The tool's own rule; whoever closed the runner after the call began may have taken its hooks away."""
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
            if not self._shared.is_cancelled or (task and task.cancelling()):  # whoever waits for us was cancelled
                raise
            return Result(status="cancelled", tool=plan.tool, input=plan.input, error=CANCELLED)
        finally:
            self._shared.running.discard(running)

    def _shown(self, decision: Decision) -> Decision:
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

    def _say_hello(self) -> None:
        self.emit(SessionInfo(cwd=self.at.cwd, tools=tuple(self.tools)))

    def _child(self, agent_type: str, hooks: Registration | None) -> "ToolRunner":
        child = copy(self)  # the same house, tools and budget
        child.at = self.at.below(agent_type)
        child.listeners = self.listeners.copy()
        child._above, child._is_closed = self, False
        child._is_kept_going = child._has_stopped = False
        child.register(hooks or {})
        return child


class _Shared:
    """What a session and its sub-agents have in common."""

    def __init__(self) -> None:
        self.calls = 0
        self.is_cancelled = False
        self.running: set[asyncio.Future[Result]] = set()


def _without_stream(hooks: Registration) -> Mapping[str, Iterable[AnyMatcher]]:
    return {name: matchers for name, matchers in hooks.items() if name != STREAM}
