"""
Claude Code 2.1.325. Payloads are canonical as they come; replies differ from event to event, in a handful of shapes.

Every form of refusal here was seen to take effect in the real client. Three of its habits shape the code: one value
of a wrong type voids the whole answer, a deny included; text on stdout that does not begin with `{` is not an answer;
and exit code 2 is quietly forgiven on some events when stderr sounds like a missing file. So refusals are JSON, and
what hooks supply is checked before it goes in.
"""

from collections.abc import Callable, Mapping
from typing import Any

from snell.clients.protocol.messages import changed_by, other_prompt, reason_of, stop_reason
from snell.model.catalogue import CATALOGUE, NEVER_BLOCKED_BY_FAILURE, canonical
from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.model.errors import PayloadError
from snell.model.events import Event, event_from
from snell.model.protocols import Capabilities, Quirk, Reply
from snell.system.json_input import check_tool_name, odd_fields, read_payload
from snell.system.json_output import json_bytes

NAME = "claude_code"
TITLE = "Claude Code"
ALIASES = ("claude", "claude-code", "claudecode")
CAPABILITIES = Capabilities()
QUIRKS = (
    Quirk("one value of a wrong type voids the whole answer, a deny included", "seen in 2.1.325"),
    Quirk("text on stdout that does not begin with `{` is not an answer", "seen in 2.1.325"),
    Quirk("exit code 2 is forgiven on some events when stderr sounds like a missing file", "seen in 2.1.325"),
    Quirk("a prompt cannot be replaced, only refused or commented on", "seen in 2.1.325"),
)

Fields = dict[str, Any]
Shape = Callable[[Decision], Reply]

NEUTRAL = Reply()
ANSWERS = ("accept", "decline", "cancel")

EXTRA_TYPES: Mapping[str, type] = {
    "classifierContext": str,
    "content": dict,
    "initialUserMessage": str,
    "interrupt": bool,
    "reloadSkills": bool,
    "retry": bool,
    "sessionTitle": str,
    "suppressOriginalPrompt": bool,
    "suppressOutput": bool,
    "terminalSequence": str,
    "updatedPermissions": list,
    "watchPaths": list,
    "worktreePath": str,
}


EVENT_FIELDS = ("hook_event_name", "hookEventName", "hook_event")


def decode(payload: bytes, event: str = "") -> Event:
    """The event that a payload reports. One that the catalogue does not know is a plain event."""
    given, flags = read_payload(payload)
    check_tool_name(given)
    flags += odd_fields(given)
    name = next((text for field in EVENT_FIELDS if isinstance(text := given.get(field), str) and text), event)
    if not name:
        raise PayloadError("the payload has no `hook_event_name`", advice="is this really Claude Code calling?")
    return event_from(given, name if name in CATALOGUE else canonical(name), NAME, flags)


def encode(decision: Decision) -> Reply:
    """What the client is to be told; nothing at all for a silent decision or an event that is not known."""
    shape = SHAPES.get(decision.event.name)
    says = decision.verdict or decision.notes or decision.tells or decision.stop or decision.changes or decision.extras
    return shape(decision) if shape and says else NEUTRAL


def failed(event: str, text: str, *, blocks: bool) -> Reply:
    """Exit code 1 is a failed hook, which changes nothing; a stop is never refused for a failure."""
    refuses = blocks and canonical(event) not in NEVER_BLOCKED_BY_FAILURE
    if refuses and canonical(event) == "PermissionRequest":  # where exit code 2 means nothing
        own = {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": text}}
        return Reply(stdout=json_bytes({"hookSpecificOutput": own}), stderr=_bytes(f"{text}\n"))
    return Reply(stderr=_bytes(f"{text}\n"), exit_code=2 if refuses else 1)


def _permission(decision: Decision) -> Reply:
    """PreToolUse, PreModelSwitch. Rewriting is not allowing: without a verdict the client asks as it always does."""
    specific: Fields = {}
    verdict = Verdict.DENY if _refuses(decision) else decision.verdict
    if verdict:
        specific["permissionDecision"] = verdict.name.lower()
        specific["permissionDecisionReason"] = reason_of(decision) if verdict is Verdict.DENY else decision.reason
    if verdict < Verdict.DEFER and isinstance(_rewritten(decision), dict):
        specific["updatedInput"] = _rewritten(decision)
    return _reply(decision, {**specific, **_context(decision)})


def _dialog(decision: Decision) -> Reply:
    """PermissionRequest. It takes a rewritten input with an approval only, and rewriting is not approving."""
    extras = _extras(decision)
    if _refuses(decision):
        interrupt = {"interrupt": True} if extras.get("interrupt") else {}
        return _reply(decision, {"decision": {"behavior": "deny", "message": reason_of(decision), **interrupt}})
    rewritten = _rewritten(decision)
    if decision.verdict is Verdict.ALLOW:
        updated = {"updatedInput": rewritten} if isinstance(rewritten, dict) else {}
        permissions = {key: extras[key] for key in ("updatedPermissions",) if key in extras}
        return _reply(decision, {"decision": {"behavior": "allow", **updated, **permissions}})
    told = f"{changed_by(decision)} would change this call, which needs an approval too; it is unchanged"
    return _reply(decision, {}, told=told if decision.is_rewritten else "")


def _block(decision: Decision) -> Reply:
    """A reason instead of a permission: before a prompt, after a tool, at the end of a turn, on tasks and settings."""
    specific = {**_context(decision), **_extras(decision)}
    if decision.is_rewritten and decision.event.row.rewrites == "tool_response":
        specific["updatedToolOutput"] = _like(decision.changes[0].before, _rewritten(decision))
    return _reply(decision, specific, _blocking(decision))


def _prompt(decision: Decision) -> Reply:
    """UserPromptSubmit. The client cannot replace a prompt, so the model is given the new wording beside it."""
    if not decision.is_rewritten or _refuses(decision):
        return _block(decision)
    by = changed_by(decision)
    context = "\n".join(text for text in (other_prompt(decision, _rewritten(decision)), decision.note) if text)
    told = f"{by} reworded your prompt; the agent was given both wordings"
    return _reply(decision, {"additionalContext": context, **_extras(decision)}, told=told)


def _turn_end(decision: Decision) -> Reply:
    """Stop, SubagentStop. Context alone would keep the agent going, so it goes out with a refusal only."""
    refusal = _blocking(decision)
    return _reply(decision, _context(decision) if refusal else {}, refusal)


def _inform(decision: Decision) -> Reply:
    """Events that nobody can stop."""
    return _reply(decision, {**_context(decision), **_extras(decision)})


def _compaction(decision: Decision) -> Reply:
    """PreCompact. Whatever stands on stdout is pasted into the request for the summary, JSON included."""
    if refusal := _blocking(decision):
        return _reply(decision, {}, refusal)
    text = decision.note.replace("\ufeff", "").strip()
    # INVARIANT: a note must not be taken for an answer, so it never begins like one.
    text = f"Note:\n{text}" if text.startswith("{") else text
    return Reply(stdout=_bytes(text))


def _elicitation(decision: Decision) -> Reply:
    """Elicitation, ElicitationResult: an answer in the user's stead. A refusal has no reason; the user is told it."""
    if _refuses(decision):
        return _reply(decision, {"action": "decline"}, told=reason_of(decision))
    action = decision.extras.get("action")
    if action not in ANSWERS:
        return _reply(decision, {})
    content = _extras(decision).get("content")
    return _reply(decision, {"action": action, **({"content": content} if content is not None else {})})


def _display(decision: Decision) -> Reply:
    """MessageDisplay: other words on the screen; the model's own stay."""
    text = _rewritten(decision)
    return _reply(decision, {"displayContent": text} if isinstance(text, str) else {})


def _worktree(decision: Decision) -> Reply:
    """WorktreeCreate. Stdout is read as a path and any exit but 0 is a refusal, so there is no room for messages."""
    if _refuses(decision):
        return Reply(stderr=_bytes(reason_of(decision)), exit_code=2)
    path = str(_extras(decision).get("worktreePath", "")).strip()
    return Reply(stdout=_bytes(path)) if path and len(path.splitlines()) == 1 else NEUTRAL


SHAPES: Mapping[str, Shape] = {
    "PreToolUse": _permission,
    "PreModelSwitch": _permission,
    "PermissionRequest": _dialog,
    "PostToolUse": _block,
    "PostToolUseFailure": _block,
    "PostToolBatch": _block,
    "UserPromptSubmit": _prompt,
    "UserPromptExpansion": _block,
    "TaskCreated": _block,
    "TaskCompleted": _block,
    "TeammateIdle": _block,
    "ConfigChange": _block,
    "Stop": _turn_end,
    "SubagentStop": _turn_end,
    "PreCompact": _compaction,
    "Elicitation": _elicitation,
    "ElicitationResult": _elicitation,
    "MessageDisplay": _display,
    "WorktreeCreate": _worktree,
    "PermissionDenied": _inform,
    "SessionStart": _inform,
    "SessionEnd": _inform,
    "Setup": _inform,
    "StopFailure": _inform,
    "SubagentStart": _inform,
    "PostCompact": _inform,
    "PostModelSwitch": _inform,
    "Notification": _inform,
    "InstructionsLoaded": _inform,
    "CwdChanged": _inform,
    "FileChanged": _inform,
    "DirectoryAdded": _inform,
    "WorktreeRemove": _inform,
}


def _reply(decision: Decision, specific: Fields, top: Fields | None = None, told: str = "") -> Reply:
    fields: Fields = dict(top or {})
    if decision.stop and "stop" in decision.event.row.can:
        fields["continue"] = False
        fields["stopReason"] = stop_reason(decision)
    if message := "\n".join(text for text in (decision.tell, told) if text):
        fields["systemMessage"] = message
    fields |= {name: decision.extras[name] for name in ("suppressOutput", "terminalSequence") if _fits(decision, name)}
    specific = {key: value for key, value in specific.items() if value != ""}
    if specific:
        fields["hookSpecificOutput"] = {"hookEventName": decision.event.name, **specific}
    return Reply(stdout=json_bytes(fields)) if fields else NEUTRAL


def _blocking(decision: Decision) -> Fields:
    return {"decision": "block", "reason": reason_of(decision)} if _refuses(decision) else {}


def _context(decision: Decision) -> Fields:
    return {"additionalContext": decision.note} if decision.notes and "note" in decision.event.row.can else {}


def _extras(decision: Decision) -> Fields:
    return {name: decision.extras[name] for name in sorted(decision.event.row.extras) if _fits(decision, name)}


def _fits(decision: Decision, name: str) -> bool:
    """Is this extra given, and of the type that the client takes?"""
    value = decision.extras.get(name)
    if isinstance(value, list) and name == "watchPaths":
        return all(isinstance(path, str) for path in value)
    return name in EXTRA_TYPES and isinstance(value, EXTRA_TYPES[name])


def _refuses(decision: Decision) -> bool:
    """Denied, or a verdict that the event cannot express: the nearest stricter thing is to refuse."""
    can = decision.event.row.can
    name = decision.verdict.name.lower()
    return "deny" in can and decision.verdict > Verdict.ALLOW and (decision.verdict is Verdict.DENY or name not in can)


def _rewritten(decision: Decision) -> Any:
    return decision.event.rewritable if decision.is_rewritten else None


def _like(before: Any, after: Any) -> Any:
    """Plain text in the form of a command's output: the client drops output of another shape, and shows the old one."""
    if isinstance(after, str) and isinstance(before, dict) and "stdout" in before:
        return {**before, "stdout": after, "stderr": ""}
    return after


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
