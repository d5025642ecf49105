"""
Decide events as operations: `hooks.preToolUse` and the like, with the payload as arguments.

The result is the output of a Claude Code hook, and for the events of the work layer also its ids and counts. Before a
tool call, `allow` says whether the call may run now, and `reason` why not. The caller acts for a session, so the fields
of every session are required. What comes with an event through `snell-hook` comes here too: notes of hooks that ended
after an earlier event, signals for a coordinator, problems with the settings.
"""

import os
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from snell.clients import client_named
from snell.clients.protocol.messages import ask_reason, reason_of, stop_reason
from snell.model.catalogue import CATALOGUE, canonical, nearest
from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.model.errors import PayloadError, StoreError
from snell.model.events import Event
from snell.model.protocols import Transaction
from snell.operations import results
from snell.operations.declaration import Arguments, Call, Operation, about, issue_in, operation
from snell.packs.sessions import subagents, tool_calls, tool_results, windows
from snell.packs.sessions.caller import USAGE, Caller, caller_for
from snell.packs.sessions.hook_output import output_of
from snell.settings.packs import options_of
from snell.system.json_output import json_bytes
from snell.system.transcripts import tail_of
from snell.work import agents, transcript_end
from snell.work.errors import ANSWERED, WorkError
from snell.work.hook_arguments import arguments_of
from snell.work.rows import Record, camel, camel_keys

REQUIRED = ("session_id", "transcript_path", "cwd")
OPTIONAL = ("permission_mode",)

WorkAnswer = Callable[[Transaction, Event, Caller], Record]


@operation("hooks.ask", tool="ask_hooks", permission="writes", gives=results.Decided)
async def ask(
    call: Call,
    event: Annotated[str, about("its name, such as `PreToolUse` or `UserPromptSubmit`")],
    session_id: Annotated[str, about("your session; the same for all its events", min_length=1)],
    payload: Annotated[
        dict[str, Any] | None, about("the other fields, such as `tool_name` and `tool_input`, or `prompt`")
    ] = None,
) -> Record:
    """
    Ask the hooks about an event, as a client with hooks does: before a tool call whether it may run, with a prompt what
    there is to know. Returns the decision and notes, also those that waited for you.
    """
    if canonical(event) not in CATALOGUE:
        near = nearest(event)
        raise _invalid(f"event: unknown event `{event[:80]}`{f'; did you mean `{near}`?' if near else ''}")
    usual = {"transcript_path": "", "tool_use_id": os.urandom(8).hex()}
    given = {**usual, **(payload or {}), "session_id": session_id}
    return {"event": canonical(event), **await decide_event(canonical(event), call, given)}


async def decide_event(name: str, call: Call, arguments: Arguments) -> Record:
    """Decide the event of this name. Raises WorkError for an invalid payload."""
    payload = {**arguments, "cwd": arguments.get("cwd") or call.env.get("CWD")}
    issues = [issue for field in (*REQUIRED, *OPTIONAL) if (issue := _issue(payload, field))]
    try:
        event = client_named("generic").decode(json_bytes({**payload, "hook_event_name": name}))
    except PayloadError as error:
        raise _invalid(*issues, f"payload: {error.message}") from None
    if issues:
        raise _invalid(*issues)
    result = _work(event, call, payload) if name in _WORK and call.runtime.database else {}
    event = replace(event, flags=(*event.flags, ANSWERED))
    own = output_of(event.name, result)
    if result.get("allow") is False:
        return {**result, **own}
    env = {**call.runtime.env, **{name: value for name, value in call.env.items() if name != "CWD"}}
    decision = await call.runtime.decide_async(event, env=env)
    printed = client_named("claude-code").encode(decision).stdout
    answer: Record = msgspec.json.decode(printed) if printed.startswith(b"{") else {}
    outputs = (own.get("hookSpecificOutput"), answer.get("hookSpecificOutput"))
    allowed = _permission(decision) if event.name == "PreToolUse" else {}
    return {**result, **allowed, **answer, **_merge_outputs(*outputs), "decisionId": decision.id}


def _permission(decision: Decision) -> Record:
    """Return whether the call may run now; ask and defer are no, since the caller may read only `allow`."""
    match decision.verdict:
        case Verdict.DENY:
            return {"allow": False, "reason": reason_of(decision)}
        case Verdict.ASK | Verdict.DEFER as verdict:
            return {"allow": False, "reason": f"{verdict.name.lower()}: {ask_reason(decision)}"}
    return {"allow": False, "reason": stop_reason(decision)} if decision.stop else {"allow": True}


def _merge_outputs(one: Record | None, other: Record | None) -> Record:
    texts = [each["additionalContext"] for each in (one, other) if each and each.get("additionalContext")]
    if not one and not other:
        return {}
    context = {"additionalContext": "\n\n".join(texts)} if texts else {}
    return {"hookSpecificOutput": {**(one or {}), **(other or {}), **context}}


def _work(event: Event, call: Call, payload: Arguments) -> Record:
    runtime = call.runtime
    try:
        msgspec.convert(camel_keys(payload), arguments_of(event.name))
    except msgspec.ValidationError as error:
        raise _invalid(issue_in(str(error))) from None
    options = options_of("sessions", runtime.context_for(event).registry.hooks())
    caller = caller_for(call.env, options, runtime.store.get(f"session:{event.session_id}", USAGE), call.read_skill)
    trouble = transcript_end.find_failure(tail_of(event.transcript_path)) if event.name == "Stop" else ""
    try:
        return call.database.run(lambda tx: _handle(tx, event, caller, trouble))
    except StoreError:  # the agent must not be blocked by a storage problem
        return {"allow": True} if event.name == "PreToolUse" else {}


def _handle(tx: Transaction, event: Event, caller: Caller, trouble: str) -> Record:
    work = _WORK[event.name]
    result = work(tx, event, caller) if work else {}
    status = agents.status_after(event.name, event.payload, trouble)
    changed = agents.set_status(tx, caller.agent, status, result.get("effortId")) if status else None
    return {
        **result,
        "status": status,
        "statusChanged": changed is not None,
        **({"trouble": trouble} if trouble else {}),
    }


def _invalid(*issues: str) -> WorkError:
    message = f"the payload is not valid: {'; '.join(issues)}"
    return WorkError("VALIDATION_ERROR", message, details={"issues": list(issues)})


def _issue(payload: Mapping[str, Any], field: str) -> str:
    name = camel(field)
    value = payload.get(field, payload.get(name))
    if value is None:
        return f"{name}: is missing" if field in REQUIRED else ""
    return "" if isinstance(value, str) else f"{name}: must be text"


# The events of the work layer, and the function that handles them, if any.
_WORK: Mapping[str, WorkAnswer | None] = {
    "SessionStart": windows.session_start,
    "SessionEnd": windows.session_end,
    "PreCompact": windows.pre_compact,
    "PreToolUse": tool_calls.pre_tool_use,
    "PostToolUse": tool_results.post_tool_use,
    "PostToolUseFailure": tool_results.post_tool_use_failure,
    "Stop": None,
    "UserPromptSubmit": windows.user_prompt,
    "Notification": None,
    "PermissionRequest": None,
    "TeammateIdle": lambda tx, event, caller: agents.teammate_idle(tx, event, caller.agent),
    "TaskCompleted": subagents.complete_task,
    "SubagentStart": subagents.subagent_start,
    "SubagentStop": subagents.subagent_stop,
    "ConfigChange": subagents.config_change,
}


def _of_event(event: str, name: str = "") -> Operation:
    async def decide(call: Call, payload: Arguments) -> Record:
        return await decide_event(event, call, payload)

    decide.__doc__ = f"Decide a {event} event; the arguments are its payload."
    return Operation(f"hooks.{name or event[0].lower() + event[1:]}", decide, permission="writes", is_open=True)


OPERATIONS = (*map(_of_event, CATALOGUE), _of_event("UserPromptSubmit", "userPrompt"))
