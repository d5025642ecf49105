"""
Reads one call of `snell-hook` or `snell hook`, recognises one that a client has sent twice because two of the files
that it reads name Snell, and builds the reply for a call that cannot be decided.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from snell.clients import canonical_event, client_named
from snell.clients.protocol.calling_client import FIELDS_OF_OTHERS, bare_caller, calling_client
from snell.model.catalogue import can_be_refused, row_of
from snell.model.decision import Decision, Reason
from snell.model.effects import Verdict
from snell.model.errors import ClientError, PayloadError, SnellError, UnjudgedPayloadError
from snell.model.events import Event
from snell.model.protocols import Client, Reply
from snell.runtime.app import Runtime
from snell.runtime.event_flow import delivery_key
from snell.system.crash_report import write_report
from snell.system.event_name import event_name_given, top_level_texts

PAIRS = 256
TOGETHER = 60.0  # seconds within which a client runs the same hook from its second file


class HookRequest(Struct, frozen=True):
    client: Client
    request_id: str = ""
    is_rewake: bool = False  # the client's second call for an event, which may wake its agent
    event: str = ""  # the event's name, for clients whose payloads do not say it
    is_bare: bool = False  # the call names no client
    source: str = ""  # which of the files that a client reads has the command: its own, or a plugin's

    def decode_payload(self, payload: bytes, cwd: str, env: Mapping[str, str]) -> tuple[Client, Event]:
        """Return the client that sent this, which may not be the one whose file has the command, and its event."""
        if self.is_bare and (name := bare_caller(payload, env)):
            client = client_named(name)
            return client, with_default_cwd(client.decode(payload, self.event), cwd)
        event = self.client.decode(payload, self.event)
        is_own = FIELDS_OF_OTHERS.isdisjoint(event.payload)  # nearly always
        caller = event.client if is_own else calling_client(event.client, event.payload, env)
        if caller == event.client:
            return self.client, event if event.cwd else with_default_cwd(event, cwd)
        client = client_named(caller)
        return client, with_default_cwd(client.decode(payload, self.event), cwd)


def parse_hook_args(words: Sequence[str], request_id: str = "") -> HookRequest:
    """Parse the options of the call; unknown ones are ignored, so that an old daemon serves a newer shim."""
    call = _parse_args(tuple(words))  # most calls have the same options
    return replace(call, request_id=request_id) if request_id and not call.request_id else call


@lru_cache(maxsize=64)
def _parse_args(words: tuple[str, ...]) -> HookRequest:
    given = {"--client": "generic", "--request-id": "", "--event": ""}
    is_bare = not any(word.startswith("--client") for word in words)
    name = ""
    for word in words:
        if name:
            given[name], name = word, ""
        elif word in given:
            name = word
        elif "=" in word and word.partition("=")[0] in given:
            key, _, given[key] = word.partition("=")
        elif is_bare and not word.startswith("-"):
            given["--client"], is_bare = word, False  # `snell-hook cursor` names a client, or raises
    client, is_rewake = client_named(given["--client"]), "--rewake" in words
    source = "" if is_bare else f"{client.name}{' plugin' if '--plugin' in words else ''}"
    return HookRequest(client, given["--request-id"], is_rewake, given["--event"], is_bare, source)


def with_default_cwd(event: Event, cwd: str) -> Event:
    """Add the sender's folder to an event without one: a project's guards must not be missed."""
    return event if event.cwd or not cwd else replace(event, payload={**event.payload, "cwd": cwd})


def reply_to(client: Client, decision: Decision, sender: int) -> Reply:
    """Encode a decision for its client; an ask with the calling process, which shows whether a user is present."""
    return client.encode(replace(decision, sender=sender) if decision.verdict is Verdict.ASK else decision)


def undecided_reply(
    error: Exception, payload: bytes, runtime: Runtime, cwd: str, words: Sequence[str], env: Mapping[str, str]
) -> Reply:
    """
    Return the reply to a payload that is not an event, or for a bug in Snell, of which a crash report is written: no
    opinion, but a refusal where a guard blocks on failure, since an unreadable payload could hide a call from it. A
    stop is never refused for that.
    """
    text = str(error)
    if not isinstance(error, SnellError):
        path = write_report(error, ["hook"])
        text = f"internal error (a bug in Snell): {type(error).__name__}: {error}; report: {path}"
    blocks = runtime.fails_closed(cwd, env)
    if isinstance(error, UnjudgedPayloadError) and (reply := _ask_about(error, payload, words, blocks=blocks)):
        return reply
    reply = failure_reply(f"snell: {text}", payload, words, blocks=blocks)
    # A payload that is no event is no hook that failed; exit code 1, where a client has it, is for bugs in Snell. Over
    # HTTP it is the status of a bad request.
    is_program = isinstance(error, PayloadError) and "--http" not in words
    return replace(reply, exit_code=0) if is_program and reply.exit_code == 1 else reply


def failure_reply(text: str, payload: bytes, words: Sequence[str], *, blocks: bool) -> Reply:
    """
    Return a failure in the format of the calling client: no opinion for one client is a refusal for another.

    `--fail-closed` refuses only what has not happened yet.
    """
    call = _call_or_generic(words)
    event = event_name_given(payload) or call.event
    is_closed = "--fail-closed" in words and "--rewake" not in words
    blocks = blocks or (is_closed and can_be_refused(canonical_event(call.client, event)))
    return call.client.encode_failure(event, text, blocks=blocks)


def _ask_about(error: SnellError, payload: bytes, words: Sequence[str], *, blocks: bool) -> Reply | None:
    """
    Ask the user about a payload that cannot be judged; None where the event cannot ask.

    The client's own name for the event, and its mode, are at the top of the payload, before a large part.
    """
    call = _call_or_generic(words)
    own = event_name_given(payload) or call.event or "PreToolUse"
    name = canonical_event(call.client, own)
    if "ask" not in row_of(name).can or blocks or "--fail-closed" in words:
        return None  # the failure policy decides
    modes = top_level_texts(payload, ("permission_mode",))
    fields = {"native": {"event": own}, **({"permission_mode": modes[0]} if modes else {})}
    event = Event(name=name, payload=fields, client=call.client.name)
    reason = Reason("snell", f"Snell cannot judge this call: {error}")
    return call.client.encode(Decision(event=event, verdict=Verdict.ASK, reasons=(reason,)))


def _call_or_generic(words: Sequence[str]) -> HookRequest:
    try:
        return parse_hook_args(words)
    except ClientError:
        return parse_hook_args(())


class Twin(Struct):
    """An event without an id or a time, and the hook files that it came from so far."""

    request_id: str
    at: float
    sources: set[str]


class TwinFilter:
    """
    Recognise repeated deliveries of events that carry no id or time, such as a prompt or a stop.

    If two hook files name Snell, the client sends the event once per file: the same payload from another file is a
    repetition, from the same file it is a new event. The generic client has no hook files, so its events all differ.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, Twin] = OrderedDict()

    def request_of(self, event: Event, source: str, request_id: str, now: float) -> str:
        """Return the id of the first of two calls that are the same delivery."""
        if event.client == "generic" or event.tool_use_id or event.payload.get("timestamp"):
            return request_id
        key, _ = delivery_key(event, "one of two")
        known = self._known.get(key)
        if known and source not in known.sources and now - known.at < TOGETHER:
            known.sources.add(source)
            return known.request_id
        self._known[key] = Twin(request_id, now, {source})
        self._known.move_to_end(key)
        while len(self._known) > PAIRS:
            self._known.popitem(last=False)
        return request_id
