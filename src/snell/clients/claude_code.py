"""
Claude Code 2.1.325. Payloads need no translation; replies differ by event, in a few shapes.

Every form of refusal here was seen to work in the real client. Three quirks shape the code: one value of a wrong type
invalidates the whole answer, even a deny; text on stdout that does not begin with `{` is not an answer; and exit code 2
is ignored on some events if stderr looks like a missing file. So refusals are JSON, and values from hooks are checked.
"""

from collections.abc import Callable, Mapping
from typing import Any

from snell.clients.protocol.messages import changed_by, other_prompt, reason_of, stop_reason
from snell.model.catalogue import CATALOGUE, NEVER_BLOCKED_BY_FAILURE, UNKNOWN, EventRow, canonical
from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.model.errors import PayloadError
from snell.model.events import Event, event_from
from snell.model.installs import HookForm, Install, Placeholder, Switch
from snell.model.protocols import Capabilities, Client, Quirk, Reply
from snell.system.json_input import check_tool_name, odd_fields, read_payload
from snell.system.json_output import json_bytes

NAME, TITLE = "claude_code", "Claude Code"

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
    """Return the event that a payload reports; an unknown event is kept as it is."""
    given, flags = read_payload(payload)
    check_tool_name(given)
    flags += odd_fields(given)
    name = event
    for field in EVENT_FIELDS:
        if (text := given.get(field)) and isinstance(text, str):
            name = text
            break
    if not name:
        raise PayloadError("the payload has no `hook_event_name`", advice="is this really Claude Code calling?")
    return event_from(given, name if name in CATALOGUE else canonical(name), NAME, flags)


def encode(decision: Decision) -> Reply:
    """Return the reply for a decision; empty without an opinion, or for an unknown event."""
    row = decision.event.row
    has_effect = decision.verdict or decision.notes or decision.tells or decision.stop or decision.changes
    return _shape_of(row)(decision) if row is not UNKNOWN and (has_effect or decision.extras) else NEUTRAL


def encode_failure(event: str, text: str, *, blocks: bool) -> Reply:
    """Return exit code 2 for a refusal, else 1: a failed hook, which changes nothing."""
    refuses = blocks and canonical(event) not in NEVER_BLOCKED_BY_FAILURE
    if refuses and canonical(event) == "PermissionRequest":  # exit code 2 has no effect there
        own = {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": text}}
        return Reply(stdout=json_bytes({"hookSpecificOutput": own}), stderr=_bytes(f"{text}\n"))
    return Reply(stderr=_bytes(f"{text}\n"), exit_code=2 if refuses else 1)


def _permission(decision: Decision) -> Reply:
    """Answer PreToolUse and PreModelSwitch. A rewrite is no approval: without a verdict the client asks as usual."""
    specific: Fields = {}
    verdict = Verdict.DENY if _refuses(decision) else decision.verdict
    if verdict:
        specific["permissionDecision"] = verdict.name.lower()
        specific["permissionDecisionReason"] = reason_of(decision) if verdict is Verdict.DENY else decision.reason
    if verdict < Verdict.DEFER and isinstance(_new_value(decision), dict):
        specific["updatedInput"] = _new_value(decision)
    return _reply(decision, {**specific, **_context(decision)})


def _dialog(decision: Decision) -> Reply:
    """Answer PermissionRequest. It takes a changed input only with an approval, and a rewrite is no approval."""
    extras = _extras(decision)
    if _refuses(decision):
        interrupt = {"interrupt": True} if extras.get("interrupt") else {}
        return _reply(decision, {"decision": {"behavior": "deny", "message": reason_of(decision), **interrupt}})
    updated_input = _new_value(decision)
    if decision.verdict is Verdict.ALLOW:
        updated = {"updatedInput": updated_input} if isinstance(updated_input, dict) else {}
        permissions = {key: extras[key] for key in ("updatedPermissions",) if key in extras}
        return _reply(decision, {"decision": {"behavior": "allow", **updated, **permissions}})
    message = (
        f"{changed_by(decision)} would change this call, but Claude Code accepts a change only together with an"
        " approval; the call stays unchanged"
    )
    return _reply(decision, {}, message=message if decision.is_rewritten else "")


def _block(decision: Decision) -> Reply:
    """Answer most events: context, extras and, for a refusal, `decision: block` with a reason."""
    specific, message, field = {**_context(decision), **_extras(decision)}, "", decision.event.row.rewrites
    if decision.is_rewritten and field == "tool_response":
        specific["updatedToolOutput"] = _with_same_shape(decision.changes[0].before, _new_value(decision))
    elif decision.is_rewritten and not _refuses(decision):
        message = f"{changed_by(decision)} would change `{field}`, which {TITLE} cannot; it stays unchanged"
    return _reply(decision, specific, _blocking(decision), message)


def _prompt(decision: Decision) -> Reply:
    """Answer UserPromptSubmit. The client cannot replace a prompt, so the model also gets the new wording."""
    if not decision.is_rewritten or _refuses(decision):
        return _block(decision)
    by = changed_by(decision)
    context = "\n".join(text for text in (other_prompt(decision, _new_value(decision)), decision.note) if text)
    message = f"{by} reworded your prompt; the agent gets both wordings"
    return _reply(decision, {"additionalContext": context, **_extras(decision)}, message=message)


def _turn_end(decision: Decision) -> Reply:
    """Answer Stop and SubagentStop. Context alone would continue the turn, so it is only sent with a refusal."""
    refusal = _blocking(decision)
    return _reply(decision, _context(decision) if refusal else {}, refusal)


def _compaction(decision: Decision) -> Reply:
    """Answer PreCompact. The client pastes stdout into the request for the summary, even JSON."""
    if refusal := _blocking(decision):
        return _reply(decision, {}, refusal)
    text = decision.note.replace("\ufeff", "").strip()
    # INVARIANT: the client must not take a note for an answer, so a note never begins with `{`.
    text = f"Note:\n{text}" if text.startswith("{") else text
    return Reply(stdout=_bytes(text))


def _elicitation(decision: Decision) -> Reply:
    """Answer Elicitation and ElicitationResult for the user. A refusal has no reason, so it is shown as a message."""
    if _refuses(decision):
        return _reply(decision, {"action": "decline"}, message=reason_of(decision))
    action = decision.extras.get("action")
    if action not in ANSWERS:
        return _reply(decision, {})
    content = _extras(decision).get("content")
    return _reply(decision, {"action": action, **({"content": content} if content is not None else {})})


def _display(decision: Decision) -> Reply:
    """Answer MessageDisplay: the screen shows another text, and the model's message stays."""
    text = _new_value(decision)
    return _reply(decision, {"displayContent": text} if isinstance(text, str) else {})


def _worktree(decision: Decision) -> Reply:
    """Answer WorktreeCreate: stdout is a path, and any exit code but 0 refuses, so messages cannot be sent."""
    if _refuses(decision):
        return Reply(stderr=_bytes(reason_of(decision)), exit_code=2)
    path = str(_extras(decision).get("worktreePath", "")).strip()
    return Reply(stdout=_bytes(path)) if path and len(path.splitlines()) == 1 else NEUTRAL


SHAPES: Mapping[str, Shape] = {
    "PermissionRequest": _dialog,
    "UserPromptSubmit": _prompt,
    "PreCompact": _compaction,
    "MessageDisplay": _display,
    "Elicitation": _elicitation,
    "ElicitationResult": _elicitation,
    "WorktreeCreate": _worktree,
}


def _shape_of(row: EventRow) -> Shape:
    """Return the shape of an event's replies; what the event can express decides, if it has no special shape."""
    usual = _permission if "ask" in row.can else _turn_end if row.ends_turn else _block
    return SHAPES.get(row.name, usual)


def _reply(decision: Decision, specific: Fields, top: Fields | None = None, message: str = "") -> Reply:
    fields: Fields = dict(top or {})
    if decision.stop and "stop" in decision.event.row.can:
        fields["continue"] = False
        fields["stopReason"] = stop_reason(decision)
    if shown := "\n".join(text for text in (decision.tell, message) if text):
        fields["systemMessage"] = shown
    fields |= {name: decision.extras[name] for name in ("suppressOutput", "terminalSequence") if _fits(decision, name)}
    if fields.get("suppressOutput"):
        fields = {"continue": True, **fields}  # hooks that the document describes give both
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
    """Return whether this extra is given and has the type that the client takes."""
    value = decision.extras.get(name)
    if isinstance(value, list) and name == "watchPaths":
        return all(isinstance(path, str) for path in value)
    return name in EXTRA_TYPES and isinstance(value, EXTRA_TYPES[name])


def _refuses(decision: Decision) -> bool:
    """Return whether the event is denied, or has a verdict that it cannot express: then it is refused."""
    can = decision.event.row.can
    name = decision.verdict.name.lower()
    return "deny" in can and decision.verdict > Verdict.ALLOW and (decision.verdict is Verdict.DENY or name not in can)


def _new_value(decision: Decision) -> Any:
    return decision.event.rewritable if decision.is_rewritten else None


def _with_same_shape(before: Any, after: Any) -> Any:
    """Return text in the form of a command's output: the client ignores output of another shape."""
    if isinstance(after, str) and isinstance(before, dict) and "stdout" in before:
        return {**before, "stdout": after, "stderr": ""}
    return after


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


_MANAGED = tuple(
    f"{folder}/{name}"
    for folder in ("/etc/claude-code", "/Library/Application Support/ClaudeCode")
    for name in ("managed-settings.d/*.json", "managed-settings.json")
)


# The events that versions since 2.1.10 have added.
_EVENTS_BY_BUILD = {
    10: "Setup",
    33: "TeammateIdle TaskCompleted",
    49: "ConfigChange",
    50: "WorktreeCreate WorktreeRemove",
    69: "InstructionsLoaded",
    76: "Elicitation ElicitationResult PostCompact",
    78: "StopFailure",
    83: "CwdChanged FileChanged",
    84: "TaskCreated",
    89: "PermissionDenied",
    152: "MessageDisplay",
    219: "DirectoryAdded",
    251: "PreModelSwitch PostModelSwitch",
}


def _group(arguments: Placeholder, **fields: Any) -> Fields:
    """Return an entry that Claude Code starts without a shell, in a group without a matcher."""
    entry = {"type": "command", "command": Placeholder.PROGRAM, "args": arguments, **fields}
    return {"hooks": [{**entry, "timeout": Placeholder.SECONDS}]}


CLIENT = Client(
    name=NAME,
    title=TITLE,
    about=__doc__ or "",
    capabilities=Capabilities(),
    quirks=tuple(
        Quirk(text, "seen in 2.1.325")
        for text in (
            "one value of a wrong type invalidates the whole answer, even a deny",
            "text on stdout that does not begin with `{` is not an answer",
            "exit code 2 is ignored on some events if stderr looks like a missing file",
            "a prompt cannot be replaced, only refused or commented on",
        )
    ),
    install=Install(
        name=NAME,
        title=TITLE,
        programs=("claude",),
        base="~/.claude",
        base_variable="CLAUDE_CONFIG_DIR",
        folders=("{base}",),
        form=HookForm(
            name="claude-code",
            layout="lists",
            # With `onFailure` Claude Code refuses also if snell-hook is missing or was killed.
            entry=_group(Placeholder.ARGUMENTS, onFailure=Placeholder.ON_FAILURE),
            late_entry=_group(Placeholder.LATE_ARGUMENTS, asyncRewake=True),
        ),
        hooks={
            "user": "{base}/settings.json",
            "project": ".claude/settings.json",
            "local": ".claude/settings.local.json",
        },
        events=tuple(CATALOGUE),
        since={event: f"2.1.{build}" for build, events in _EVENTS_BY_BUILD.items() for event in events.split()},
        timeouts={"SessionEnd": 10, "MessageDisplay": 10},
        switches=(
            Switch(
                ("disableAllHooks",),
                True,
                (*_MANAGED, ".claude/settings.local.json", ".claude/settings.json", "{base}/settings.json"),
            ),
            Switch(("allowManagedHooksOnly",), True, _MANAGED),
        ),
        mcp={"user": "~/.claude.json", "project": ".mcp.json"},
        mcp_entry={"type": "stdio", "command": Placeholder.PROGRAM, "args": Placeholder.ARGUMENTS},
        rules={"user": "{base}/CLAUDE.md", "project": "CLAUDE.md"},
        status_line={"user": "{base}/settings.json"},
        reads=("skill:", "agent:"),
        command={"user": "{base}/commands/harness.md", "project": ".claude/commands/harness.md"},
        after=("start a new session; in a new folder, accept its trust dialog",),
    ),
    decode=decode,
    encode=encode,
    encode_failure=encode_failure,
)
