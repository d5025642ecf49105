"""One tool event as the ledger knows it: who called what, what it may change, and what came of it."""

import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from snell.model.command_folders import folders_of
from snell.model.context import Context
from snell.model.events import Event, persistent_scope, text_in
from snell.packs.ledger.value_preview import preview
from snell.records.idempotency import Identity, action_of, args_hash, identity_of, key_of, scope_of, sha_of
from snell.records.ledger import LONGEST_BODY, PREVIEW, safe_id
from snell.records.side_effects import Classification, Rule, classify
from snell.redact import redact, redact_data
from snell.shell.effects import Effects, effects_of
from snell.system.json_output import json_value
from snell.system.mcp_tool_schemas import learned_tool
from snell.system.wall_clock import now_ms
from snell.work.runs import MARK

MOST_PATHS = 50
LONGEST_ERROR = 2_000
_CORRELATION = ("id", "message_id", "request_id", "messageId", "requestId")


class NamedCall(Struct, frozen=True):
    """What makes a call this call."""

    call_id: str
    run_id: str
    session_id: str
    tool: Identity
    hashed: str
    key: str  # without a nonce
    scope: str
    effort: str = ""  # of a call that is written down
    place: str = ""  # where a shell call runs

    def key_in_place(self) -> str:
        """For the same line in another directory than that of the call that has the key."""
        return key_of(self.run_id, self.tool, self.hashed, self.scope, f"in {self.place}") if self.place else ""

    def with_nonce(self) -> str:
        return key_of(self.run_id, self.tool, self.hashed, self.scope, self.call_id)


def name_call(event: Event, context: Context) -> NamedCall:
    """
    Everything that finding a call again needs; nothing that is slow to find out.

    Somebody waits for this. Between two writes to the disk every function is as good as new to the processor, so what
    depends on the tool alone is looked up at once.
    """
    payload = event.payload
    session = _known(event.session_id)
    run = context.env.get("SNELL_RUN_ID") or context.marks.get(persistent_scope(event.session_id), MARK)
    run = _known(run) if isinstance(run, str) and run else session
    tool, begins, action = _about(event.tool_name or event.tool)
    given = payload.get("tool_input")
    hashed = args_hash(given, tool.raw)
    scope = scope_of(tool.raw, given, hashed) if action else hashed
    call_id = f"{session}/{safe_id(event.tool_use_id) or context.decision_id}"
    place = folders_of(given, event.cwd, os.path.expanduser("~"))[0] if event.kind == "shell" else ""
    return NamedCall(call_id, run, session, tool, hashed, sha_of(f"{run}{begins}{hashed}|{scope}"), scope, place=place)


@lru_cache(maxsize=512)
def _about(tool: str) -> tuple[Identity, str, str]:
    """A tool, how the key of a call of it goes on after the run, and what a call of it does."""
    found = identity_of(tool)
    return found, f"|{found.namespace}|{found.name}|", action_of(found.raw)


def name_call_fully(event: Event, context: Context) -> NamedCall:
    """With its effort. Before a transaction begins: it may have to be read from the same database."""
    return replace(name_call(event, context), effort=_effort(event, context))


class CallDescription(Struct, frozen=True):
    found: Classification
    paths: tuple[str, ...] = ()


def describe_call(event: Event, tool: Identity, rules: tuple[Rule, ...], context: Context) -> CallDescription:
    """What the call may change, as far as that can be told before it runs."""
    effects = _effects(event)
    found = classify(
        tool,
        event.kind,
        rules,
        shell=effects.reach if effects else None,
        hints=_hints(event, context),
    )
    is_here = effects is not None and event.kind == "shell"  # the tool of an MCP server may run elsewhere
    return CallDescription(found, effects.paths[:MOST_PATHS] if effects and is_here else _written(event))


def _hints(event: Event, context: Context) -> Mapping[str, Any] | None:
    """What the server says of its tool: with the call, or when it was last asked."""
    given = event.payload.get("tool_annotations")
    if isinstance(given, Mapping) or event.kind != "mcp":
        return given if isinstance(given, Mapping) else None
    known = learned_tool(context.state, event.client, context.project_dir, event.tool)
    return known.hints if known else None


def _effects(event: Event) -> Effects | None:
    return effects_of(event.command) if event.command else None


def _written(event: Event) -> tuple[str, ...]:
    path = next((event.tool_input[name] for name in ("file_path", "path") if event.tool_input.get(name)), "")
    return (path,) if event.kind in ("edit", "write") and isinstance(path, str) else ()


def there_now(paths: tuple[str, ...], cwd: str) -> list[str]:
    """Those of the paths that exist; what run time decides cannot be looked up."""
    plain_paths = (path for path in paths if not any(sign in path for sign in "$*?{}`\0"))
    return [path for path in plain_paths if os.path.lexists(os.path.join(cwd, os.path.expanduser(path)))]


def error_of(event: Event) -> str | None:
    """What a failed call said; None when it did not fail."""
    if event.name == "PostToolUseFailure":
        return _short(event.payload.get("error"), LONGEST_ERROR) or "it failed"
    response = event.tool_response
    if not isinstance(response, dict):
        return None
    if response.get("is_error") or response.get("isError"):
        return _short(response, LONGEST_ERROR)
    if was_interrupted(event):
        return f"it was interrupted: {_short(response, LONGEST_ERROR)}"[:LONGEST_ERROR]
    return _short(response["error"], LONGEST_ERROR) if response.get("error") else None


def was_interrupted(event: Event) -> bool:
    """Somebody ended it: what it had done by then nobody knows, so it did not succeed."""
    response = event.tool_response
    return bool(event.payload.get("is_interrupt")) or (isinstance(response, dict) and bool(response.get("interrupted")))


def preview_of(event: Event, failed: str | None) -> str:
    """The beginning of what a tool brought, or of how it failed."""
    return _short(event.tool_response, PREVIEW) if failed is None else failed[:PREVIEW]


def correlation_of(response: Any) -> str:
    """The id under which another system knows what was done."""
    for place in _places(response):
        for name in _CORRELATION:
            value = place.get(name)
            if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
                return safe_id(str(value))
    return ""


def _places(response: Any) -> list[dict[str, Any]]:
    if isinstance(response, str) and response.lstrip()[:1] == "{" and len(response) < LONGEST_BODY:
        try:
            response = msgspec.json.decode(response)
        except (msgspec.DecodeError, RecursionError):
            return []
    if isinstance(response, list):
        texts = (each.get("text") for each in response[:5] if isinstance(each, dict))
        return [place for text in texts if isinstance(text, str) for place in _places(text)]
    if not isinstance(response, dict):
        return []
    inner = [response[name] for name in ("data", "result", "content") if name in response]
    return [response, *(place for each in inner if isinstance(each, dict | list) for place in _places(each))]


class Body(Struct, frozen=True):
    text: str
    size: int


def body_of(value: Any) -> Body:
    """What may be kept of an input or an output: redacted, and cut where it is very long."""
    if value is None:
        return Body("", 0)
    whole = json_value(value)
    size = len(whole) if isinstance(whole, str) else len(msgspec.json.encode(_encodable(whole)))
    clean = redact_data(whole, LONGEST_BODY)
    text = clean if isinstance(clean, str) else msgspec.json.encode(clean).decode()
    return Body(text if len(text) <= 2 * LONGEST_BODY else f"{text[:LONGEST_BODY]}… [cut]", size)


_known = lru_cache(maxsize=1024)(safe_id)  # every call repeats its session and run


def began_at(context: Context) -> int:
    """When the event came: the id of a decision begins with it."""
    text = context.decision_id.partition("-")[0]
    try:
        return int(text, 16)
    except ValueError:
        return now_ms()


def _effort(event: Event, context: Context) -> str:
    """Which effort this belongs to, where one is known."""
    kept = context.marks.get(f"session:{event.session_id}", "effort")
    named_so = kept.get("id") if isinstance(kept, dict) else kept
    return safe_id(str(named_so or context.env.get("SNELL_EFFORT") or ""))


def who(event: Event) -> str:
    return safe_id(event.agent_id or text_in(event.payload, "agent_type"))


def _short(value: Any, longest: int) -> str:
    clean = redact_data(json_value(preview(value)), longest)
    if isinstance(clean, str):
        return clean
    text = "" if clean is None else msgspec.json.encode(clean).decode()
    return redact(text[:longest])


def _encodable(value: Any) -> Any:
    """Half a surrogate pair cannot be encoded; its size does not matter then."""
    try:
        msgspec.json.encode(value)
    except UnicodeEncodeError:
        return None
    return value
