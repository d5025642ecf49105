"""Read from the end of a transcript why an agent stopped."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from snell.model.events import as_table
from snell.system.json_input import json_or_none

LAST_LINES = 50

_FAILURES = {
    "exhausted": r"(?:prompt|conversation) (?:is )?too long|context_length_exceeded",
    "rate_limited": r"rate[_ ]limit|overloaded|hit your limit|too many requests",
}
MODEL_ROLES = frozenset({"assistant", "assistant.message", "agent_message", "gemini", "model"})


def find_failure(lines: Sequence[bytes]) -> str:
    """
    Return `exhausted`, `rate_limited` or an empty text, from errors that the client wrote, not from conversation.

    An answer of the model after an error shows that the error is over.
    """
    for line in reversed(lines[-LAST_LINES:]):
        row = as_table(json_or_none(line))
        text = _client_error(row)
        if not text and _is_answer(row):
            return ""
        if failure := next((name for name, phrases in _FAILURES.items() if re.search(phrases, text)), ""):
            return failure
    return ""


def _inner(row: dict[str, Any]) -> dict[str, Any]:
    """Return the inner object of a row, which clients wrap under different names."""
    return next((row[name] for name in ("message", "payload", "data") if isinstance(row.get(name), dict)), row)


def _is_answer(row: dict[str, Any]) -> bool:
    """Whether a row is an answer of the model, by its role or type."""
    inner = _inner(row)
    roles = (inner.get("role"), inner.get("type"), row.get("type"))
    return any(each in MODEL_ROLES for each in roles if isinstance(each, str)) and not row.get("isSidechain")


def _client_error(row: dict[str, Any]) -> str:
    is_error = bool(row.get("isApiErrorMessage") or row.get("error")) or row.get("type") in ("error", "system")
    inner = _inner(row)
    is_error = is_error or inner.get("model") == "<synthetic>" or inner.get("type") == "error"
    return " ".join(_texts(row)).lower() if is_error else ""


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
