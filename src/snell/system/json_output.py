"""Any value as JSON bytes. Hooks are other people's code, so what they hand over need not be clean."""

import json
import math
from typing import Any

import msgspec

from snell.model.errors import HookError

_ENCODE = msgspec.json.Encoder(enc_hook=str).encode


def json_bytes(value: Any) -> bytes:
    """The value as JSON; what JSON does not have becomes text (paths, objects) or null (NaN)."""
    try:
        return _written(value)
    except RecursionError:
        raise HookError("a value is nested too deeply, or holds itself, and cannot be written as JSON") from None


def _written(value: Any) -> bytes:
    try:
        return _ENCODE(value)
    except (ValueError, TypeError, OverflowError):  # a lone surrogate, a tuple as key
        return json.dumps(_plain(value), separators=(",", ":")).encode("ascii")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | bool | int) else str(value)
