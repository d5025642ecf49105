"""One call of `snell-hook` or `snell hook`: whose payload it is, and what its sender gets when it cannot be read."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from snell.clients import canonical_event, client_named
from snell.clients.protocol.calling_client import bare_caller, calling_client
from snell.model.catalogue import can_be_refused, canonical, row_of
from snell.model.decision import Decision, Reason
from snell.model.effects import Verdict
from snell.model.errors import ClientError, PayloadTooLargeError, SnellError
from snell.model.events import Event
from snell.model.protocols import Client, Reply
from snell.runtime.app import Runtime
from snell.system.crash_report import write_report
from snell.system.event_name import event_name_given, top_level_texts


class HookRequest(Struct, frozen=True):
    client: Client
    request_id: str = ""
    is_rewake: bool = False  # the client's second call for an event, which may wake its agent
    event: str = ""  # the event's name, for clients whose payloads do not say it
    is_bare: bool = False  # the call names no client
    source: str = ""  # which of the files that a client reads has the command: its own, or a plugin's

    def decode_payload(self, payload: bytes, cwd: str, env: Mapping[str, str]) -> tuple[Client, Event]:
        """Who sent this, and what it reports. It need not be the client whose file our command stood in."""
        if self.is_bare and (name := bare_caller(payload, env)):
            client = client_named(name)
            return client, with_default_cwd(client.decode(payload, self.event), cwd)
        event = self.client.decode(payload, self.event)
        caller = calling_client(event.client, event.payload, env)
        if caller == event.client:
            return self.client, event if event.cwd else with_default_cwd(event, cwd)
        client = client_named(caller)
        return client, with_default_cwd(client.decode(payload, self.event), cwd)


def parse_hook_args(words: Sequence[str], request_id: str = "") -> HookRequest:
    """The options of the call; unknown ones are left to newer versions, so that an old daemon serves a new shim."""
    call = _parsed(tuple(words))  # most calls are alike
    return replace(call, request_id=request_id) if request_id and not call.request_id else call


@lru_cache(maxsize=64)
def _parsed(words: tuple[str, ...]) -> HookRequest:
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
            given["--client"], is_bare = word, False  # who writes `snell-hook cursor` means that, or is told
    client, is_rewake = client_named(given["--client"]), "--rewake" in words
    source = "" if is_bare else f"{client.NAME}{' plugin' if '--plugin' in words else ''}"
    return HookRequest(client, given["--request-id"], is_rewake, given["--event"], is_bare, source)


def with_default_cwd(event: Event, cwd: str) -> Event:
    """The event, happening where its sender is when it does not say where: a project's guards must not be missed."""
    return event if event.cwd or not cwd else replace(event, payload={**event.payload, "cwd": cwd})


def reply_to(client: Client, decision: Decision, sender: int) -> Reply:
    """Encode a decision for its client; an ask with the process that called, which shows whether a person is there."""
    return client.encode(replace(decision, sender=sender) if decision.verdict is Verdict.ASK else decision)


def unreadable_payload_reply(
    error: SnellError, payload: bytes, runtime: Runtime, cwd: str, words: Sequence[str], env: Mapping[str, str]
) -> Reply:
    """
    A payload that is not an event changes nothing, except where a policy stands guard: there somebody could hide a
    call from it by sending what we cannot read. A stop is never refused for that.
    """
    blocks = runtime.fails_closed(cwd, env)
    if isinstance(error, PayloadTooLargeError) and (reply := _too_large(error, payload, words, blocks=blocks)):
        return reply
    return failure_reply(f"snell: {error}", payload, words, blocks=blocks)


def internal_error_reply(
    error: Exception, payload: bytes, runtime: Runtime, cwd: str, words: Sequence[str], env: Mapping[str, str]
) -> Reply:
    """What a client gets when we made a mistake: the same, and a report for us."""
    path = write_report(error, ["hook"])
    text = f"snell: internal error (a bug in Snell): {type(error).__name__}: {error}; report: {path}"
    return failure_reply(text, payload, words, blocks=runtime.fails_closed(cwd, env))


def failure_reply(text: str, payload: bytes, words: Sequence[str], *, blocks: bool) -> Reply:
    """
    In the words of the client that called: what one takes for no opinion is a refusal for another.

    `--fail-closed` refuses only what has not happened yet.
    """
    call = _call_or_generic(words)
    event = event_name_given(payload) or call.event
    is_closed = "--fail-closed" in words and "--rewake" not in words
    blocks = blocks or (is_closed and can_be_refused(canonical_event(call.client, event)))
    return call.client.encode_failure(event, text, blocks=blocks)


def _too_large(error: SnellError, payload: bytes, words: Sequence[str], *, blocks: bool) -> Reply | None:
    """
    Ask the person about what is too large to be judged, or refuse it; None where there is nothing to ask about.

    The client's own name for the event, and its mode, stand at the top of the payload, before what makes it large.
    """
    call = _call_or_generic(words)
    own = event_name_given(payload) or call.event or "PreToolUse"
    name = canonical_event(call.client, own)
    if "ask" not in row_of(name).can or blocks or "--fail-closed" in words:
        return None  # the failure policy answers
    modes = top_level_texts(payload, ("permission_mode",))
    fields = {"native": {"event": own}, **({"permission_mode": modes[0]} if modes else {})}
    event = Event(name=name, payload=fields, client=call.client.NAME)
    reason = Reason("snell", f"Snell cannot judge this call: {error}")
    return call.client.encode(Decision(event=event, verdict=Verdict.ASK, reasons=(reason,)))


def _call_or_generic(words: Sequence[str]) -> HookRequest:
    try:
        return parse_hook_args(words)
    except ClientError:
        return parse_hook_args(())


def event_name_in(payload: bytes) -> str:
    """Return the event that an unreadable payload names at its top level, by our name for it."""
    return canonical(event_name_given(payload))
