"""Any value as it would come back from a file: dicts, lists, texts, numbers, flags and nothing."""

import json
from typing import Any

import msgspec

from snell.system.json_output import json_bytes


def plain(value: Any) -> Any:
    """A copy made of what JSON has; raises `HookError` when the value is nested too deeply."""
    if value is None or isinstance(value, str | bool):
        return value
    data = json_bytes(value)
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError:  # half a surrogate pair
        return json.loads(data)
