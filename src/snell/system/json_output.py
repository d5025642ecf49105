"""Encode any value as JSON. Hooks are other people's code, so their values need not be valid JSON."""

import json
import math
from typing import Any

import msgspec

from snell.model.errors import HookError

_ENCODE = msgspec.json.Encoder(enc_hook=str).encode


def json_bytes(value: Any) -> bytes:
    """Encode the value; types that JSON lacks become text (paths, objects) or null (NaN)."""
    try:
        try:
            return _ENCODE(value)
        except (ValueError, TypeError, OverflowError):  # a lone surrogate, a tuple as key
            return json.dumps(_with_json_types(value), separators=(",", ":")).encode("ascii")
    except RecursionError:
        raise HookError("a value is nested too deeply, or contains itself, and cannot be written as JSON") from None


def json_value(value: Any) -> Any:
    """Return a copy made of JSON types only; raises `HookError` when the value is nested too deeply."""
    if value is None or isinstance(value, str | bool):
        return value
    data = json_bytes(value)
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError:  # half a surrogate pair
        return json.loads(data)


def _with_json_types(value: Any) -> Any:
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): _with_json_types(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_with_json_types(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | bool | int) else str(value)
