"""Describe one tool event for the ledger: who called what, what it may change, and its result."""

import os
from functools import lru_cache
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from snell.model.command_folders import NO_FOLDER_KEYS, folders_of
from snell.model.context import Context
from snell.model.events import Event, persistent_scope, text_in
from snell.records.idempotency import Identity, action_of, args_hash, identity_of, key_of, scope_of, sha_of
from snell.records.ledger import LONGEST_BODY, PREVIEW, safe_id
from snell.records.side_effects import Classification, Rule, classify
from snell.redact import redact, redact_data
from snell.shell.effects import effects_of
from snell.system.json_input import json_or_none
from snell.system.json_output import json_bytes, json_value
from snell.system.mcp_tool_schemas import annotations_of
from snell.system.wall_clock import now_ms
from snell.work.runs import MARK

MOST_PATHS = 50
LONGEST_ERROR = 2_000
_CORRELATION = ("id", "message_id", "request_id", "messageId", "requestId")


class CallIdentity(Struct, frozen=True):
    """The identity of a call: its ids, its tool, and the keys by which a repetition is recognised."""

    call_id: str
    run_id: str
    session_id: str
    tool: Identity
    hashed: str
    key: str  # without a nonce
    scope: str
    effort: str = ""  # only of a call that is recorded
    place: str = ""  # working directory of a shell call

    def key_in_place(self) -> str:
        """Return the key for the same command in another directory than the call that has the plain key."""
        return key_of(self.run_id, self.tool, self.hashed, self.scope, f"in {self.place}") if self.place else ""

    def of_version(self, version: str) -> "CallIdentity":
        """Return the identity of the same call for another version of what it publishes."""
        scope = f"{self.scope}:{version}"
        return replace(self, scope=scope, key=key_of(self.run_id, self.tool, self.hashed, scope))

    def with_nonce(self) -> str:
        """Return a key that no other call has."""
        return key_of(self.run_id, self.tool, self.hashed, self.scope, self.call_id)


def identify_call(event: Event, context: Context) -> CallIdentity:
    """
    Return the identity of a call: all that is needed to find it again, but nothing that is slow to determine.

    The tool call waits for this. Between two writes to disk the processor's caches are cold, so what depends on the
    tool alone is cached in one look-up.
    """
    payload = event.payload
    session = _safe(event.session_id)
    run = context.env.get("SNELL_RUN_ID") or context.marks.get(persistent_scope(event.session_id), MARK)
    run = _safe(run) if isinstance(run, str) and run else session
    tool, begins, action = _tool_facts(event.tool_name or event.tool)
    given = payload.get("tool_input")
    hashed = args_hash(given, tool.raw)
    scope = scope_of(tool.raw, given, hashed) if action else hashed
    call_id = f"{session}/{safe_id(event.tool_use_id) or context.decision_id}"
    place = event.cwd if event.kind == "shell" else ""
    if place and not event.tool_input.keys() <= NO_FOLDER_KEYS:
        place = folders_of(given, place, os.path.expanduser("~"))[0]
    return CallIdentity(
        call_id, run, session, tool, hashed, sha_of(f"{run}{begins}{hashed}|{scope}"), scope, place=place
    )


@lru_cache(maxsize=512)
def _tool_facts(tool: str) -> tuple[Identity, str, str]:
    """Return a tool's identity, the part of a call's key after the run, and what a call does."""
    found = identity_of(tool)
    return found, f"|{found.namespace}|{found.name}|", action_of(found.raw)


def in_own_run(identity: CallIdentity, event: Event) -> CallIdentity:
    """Return the identity of a call as part of its session only: it began before the run that the session works for."""
    run, begins = identity.session_id, _tool_facts(event.tool_name or event.tool)[1]
    return replace(identity, run_id=run, key=sha_of(f"{run}{begins}{identity.hashed}|{identity.scope}"))


def identify_call_with_effort(event: Event, context: Context) -> CallIdentity:
    """
    Return the identity of a call, with the effort that it belongs to.

    Call it before a transaction begins: the effort may be read from the same database.
    """
    return replace(identify_call(event, context), effort=_effort(event, context))


class CallDescription(Struct, frozen=True):
    """What a call may change."""

    found: Classification
    paths: tuple[str, ...] = ()


def describe_call(event: Event, tool: Identity, rules: tuple[Rule, ...], context: Context) -> CallDescription:
    """Return what the call may change, as far as that is known before it runs."""
    effects = effects_of(event.command) if event.command else None
    found = classify(
        tool,
        event.kind,
        rules,
        shell=effects.reach if effects else None,
        hints=annotations_of(event, context.state, context.project_dir),
    )
    is_here = effects is not None and event.kind == "shell"  # the tool of an MCP server may run elsewhere
    return CallDescription(found, effects.paths[:MOST_PATHS] if effects and is_here else _written_paths(event))


def _written_paths(event: Event) -> tuple[str, ...]:
    path = next((event.tool_input[name] for name in ("file_path", "path") if event.tool_input.get(name)), "")
    return (path,) if event.kind in ("edit", "write") and isinstance(path, str) else ()


def existing_paths(paths: tuple[str, ...], cwd: str) -> list[str]:
    """Return those of the paths that exist; a path that is only known at run time is left out."""
    literal_paths = (path for path in paths if not any(sign in path for sign in "$*?{}`\0"))
    return [path for path in literal_paths if os.path.lexists(os.path.join(cwd, os.path.expanduser(path)))]


def error_of(event: Event) -> str | None:
    """Return the error of a failed call; None when it did not fail."""
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
    """Whether the call was interrupted: what it had done by then is unknown, so it did not succeed."""
    response = event.tool_response
    return bool(event.payload.get("is_interrupt")) or (isinstance(response, dict) and bool(response.get("interrupted")))


def preview_of(event: Event, failed: str | None) -> str:
    """Return the beginning of a tool's result, or of its error."""
    return _short(event.tool_response, PREVIEW) if failed is None else failed[:PREVIEW]


def correlation_of(response: Any) -> str:
    """Return the id under which another system knows the call's effect."""
    for place in _places(response):
        for name in _CORRELATION:
            value = place.get(name)
            if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
                return safe_id(str(value))
    return ""


def _places(response: Any) -> list[dict[str, Any]]:
    if isinstance(response, str) and response.lstrip()[:1] == "{" and len(response) < LONGEST_BODY:
        response = json_or_none(response)
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


def body_of(value: Any, longest: int) -> Body:
    """Return what may be stored of an input or an output: redacted, and cut if it is very long."""
    if value is None:
        return Body("", 0)
    complete = json_value(value)
    written = b"" if isinstance(complete, str) else json_bytes(complete)
    if (longest, written) in _clean:
        return Body(written.decode(), len(written))
    clean = redact_data(complete, longest)
    text = clean if isinstance(clean, str) else msgspec.json.encode(clean).decode()
    if clean == complete and 0 < len(written) <= SHORT_BODY:
        if len(_clean) >= MOST_CLEAN:
            _clean.clear()
        _clean.add((longest, written))
    return Body(text if len(text) <= 2 * longest else f"{text[:longest]}… [cut]", len(written) or len(complete))


SHORT_BODY, MOST_CLEAN = 2_000, 256  # bytes of a body, and how many are remembered
_clean: set[tuple[int, bytes]] = set()  # bodies without a secret: agents repeat their calls

_safe = lru_cache(maxsize=1024)(safe_id)  # every call repeats its session and run


def began_at(context: Context) -> int:
    """Return when the event came: a decision's id begins with that."""
    text = context.decision_id.partition("-")[0]
    try:
        return int(text, 16)
    except ValueError:
        return now_ms()


def _effort(event: Event, context: Context) -> str:
    """Return the effort that a call belongs to, if one is known."""
    kept = context.marks.get(f"session:{event.session_id}", "effort")
    named_so = kept.get("id") if isinstance(kept, dict) else kept
    return safe_id(str(named_so or context.env.get("SNELL_EFFORT") or ""))


def agent_of(event: Event) -> str:
    """Return the agent or sub-agent that made the call."""
    return safe_id(event.agent_id or text_in(event.payload, "agent_type"))


def _short(value: Any, longest: int) -> str:
    clean = redact_data(json_value(preview(value)), longest)
    if isinstance(clean, str):
        return clean
    text = "" if clean is None else msgspec.json.encode(clean).decode()
    return redact(text[:longest])


ENOUGH = 20_000  # characters: a secret that begins in what is shown ends well within these
SHORT = 300  # of each further text, since a short one may tell what the others are, such as the path of a secret file
MOST = 2_000  # entries of a list or a table


def preview(value: Any) -> Any:
    """Return the same structure with less in it, quickly. What stays is unchanged, so that secrets are recognised."""
    return _cut(value, [ENOUGH])


def _cut(value: Any, left: list[int]) -> Any:
    if isinstance(value, str):
        text = value[: max(SHORT, left[0])]
        left[0] -= len(text)
        return text
    if isinstance(value, dict):
        return {key: _cut(each, left) for key, each in _first(value)}
    if isinstance(value, list | tuple):
        return [_cut(each, left) for each in islice(value, MOST if left[0] > 0 else 0)]
    return value


def _first(value: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """Return the first entries. INVARIANT: the path of the file that the rest came from is never left out."""
    if len(value) <= MOST:
        return list(value.items())
    names = [(key, value[key]) for key in ("file_path", "filePath") if key in value]
    return [*names, *islice(value.items(), MOST)]


MOST_CLAIMS = 4_096
_claimed_keys: dict[str, str] = {}  # by call, the oldest first


def note_key(identity: CallIdentity, key: str) -> str:
    """Note the key under which a call of this process is claimed; returns an earlier one, if it was another."""
    before = _claimed_keys.get(identity.call_id, key)
    _claimed_keys[identity.call_id] = key
    if len(_claimed_keys) > MOST_CLAIMS:
        del _claimed_keys[next(iter(_claimed_keys))]
    return before if before != key else ""


def claimed_key(identity: CallIdentity) -> str:
    """Return the key of a claim. After a restart it is the plain one, or the row of the call has it."""
    return _claimed_keys.get(identity.call_id, identity.key)
