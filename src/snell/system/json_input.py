"""
Parse a client's payload: one JSON object, or an error.

Odd JSON is read as the clients' own parsers read it, so that a guard judges what the client will act on: of a repeated
key the last value counts. What no parser would write (a byte order mark, UTF-16, broken UTF-8, half a surrogate pair,
NaN, text after the object) is repaired and flagged, since a call must not pass unjudged for a detail of its transport.
What is nested too deeply becomes text at the last level and is flagged, so that the rest is judged as usual, and that
text too. A tool's output with too many parts becomes text as well: much output is no reason to ignore the call.
"""

import codecs
import json
import math
import operator
import re
from typing import Any

import msgspec

from snell.model.errors import PayloadError, UnjudgedPayloadError
from snell.model.events import TOO_DEEP, Payload, nests_deeper_than
from snell.system.lazy_regex import lazy_regex

LARGEST = 64 * 1024 * 1024  # bytes; a daemon accepts less, and a larger payload is decided without one
DEEPEST = 100  # levels, the payload itself being the first
MANY_KEYS = 50_000
MOST_KEYS = 200_000
MOST_CONTAINERS = 500_000  # lists and objects; each costs the garbage collector, even an empty one

# The types that hooks rely on; any other type in these fields is kept and flagged.
_TYPED = "session_id transcript_path cwd permission_mode agent_id tool_name tool_use_id tool_input prompt error"
FIELD_TYPES: dict[str, type] = {name: dict if name == "tool_input" else str for name in _TYPED.split()}

_DECODE = msgspec.json.Decoder().decode
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_ENCODE = msgspec.json.Encoder().encode
_MARKS = lazy_regex(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
_SURROGATE = lazy_regex("[\ud800-\udfff]")  # a str never contains a complete pair
_BLANK = " \t\n\r"
_MISTAKES = {
    "text-after-json": "more text follows the object",
    "not-finite": "it has a number that JSON has not",
    "control-characters": "a text has a line break or another control character",
}
_WORDS = {type(None): "null", bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list"}


def read_payload(raw: bytes) -> tuple[Payload, tuple[str, ...]]:
    """Return the payload, and flags for what was repaired or is unusual."""
    if len(raw) > LARGEST:
        raise too_many_bytes(len(raw))
    raw, flags = _as_utf8(raw)
    may_have_many = len(raw) >= MANY_KEYS
    if may_have_many:
        response_is_text, raw = _with_response_as_text(raw)
        flags = ("response-is-text", *flags) if response_is_text else flags
        if raw.count(b"[") + raw.count(b"{") > MOST_CONTAINERS and _count(raw, b"[", b"{") > MOST_CONTAINERS:
            advice = f"send at most {MOST_CONTAINERS}"
            raise UnjudgedPayloadError("the payload has too many lists and objects", advice=advice)
    value, repaired = _read_shallow(raw)
    if type(value) is not dict:
        raise PayloadError(f"the payload is {json_type_name(value)}", advice="send one JSON object")
    return value, flags + repaired + (_size_flags(raw) if may_have_many else ())


def read_object(raw: bytes) -> Payload:
    """Return the JSON object that a program or a user wrote; what follows it, and NaN, is a mistake."""
    value, flags = read_payload(raw)
    if wrong := [_MISTAKES[flag] for flag in flags if flag in _MISTAKES]:
        raise PayloadError(f"the payload is not JSON: {wrong[0]}")
    return value


def json_or_none(data: bytes | str) -> Any:
    """Return the value of a JSON text that another program wrote; None if it is empty or not JSON."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def too_many_bytes(length: int) -> UnjudgedPayloadError:
    return UnjudgedPayloadError(f"the payload has {length} bytes", advice=f"send at most {LARGEST}")


def _read_shallow(raw: bytes) -> tuple[Any, tuple[str, ...]]:
    try:
        value, repaired = _read(raw)
        if raw.count(b"{") + raw.count(b"[") <= DEEPEST or not nests_deeper_than(DEEPEST, value):
            return value, repaired
    except RecursionError:
        pass
    try:
        value, repaired = _read(_flatten(raw))
    except RecursionError:  # brackets that are opened and never closed are left as they are
        raise PayloadError("the payload is not JSON: its lists and objects do not end") from None
    return value, (TOO_DEEP, *repaired)


def check_tool_name(payload: Payload) -> None:
    """Raise an error unless the tool's name is text: no matcher would match it, so every guard would pass it."""
    name = payload.get("tool_name")
    is_empty = name in (None, "")
    is_call = "tool_name" in payload or payload.get("hook_event_name") == "PreToolUse"
    if is_empty and is_call and payload.get("tool_input"):
        raise UnjudgedPayloadError("`tool_name` is empty", advice="send the tool's name as text")
    if not is_empty and not isinstance(name, str):
        raise UnjudgedPayloadError(f"`tool_name` is {json_type_name(name)}", advice="send the tool's name as text")


def odd_fields(payload: Payload) -> tuple[str, ...]:
    """Return flags for fields that do not have the type that hooks rely on, such as `tool_input is null`."""
    flags: tuple[str, ...] = ()
    for field, wanted in FIELD_TYPES.items():
        if field in payload and type(payload[field]) is not wanted:
            flags += (f"{field} is {json_type_name(payload[field])}",)
    return flags


def json_type_name(value: Any) -> str:
    """Return the name of a JSON value's type, in words."""
    return _WORDS.get(type(value), "an object")


def _as_utf8(raw: bytes) -> tuple[bytes, tuple[str, ...]]:
    if raw.startswith(codecs.BOM_UTF8):
        return raw[len(codecs.BOM_UTF8) :], ("bom",)
    if b"\0" in raw[:4] or raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode(json.detect_encoding(raw), "replace").encode("utf-8", "replace"), ("not-utf8",)
    return raw, ()


def _read(raw: bytes) -> tuple[Any, tuple[str, ...]]:
    try:
        return _DECODE(raw), ()
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _read_damaged(raw)


def _read_damaged(raw: bytes) -> tuple[Any, tuple[str, ...]]:
    if not raw.strip():
        raise PayloadError("the payload is empty", advice="send one JSON object on standard input")
    flags = []
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "replace")
        flags.append("invalid-utf8")
    value, odd = _read_odd(text)
    repaired = _without_lone_surrogates(value) if "\\u" in text else value
    if repaired is not value:
        flags.append("lone-surrogates")
    return repaired, (*flags, *odd)


def _read_odd(text: str) -> tuple[Any, tuple[str, ...]]:
    """Return the first value, with null for numbers that JSON does not have, as JavaScript writes them."""
    flags: dict[str, None] = {}

    def parse_float(digits: str) -> float | None:
        return number if math.isfinite(number := float(digits)) else flags.setdefault("not-finite")

    def parse_int(digits: str) -> int | None:
        try:
            return int(digits)
        except ValueError:  # for its limit of digits
            return flags.setdefault("not-finite")

    parsers: dict[str, Any] = {"parse_float": parse_float, "parse_int": parse_int, "parse_constant": parse_float}
    start = len(text) - len(text.lstrip(_BLANK))
    value, end = _first_value(text, start, parsers, flags)
    rest = text[end:].strip(_BLANK)
    if "{" in rest:
        raise UnjudgedPayloadError("the payload has more than one object", advice="send one JSON object")
    if rest:
        flags.setdefault("text-after-json")
    return value, tuple(flags)


def _first_value(text: str, start: int, parsers: dict[str, Any], flags: dict[str, None]) -> tuple[Any, int]:
    """Return the value and where it ends; a text may have line breaks and other control characters."""
    is_strict = "control-characters" not in flags
    try:
        return json.JSONDecoder(**parsers, strict=is_strict).raw_decode(text, start)
    except json.JSONDecodeError as error:
        if is_strict and error.msg.startswith("Invalid control character"):
            flags.setdefault("control-characters")
            return _first_value(text, start, parsers, flags)
        where = f"line {error.lineno}, column {error.colno}"
        raise PayloadError(f"the payload is not JSON: {error.msg.lower()} ({where})") from None


def _without_lone_surrogates(value: Any) -> Any:
    """Replace halves of surrogate pairs; returns the value itself when there are none."""
    if type(value) is str:
        return value if value.isascii() or not _SURROGATE.search(value) else _SURROGATE.sub("\ufffd", value)
    if type(value) is list:
        items = [_without_lone_surrogates(item) for item in value]
        return value if all(map(operator.is_, items, value)) else items
    if type(value) is not dict:
        return value
    pairs = [(_without_lone_surrogates(key), _without_lone_surrogates(each)) for key, each in value.items()]
    if all(key is old and each is value[old] for (key, each), old in zip(pairs, value, strict=True)):
        return value
    return dict(pairs)


def _with_response_as_text(raw: bytes) -> tuple[bool, bytes]:
    """Replace a tool's output that has too many parts by its JSON text; the rest stays."""
    if len(raw) < MOST_KEYS or raw.count(b":") + raw.count(b"[") + raw.count(b"{") <= MOST_KEYS:
        return False, raw
    try:
        response = bytes(_FIELDS(raw).get("tool_response", b""))
        text = response.decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False, raw  # the parser that reads it next reports what is wrong
    parts = text.count(":") + text.count("[") + text.count("{")
    if text[:1] not in ("[", "{") or parts <= MOST_KEYS:
        return False, raw
    # Of several with the same name the last one is used.
    before, _, after = raw.rpartition(response)
    return True, before + _ENCODE(text) + after


def _size_flags(raw: bytes) -> tuple[str, ...]:
    if len(raw) < MANY_KEYS or raw.count(b":") <= MANY_KEYS:
        return ()
    keys = _count(raw, b":")  # every key is followed by one
    if keys > MOST_KEYS:
        raise UnjudgedPayloadError(f"the payload has {keys} keys", advice=f"send at most {MOST_KEYS}")
    return ("many-keys",) if keys > MANY_KEYS else ()


def _count(raw: bytes, *marks: bytes) -> int:
    """Count characters outside strings: those are between every second quote that is not escaped."""
    parts = raw.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]
    return sum(part.count(mark) for part in parts for mark in marks)


def _flatten(raw: bytes) -> bytes:
    """Return the same JSON with each list or object beyond the last level written as text."""
    depth, start, done = 0, 0, 0
    parts: list[bytes] = []
    for found in _MARKS.finditer(raw):
        mark = found[0]
        if mark in (b"{", b"["):
            depth += 1
            if depth == DEEPEST + 1:
                start = found.start()
        elif mark in (b"}", b"]"):
            depth -= 1
            if depth == DEEPEST:
                inner = raw[start : found.end()].decode("utf-8", "replace")
                parts += [raw[done:start], json.dumps(inner).encode()]
                done = found.end()
    return b"".join((*parts, raw[done:])) if parts else raw
