"""
A client's payload, read strictly: one JSON object, or a clear refusal.

What two parsers may read differently (a key given twice, NaN) is refused: the client would act on one reading while
a guard judged the other. What is only damaged text (a byte order mark, broken UTF-8, half a surrogate pair) is
mended and flagged. What is nested too deeply becomes text at the last level, and is flagged: the rest is judged as
ever, and so is that text. So does a tool's output that has too many parts: that a tool brought much is no reason to
know nothing of its call.
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

LARGEST = 64 * 1024 * 1024  # bytes; a daemon takes less, and what is larger is decided without one
DEEPEST = 100  # levels, the payload itself being the first
MANY_KEYS = 50_000
MOST_KEYS = 200_000
MOST_CONTAINERS = 500_000  # lists and objects; each costs the garbage collector, however empty it is

# What hooks rely on; anything else in these fields is kept and flagged.
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
_SURROGATE = re.compile("[\ud800-\udfff]")  # a str never holds a whole pair
_WORDS = {type(None): "null", bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list"}


def read_payload(raw: bytes) -> tuple[Payload, tuple[str, ...]]:
    """The payload, and flags for what had to be mended or is out of the ordinary."""
    if len(raw) > LARGEST:
        raise too_many_bytes(len(raw))
    response_is_text, raw = _with_a_plain_response(raw)
    if len(raw) > MOST_CONTAINERS and raw.count(b"[") + raw.count(b"{") > MOST_CONTAINERS:
        _refuse_containers(raw)
    flags: tuple[str, ...] = ("response-is-text",) if response_is_text else ()
    if raw.startswith(codecs.BOM_UTF8):
        raw, flags = raw[len(codecs.BOM_UTF8) :], (*flags, "bom")
    value, mended = _read_shallow(raw)
    if type(value) is not dict:
        raise PayloadError(f"the payload is {word_for(value)}", advice="send one JSON object")
    return value, flags + mended + _size_flags(raw, value)


def too_many_bytes(length: int) -> PayloadTooLargeError:
    """Return the error for a payload of this many bytes."""
    return PayloadTooLargeError(f"the payload has {length} bytes", advice=f"send at most {LARGEST}")


def _read_shallow(raw: bytes) -> tuple[Any, tuple[str, ...]]:
    try:
        value, mended = _read(raw)
        if raw.count(b"{") + raw.count(b"[") <= DEEPEST or not nests_deeper_than(DEEPEST, value):
            return value, mended
    except RecursionError:
        pass
    try:
        value, mended = _read(_flattened(raw))
    except RecursionError:  # levels that are begun and never ended are left as they are
        raise PayloadError("the payload is not JSON: its lists and objects do not end") from None
    return value, (TOO_DEEP, *mended)


def check_tool_name(payload: Payload) -> None:
    """A tool whose name is no text has no name that a matcher could find, so every guard would let it pass."""
    name = payload.get("tool_name")
    if name is not None and not isinstance(name, str):
        raise PayloadError(f"`tool_name` is {word_for(name)}", advice="send the tool's name as text")


def odd_fields(payload: Payload) -> tuple[str, ...]:
    """Flags for fields that are there but are not what hooks rely on, such as `tool_input is null`."""
    flags: tuple[str, ...] = ()
    for field, wanted in FIELD_TYPES.items():
        if field in payload and type(payload[field]) is not wanted:
            flags += (f"{field} is {word_for(payload[field])}",)
    return flags


def word_for(value: Any) -> str:
    """What a JSON value is, in words."""
    return _WORDS.get(type(value), "an object")


def _read(raw: bytes) -> tuple[Any, tuple[str, ...]]:
    try:
        value = _DECODE(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _read_damaged(raw)
    return (value if _keys_are_unique(raw, value) else _read_strictly(raw.decode())), ()


def _keys_are_unique(raw: bytes, value: Any) -> bool:
    """
    Every member of an object is written with one colon. Written out again, a value whose second `a` replaced the first
    has fewer of them, and colons inside strings come out as they went in unless they were escaped. So equal counts
    prove that no key was lost, without parsing twice; unequal ones send the payload to the strict parser.
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
    mended = _without_lone_surrogates(value) if "\\u" in text else value
    if mended is not value:
        flags.append("lone-surrogates")
    return mended, tuple(flags)


def _read_strictly(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_float=_finite, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise PayloadError(f"the payload is not JSON: {error.msg.lower()} ({where})") from None
    except ValueError:  # only int() is left to complain, about its limit of digits
        raise PayloadError("the payload holds a number with too many digits") from None


def _unique(pairs: list[tuple[str, Any]]) -> Payload:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    repeated = Counter(key for key, _ in pairs).most_common(1)[0][0]
    shown = ascii(repeated)[1:-1][:60]
    raise PayloadError(f"the key `{shown}` is given twice in one object", advice="send every key once")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise PayloadError(f"the number `{text[:40]}` is out of range")
    return value


def _no_number(text: str) -> NoReturn:
    raise PayloadError(f"the payload holds `{text}`, which is not JSON")


def _without_lone_surrogates(value: Any) -> Any:
    """The value itself when there are none."""
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
    return _unique(pairs)


def _with_a_plain_response(raw: bytes) -> tuple[bool, bytes]:
    """A tool's output with too many parts becomes the text that it is written as; everything else stays."""
    if len(raw) < MOST_KEYS or raw.count(b":") + raw.count(b"[") + raw.count(b"{") <= MOST_KEYS:
        return False, raw
    try:
        response = bytes(_FIELDS(raw.removeprefix(codecs.BOM_UTF8)).get("tool_response", b""))
        text = response.decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False, raw  # whoever reads it next says what is wrong
    parts = text.count(":") + text.count("[") + text.count("{")
    if text[:1] not in ("[", "{") or parts <= MOST_KEYS:
        return False, raw
    # The last of the same name counts; that there were two is noticed afterwards.
    before, _, after = raw.rpartition(response)
    return True, before + _ENCODE(text) + after


def _refuse_containers(raw: bytes) -> None:
    """Count what stands outside strings: between every second quote, once escaped ones are gone."""
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


def _flattened(raw: bytes) -> bytes:
    """The same JSON with each list or object beyond the last level as a text that says what it is."""
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
