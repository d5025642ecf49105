"""
One agent inside another program: its runtime, session and working directory, and the events that it fires.

The tool runner and the adapters share it, so that a hook sees the same event in all of them.
"""

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.embed.tool_call import Approval, Input, Plan, Result, call_tool, stop_text
from snell.embed.twins import Driver, twins
from snell.model.catalogue import TURN_ENDS
from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.model.events import Event
from snell.model.tools import kind_of
from snell.runtime.app import Runtime
from snell.runtime.callback_hooks import event_named
from snell.system.paths import working_folder


class PromptResult(Struct, frozen=True, kw_only=True):
    """A prompt after the hooks. A refused one is not sent to the model."""

    prompt: str
    refusal: str = ""
    notes: tuple[str, ...] = ()
    tells: tuple[str, ...] = ()
    stop: str = ""

    @property
    def text(self) -> str:
        """The text for the model: the prompt, then the notes."""
        return "\n".join(filter(None, [self.prompt, *self.notes]))


class EmbeddedAgent(Struct, frozen=True, kw_only=True, eq=False):
    runtime: Runtime
    session_id: str = ""
    cwd: str = ""
    client: str = "embedded"
    agent_id: str = ""  # of a sub-agent
    above: tuple[str, ...] = ()  # the session and the agents above this sub-agent
    agent_type: str = ""
    known_as: Mapping[str, str] = {}  # tool name -> the name of a similar tool of Claude Code
    is_named: bool = False  # its session id was given, so the sessions of a library do not count
    approve: Callable[[Approval], Any] | None = None

    @property
    def name(self) -> str:
        """The id of this agent, for hooks of this agent alone."""
        return self.agent_id or self.session_id

    @property
    def lineage(self) -> tuple[str, ...]:
        return (*self.above, self.name)

    def subagent(self, agent_type: str) -> "EmbeddedAgent":
        """Return a new sub-agent of this agent."""
        return replace(self, agent_id=f"agent-{uuid.uuid4().hex}", agent_type=agent_type, above=self.lineage)

    def in_session(self, session_id: Any) -> "EmbeddedAgent":
        """Return this agent in a session of the library, if there is one."""
        return replace(self, session_id=str(session_id)) if session_id and not self.is_named else self

    def with_alias(self, tool: str, claude_name: str) -> "EmbeddedAgent":
        """Return this agent with a name of Claude Code for a tool that has none yet."""
        return replace(self, known_as={tool: claude_name, **self.known_as})

    def event(self, name: str, tool: str = "", **fields: Any) -> Event:
        claude_name = self.known_as.get(tool, tool)
        agent = {"agent_id": self.agent_id, "agent_type": self.agent_type} if self.agent_id else {}
        named = {"tool_name": claude_name} if tool else {}
        common = {"session_id": self.session_id, "cwd": self.cwd or working_folder(), "hook_event_name": name}
        return Event(
            name=name,
            payload={**common, **agent, **named, **fields},
            client=self.client,
            tool=claude_name,
            tool_name=tool,
            kind=kind_of(claude_name, fields.get("tool_input")),
            lineage=self.lineage,
        )

    async def fire_by(self, driver: Driver, /, name: str, **fields: Any) -> Decision:
        """Let the hooks decide an event of this agent."""
        return await driver.decide(self.runtime, self.event(event_named(name), **fields))

    fire, fire_async = twins(fire_by)

    def plan(
        self, tool: str, tool_input: Input, execute: Callable[[Input], Any], tool_use_id: str = "", **more: Any
    ) -> Plan:
        """Return the plan of a tool call; `more` are further fields of the plan."""
        id_ = tool_use_id or f"call_{uuid.uuid4().hex}"

        def event(name: str, fields: Input) -> Event:
            return self.event(name, tool, tool_use_id=id_, **fields)

        return Plan(tool=tool, input=tool_input, execute=execute, event=event, approve=self.approve, **more)

    async def run_by(self, driver: Driver, plan: Plan) -> Result:
        """Run a tool call."""
        return await call_tool(plan, self.runtime, driver)

    run, run_async = twins(run_by)

    async def submit_by(self, driver: Driver, prompt: str, *, takes_notes: bool = True) -> PromptResult:
        """Let the hooks check a prompt before the model gets it. With `takes_notes=False` notes wait."""
        event = replace(self.event("UserPromptSubmit", prompt=prompt), takes_notes=takes_notes)
        return prompt_result(await driver.decide(self.runtime, event))

    submit, submit_async = twins(submit_by)


def embedded_agent_for(runtime: Runtime, client: str, options: Mapping[str, Any]) -> EmbeddedAgent:
    """Return the agent for an adapter's options, with a new session id if there is none."""
    named = {"session_id": f"{client}-{uuid.uuid4().hex}", "is_named": "session_id" in options, **options}
    return EmbeddedAgent(runtime=runtime, client=client, **named)


def library(module: str, package: str) -> Any:
    """Import the library of an adapter, when the adapter is first used."""
    from importlib import import_module

    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != module.partition(".")[0]:
            raise
        raise ModuleNotFoundError(f"this adapter needs the package `{package}`; install it", name=error.name) from None


def prompt_result(decision: Decision) -> PromptResult:
    """Return the prompt after a decision about it."""
    stop = stop_text(decision)
    refused = decision.verdict is Verdict.DENY
    return PromptResult(
        prompt=decision.event.prompt,
        refusal=(decision.reason or "a hook refused the prompt") if refused else stop,
        notes=tuple(note.text for note in decision.notes),
        tells=tuple(tell.text for tell in decision.tells),
        stop=stop,
    )


def reason_to_continue(decision: Decision) -> str:
    """Return why an agent that wants to stop must continue; empty if it may stop."""
    if decision.event.name not in TURN_ENDS or decision.verdict is not Verdict.DENY:
        return ""
    return "\n".join(filter(None, [decision.reason or "a hook keeps the agent going", decision.note]))
