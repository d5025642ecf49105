"""
Decide events as operations: `hooks.preToolUse` and the like, with the payload as arguments.

The result is the output of a Claude Code hook, and for the events of the work layer also its ids and counts. Before a
tool call, `allow` says whether the call may run now, and `reason` why not. The caller acts for a session, so the fields
of every session are required.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from snell.clients import client_named
from snell.clients.protocol.messages import ask_reason, reason_of, stop_reason
from snell.model.catalogue import CATALOGUE
from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.model.errors import PayloadError, StoreError
from snell.model.events import Event
from snell.model.protocols import Transaction
from snell.operations import Arguments, Call
from snell.operations.rpc import CallError
from snell.operations.work import database_of, issue_in
from snell.packs.sessions.caller import ANSWERED, USAGE, caller_for, usage_of
from snell.packs.sessions.hook_output import output_of
from snell.redact import redact_data
from snell.runtime.app import Runtime
from snell.settings.builtin_packs import options_of
from snell.system.json_output import json_bytes
from snell.system.transcripts import tail_of
from snell.work import after_tool_call, agent_events, before_tool_call, hook_arguments, session_events, transcript_end
from snell.work.hook_arguments import Caller, HookCall
from snell.work.rows import Record, camel_keys

REQUIRED = ("session_id", "transcript_path", "cwd")
OPTIONAL = ("permission_mode",)

WorkAnswer = Callable[[Transaction, Any, Caller], Record]


def decide_event(
    name: str, runtime: Runtime, arguments: Arguments, env: Mapping[str, str]
) -> Awaitable[dict[str, Any]]:
    """Decide the event of this name. Raises CallError for an invalid payload."""
    payload = {**arguments, "cwd": arguments.get("cwd") or env.get("CWD")}
    issues = [issue for field in (*REQUIRED, *OPTIONAL) if (issue := _issue(payload, field))]
    try:
        event = client_named("generic").decode(json_bytes({**payload, "hook_event_name": name}))
    except PayloadError as error:
        raise _invalid([*issues, f"payload: {error.message}"]) from None
    if issues:
        raise _invalid(issues)
    result = _work(event, runtime, payload, env) if name in _WORK and runtime.database else {}
    return _answer(runtime, replace(event, flags=(*event.flags, ANSWERED)), result)


async def _answer(runtime: Runtime, event: Event, result: Record) -> dict[str, Any]:
    """Return the result of the work layer, with the decision of all other hooks."""
    own = output_of(event.name, result)
    if result.get("allow") is False:
        return {**result, **own}
    decision = await runtime.decide_async(event)
    printed = client_named("claude-code").encode(decision).stdout
    answer: dict[str, Any] = msgspec.json.decode(printed) if printed.startswith(b"{") else {}
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


def _work(event: Event, runtime: Runtime, payload: Arguments, env: Mapping[str, str]) -> Record:
    name = event.name
    type_, answer = _WORK[name]
    given = {"hookEventName": name, **camel_keys(payload)}
    try:
        asked = msgspec.convert(redact_data(given) if name in _STORED else given, type_)
    except msgspec.ValidationError as error:
        raise _invalid([issue_in(str(error))]) from None
    options = options_of("sessions", runtime.context_for(event).registry.hooks())
    usage = runtime.store.get(f"session:{asked.session_id}", USAGE)
    caller = caller_for(env, options, usage_of(usage, options["context_window"]))
    trouble = transcript_end.find_failure(tail_of(asked.transcript_path)) if name == "Stop" else ""
    try:
        return database_of(runtime).run(lambda tx: _handle(tx, name, asked, caller, answer, trouble))
    except StoreError:  # the agent must not be blocked by a storage problem
        return {"allow": True} if name == "PreToolUse" else {}


def _handle(
    tx: Transaction, name: str, asked: HookCall, caller: Caller, answer: WorkAnswer | None, trouble: str
) -> Record:
    result = answer(tx, asked, caller) if answer else {}
    fields = {each: getattr(asked, each) for each in asked.__struct_fields__}
    status = agent_events.status_after(name, {**fields, "trouble": trouble})
    changed = agent_events.set_status(tx, caller, status, result.get("effortId")) if status else None
    return {
        **result,
        "status": status,
        "statusChanged": changed is not None,
        **({"trouble": trouble} if trouble else {}),
    }


def _invalid(issues: list[str]) -> CallError:
    return CallError("VALIDATION_ERROR", f"the payload is not valid: {'; '.join(issues)}", {"issues": issues})


def _issue(payload: Mapping[str, Any], field: str) -> str:
    camel = _camel_case(field)
    value = payload.get(field, payload.get(camel))
    if value is None:
        return f"{camel}: is missing" if field in REQUIRED else ""
    return "" if isinstance(value, str) else f"{camel}: must be text"


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


# The events of the work layer: the type of their arguments, and the function that handles them, if any.
_WORK: Mapping[str, tuple[type[HookCall], WorkAnswer | None]] = {
    "SessionStart": (hook_arguments.SessionStart, session_events.session_start),
    "SessionEnd": (hook_arguments.SessionEnd, session_events.session_end),
    "PreCompact": (hook_arguments.PreCompact, session_events.pre_compact),
    "PreToolUse": (hook_arguments.PreToolUse, before_tool_call.pre_tool_use),
    "PostToolUse": (hook_arguments.PostToolUse, after_tool_call.post_tool_use),
    "PostToolUseFailure": (hook_arguments.PostToolUseFailure, after_tool_call.post_tool_use_failure),
    "Stop": (hook_arguments.Stop, None),
    "UserPromptSubmit": (hook_arguments.UserPrompt, session_events.user_prompt),
    "Notification": (hook_arguments.Notification, None),
    "PermissionRequest": (hook_arguments.PermissionRequest, None),
    "TeammateIdle": (hook_arguments.TeammateIdle, agent_events.teammate_idle),
    "TaskCompleted": (hook_arguments.TaskCompleted, agent_events.task_completed),
    "SubagentStart": (hook_arguments.SubagentStart, agent_events.subagent_start),
    "SubagentStop": (hook_arguments.SubagentStop, agent_events.subagent_stop),
    "ConfigChange": (hook_arguments.ConfigChange, agent_events.config_change),
}
_STORED = frozenset({"PostToolUse", "PostToolUseFailure", "TaskCompleted"})  # stored as messages, without secrets

COMMANDS: Mapping[str, Call] = {
    **{f"hooks.{name[0].lower()}{name[1:]}": partial(decide_event, name) for name in CATALOGUE},
    "hooks.userPrompt": partial(decide_event, "UserPromptSubmit"),
}
