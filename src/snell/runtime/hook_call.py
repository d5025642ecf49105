"""One call of `snell-hook` or `snell hook`: whose payload it is, and what its sender gets when it cannot be read."""

import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from snell.clients import client_named
from snell.machine.crash_report import write_report
from snell.model.catalogue import NEVER_BLOCKED_BY_FAILURE, canonical
from snell.model.errors import SnellError
from snell.model.events import Event
from snell.model.ports import Client, Reply
from snell.runtime.house import House


class HookCall(Struct, frozen=True):
    client: Client
    request_id: str = ""


def parsed(words: Sequence[str], request_id: str = "") -> HookCall:
    """The options of the call; unknown ones are left to newer versions, so that an old daemon serves a new shim."""
    given = {"--client": "generic", "--request-id": request_id}
    name = ""
    for word in words:
        if name:
            given[name], name = word, ""
        elif word in given:
            name = word
        elif "=" in word and word.partition("=")[0] in given:
            key, _, given[key] = word.partition("=")
    return HookCall(client_named(given["--client"]), given["--request-id"])


def placed(event: Event, cwd: str) -> Event:
    """The event, happening where its sender is when it does not say where: a project's guards must not be missed."""
    return event if event.cwd or not cwd else replace(event, payload={**event.payload, "cwd": cwd})


def refusal(error: SnellError, payload: bytes, house: House, cwd: str) -> Reply:
    """
    A payload that is not an event changes nothing, except where a policy stands guard: there somebody could hide a
    call from it by sending what we cannot read. A stop is never refused for that.
    """
    return _said(f"snell: {error}", 2 if _fails_closed(payload, house, cwd) else 1)


def bug(error: Exception, payload: bytes, house: House, cwd: str) -> Reply:
    """What a client gets when we made a mistake: the same, and a report for us."""
    path = write_report(error, ["hook"])
    text = f"snell: this is a bug of Snell's: {type(error).__name__}: {error}; the report is {path}"
    return _said(text, 2 if _fails_closed(payload, house, cwd) else 1)


def _fails_closed(payload: bytes, house: House, cwd: str) -> bool:
    return event_name_in(payload) not in NEVER_BLOCKED_BY_FAILURE and house.fails_closed(cwd)


def event_name_in(payload: bytes) -> str:
    """
    The event that an unreadable payload names at its top level; empty when it names none, or more than one.

    Only there: what stands deeper may have been written by the model.
    """
    depth, key, names = 0, b"", []
    for token in _TOKENS.finditer(payload[:1_000_000]):
        word = token[0]
        if word in b"{[":
            depth += 1
        elif word in b"}]":
            depth -= 1
        elif depth == 1 and word[:1] == b'"':
            if key:
                names.append(word[1:-1].decode("utf-8", "replace"))
            is_key = payload[token.end() : token.end() + 20].lstrip()[:1] == b":"
            if is_key and b"\\" in word:
                return ""  # a name that is written so that it is not seen
            key = word if is_key and not key and word in _EVENT_KEYS else b""
    return canonical(names[0]) if len(names) == 1 else ""


_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_EVENT_KEYS = (b'"hook_event_name"', b'"hookEventName"', b'"hook_event"')


def _said(text: str, code: int) -> Reply:
    return Reply(stderr=f"{text}\n".encode("utf-8", "replace"), exit_code=code)
