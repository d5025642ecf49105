"""
Any program that sends plain JSON: an agent of your own, a test, or a client that has no module here.

Payloads have Claude's form; other usual spellings of event and field names are understood. The reply is the complete
decision.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from snell.model.catalogue import NEVER_BLOCKED_BY_FAILURE, canonical
from snell.model.decision import Decision, Reason
from snell.model.effects import Verdict
from snell.model.errors import PayloadError
from snell.model.events import Event, Payload, event_from, text_in
from snell.model.installs import Install
from snell.model.protocols import Capabilities, Client, Reply
from snell.system.json_input import check_tool_name, odd_fields, read_payload
from snell.system.json_output import json_bytes

NAME = "generic"

# In order of precedence; `event` is last, because FileChanged has a field of that name.
EVENT_FIELDS = ("hook_event_name", "hookEventName", "hook_event", "hookEvent", "event")

CAMEL_CASED = """
    agent_id agent_transcript_path agent_type command_args command_name command_source custom_instructions duration_ms
    elicitation_id expansion_type file_path from_model is_interrupt last_assistant_message load_reason mcp_server
    mcp_server_name memory_type message_id new_cwd notification_type old_cwd permission_mode permission_suggestions
    prompt_id requested_model requested_schema session_id session_title stop_hook_active task_description task_id
    task_subject team_name teammate_name to_model tool_calls tool_input tool_name tool_response tool_use_id
    transcript_path turn_id worktree_path
"""

SPELLINGS: Mapping[str, str] = {
    **{
        first + "".join(part.title() for part in rest): "_".join((first, *rest))
        for first, *rest in (name.split("_") for name in CAMEL_CASED.split())
    },
    "tool_output": "tool_response",
    "toolOutput": "tool_response",
    "tool_call_id": "tool_use_id",
    "toolCallId": "tool_use_id",
    "user_prompt": "prompt",
    "userPrompt": "prompt",
    "working_directory": "cwd",
    "workingDirectory": "cwd",
}

UPDATED: Mapping[str, str] = {
    "tool_input": "updated_input",
    "tool_response": "updated_output",
    "prompt": "updated_prompt",
    "delta": "updated_delta",
}


def decode(payload: bytes, event: str = "") -> Event:
    """Return the event that a payload reports."""
    given, flags = read_payload(payload)
    name_field = next((field for field in EVENT_FIELDS if text_in(given, field)), "")
    if not name_field and not event:
        raise PayloadError("the payload names no event", advice="give its name as `hook_event_name`")
    name = canonical(text_in(given, name_field) or event)
    renamed, ignored = _rename_fields(given, name_field)
    renamed["hook_event_name"] = name
    check_tool_name(renamed)
    return replace(event_from(renamed, name, NAME), flags=(*flags, *ignored, *odd_fields(renamed)))


def encode(decision: Decision) -> Reply:
    """Return the decision as one line of JSON. The exit code is always 0: 2 has a meaning for some clients only."""
    updated = _updated_fields(decision)
    fields = {
        "decision_id": decision.id,
        "event": decision.event.name,
        "verdict": decision.verdict.name.lower(),
        "reason": decision.reason,
        "reasons": _texts(decision.reasons),
        **updated,
        "notes": _texts(decision.notes),
        "tells": _texts(decision.tells),
        "stop_reason": decision.stop.text if decision.stop else "",
        "env": decision.env,
        "extras": decision.extras,
        "failures": _texts(decision.failures),
    }
    kept = {field: value for field, value in fields.items() if value or field in updated}
    return Reply(stdout=json_bytes({**kept, "continue": decision.stop is None}) + b"\n")


def encode_failure(event: str, text: str, *, blocks: bool) -> Reply:
    """Return exit code 1, an error without a decision, or 2 for a refusal."""
    refuses = blocks and canonical(event) not in NEVER_BLOCKED_BY_FAILURE
    return Reply(stderr=f"{text}\n".encode("utf-8", "replace"), exit_code=2 if refuses else 1)


def _rename_fields(given: Payload, name_field: str) -> tuple[Payload, list[str]]:
    """Return the payload under canonical names: of two spellings the canonical one, else the first, is used."""
    renamed: Payload = {}
    ignored: list[str] = []
    for field, value in given.items():
        known = "hook_event_name" if field == name_field else SPELLINGS.get(field, field)
        if known == field or (known not in given and known not in renamed) or field == name_field:
            renamed[known] = value
        else:
            renamed[field] = value
            ignored.append(f"{field} is ignored, {known} is given too")
    return renamed, ignored


def _updated_fields(decision: Decision) -> dict[str, Any]:
    """Return the rewritten value, unless the call that it belongs to is stopped."""
    field = decision.event.row.rewrites
    will_happen = field == "tool_response" or decision.verdict < Verdict.DEFER
    return {UPDATED[field]: decision.event.rewritable} if decision.is_rewritten and will_happen else {}


def _texts(reasons: Iterable[Reason]) -> list[dict[str, str]]:
    return [
        {key: text for key, text in (("hook", each.hook), ("text", each.text), ("instead", each.instead)) if text}
        for each in reasons
    ]


CLIENT = Client(
    name=NAME,
    title="any program",
    about=__doc__ or "",
    capabilities=Capabilities(mcp=False, rules=False),
    install=Install(
        name=NAME,
        title="any other program",
        after=("make it run `snell-hook --client generic` with an event on stdin",),
    ),
    decode=decode,
    encode=encode,
    encode_failure=encode_failure,
)
