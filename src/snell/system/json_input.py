"""
Parse a client's payload strictly: one JSON object, or an error.

What two parsers may read differently (a repeated key, NaN) is refused: the client would act on one value while a guard
judged the other. Damaged text (a byte order mark, broken UTF-8, half a surrogate pair) is repaired and flagged. What is
nested too deeply becomes text at the last level and is flagged, so that the rest is judged as usual, and that text
too. A tool's output with too many parts becomes text as well: much output is no reason to ignore the call.
"""

import codecs
import json
import math
import operator
import re
from collections import Counter
from typing import Any, NoReturn

import msgspec

from snell.model.errors import PayloadError, PayloadTooLargeError
from snell.model.events import TOO_DEEP, Payload, nests_deeper_than

LARGEST = 64 * 1024 * 1024  # bytes; a daemon accepts less, and a larger payload is decided without one
DEEPEST = 100  # levels, the payload itself being the first
MANY_KEYS = 50_000
MOST_KEYS = 200_000
MOST_CONTAINERS = 500_000  # lists and objects; each costs the garbage collector, even an empty one

# The types that hooks rely on; any other type in these fields is kept and flagged.
FIELD_TYPES: dict[str, type] = {
    "session_id": str,
    "transcript_path": str,
    "cwd": str,
    "permission_mode": str,
    "agent_id": str,
    "tool_name": str,
    "tool_use_id": str,
    "tool_input": dict,
    "prompt": str,
    "error": str,
}

_DECODE = msgspec.json.Decoder().decode
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_ENCODE = msgspec.json.Encoder().encode
_MARKS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")  # a str never contains a complete pair
_WORDS = {type(None): "null", bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list"}


def read_payload(raw: bytes) -> tuple[Payload, tuple[str, ...]]:
    """Return the payload, and flags for what was repaired or is unusual."""
    if len(raw) > LARGEST:
        raise too_many_bytes(len(raw))
    response_is_text, raw = _with_response_as_text(raw)
    if len(raw) > MOST_CONTAINERS and raw.count(b"[") + raw.count(b"{") > MOST_CONTAINERS:
        _refuse_containers(raw)
    flags: tuple[str, ...] = ("response-is-text",) if response_is_text else ()
    if raw.startswith(codecs.BOM_UTF8):
        raw, flags = raw[len(codecs.BOM_UTF8) :], (*flags, "bom")
    value, repaired = _read_shallow(raw)
    if type(value) is not dict:
        raise PayloadError(f"the payload is {json_type_name(value)}", advice="send one JSON object")
    return value, flags + repaired + _size_flags(raw, value)


def too_many_bytes(length: int) -> PayloadTooLargeError:
    """Return the error for a payload of this many bytes."""
    return PayloadTooLargeError(f"the payload has {length} bytes", advice=f"send at most {LARGEST}")


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
    """Raise PayloadError unless the tool's name is text: no matcher would match it, so every guard would pass it."""
    name = payload.get("tool_name")
    if name is not None and not isinstance(name, str):
        raise PayloadError(f"`tool_name` is {json_type_name(name)}", advice="send the tool's name as text")


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


def _read(raw: bytes) -> tuple[Any, tuple[str, ...]]:
    try:
        value = _DECODE(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _read_damaged(raw)
    return (value if _keys_are_unique(raw, value) else _read_strictly(raw.decode())), ()


def _keys_are_unique(raw: bytes, value: Any) -> bool:
    """
    Check that no key was lost, without parsing twice.

    Every member of an object is written with one colon. Encoded again, a value whose second `a` replaced the first has
    fewer of them, and colons inside strings stay the same unless they were escaped. So equal counts prove that no key
    was lost; with unequal ones the strict parser decides.
    """
    if b"\\u" in raw and (b"\\u003a" in raw or b"\\u003A" in raw):
        return False
    return raw.count(b":") == _ENCODE(value).count(b":")


def _read_damaged(raw: bytes) -> tuple[Any, tuple[str, ...]]:
    if not raw.strip():
        raise PayloadError("the payload is empty", advice="send one JSON object on standard input")
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in raw[:4]:
        raise PayloadError("the payload is not UTF-8 but looks like UTF-16", advice="send UTF-8")
    flags = []
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "replace")
        flags.append("invalid-utf8")
    value = _read_strictly(text)
    repaired = _without_lone_surrogates(value) if "\\u" in text else value
    if repaired is not value:
        flags.append("lone-surrogates")
    return repaired, tuple(flags)


def _read_strictly(text: str) -> Any:
    try:
        return json.loads(
            text, object_pairs_hook=_refuse_repeated_keys, parse_float=_parse_finite, parse_constant=_refuse_constant
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise PayloadError(f"the payload is not JSON: {error.msg.lower()} ({where})") from None
    except ValueError:  # only int() can raise it, for its limit of digits
        raise PayloadError("the payload contains a number with too many digits") from None


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> Payload:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    repeated = Counter(key for key, _ in pairs).most_common(1)[0][0]
    shown = ascii(repeated)[1:-1][:60]
    raise PayloadError(f"the key `{shown}` is given twice in one object", advice="send every key once")


def _parse_finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise PayloadError(f"the number `{text[:40]}` is out of range")
    return value


def _refuse_constant(text: str) -> NoReturn:
    raise PayloadError(f"the payload contains `{text}`, which is not JSON")


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
    return _refuse_repeated_keys(pairs)


def _with_response_as_text(raw: bytes) -> tuple[bool, bytes]:
    """Replace a tool's output that has too many parts by its JSON text; the rest stays."""
    if len(raw) < MOST_KEYS or raw.count(b":") + raw.count(b"[") + raw.count(b"{") <= MOST_KEYS:
        return False, raw
    try:
        response = bytes(_FIELDS(raw.removeprefix(codecs.BOM_UTF8)).get("tool_response", b""))
        text = response.decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False, raw  # the parser that reads it next reports what is wrong
    parts = text.count(":") + text.count("[") + text.count("{")
    if text[:1] not in ("[", "{") or parts <= MOST_KEYS:
        return False, raw
    # The last of the same name is used; a repeated key is reported afterwards.
    before, _, after = raw.rpartition(response)
    return True, before + _ENCODE(text) + after


def _refuse_containers(raw: bytes) -> None:
    """Raise if there are too many containers outside strings: between every second quote that is not escaped."""
    parts = raw.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]
    if sum(part.count(b"[") + part.count(b"{") for part in parts) > MOST_CONTAINERS:
        advice = f"send at most {MOST_CONTAINERS}"
        raise PayloadTooLargeError("the payload has too many lists and objects", advice=advice)


def _size_flags(raw: bytes, value: Payload) -> tuple[str, ...]:
    if len(raw) < MANY_KEYS or raw.count(b":") <= MANY_KEYS:
        return ()
    keys = _keys_in(value)
    if keys > MOST_KEYS:
        raise PayloadTooLargeError(f"the payload has {keys} keys", advice=f"send at most {MOST_KEYS}")
    return ("many-keys",) if keys > MANY_KEYS else ()


def _keys_in(value: Payload) -> int:
    keys = 0
    level: list[Any] = [value]
    while level:
        inner: list[Any] = []
        for node in level:
            if type(node) is dict:
                keys += len(node)
                inner += [each for each in node.values() if type(each) is dict or type(each) is list]
            else:
                inner += [each for each in node if type(each) is dict or type(each) is list]
        level = inner
    return keys


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
