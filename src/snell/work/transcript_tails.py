"""What the end of a transcript says about why an agent stopped, and how full its context is."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

LAST_LINES = 50

EXHAUSTED = (
    "prompt is too long",
    "prompt too long",
    "conversation is too long",
    "conversation too long",
    "context_length_exceeded",
)
RATE_LIMITED = ("rate_limit_error", "rate_limit", "overloaded_error", "hit your limit")


def trouble_in(lines: Sequence[bytes]) -> str:
    """`exhausted`, `rate_limited` or nothing, by what the client itself wrote; what people talk about is not it."""
    for line in reversed(lines[-LAST_LINES:]):
        text = _said_by_the_client(line)
        if any(phrase in text for phrase in EXHAUSTED):
            return "exhausted"
        if any(phrase in text for phrase in RATE_LIMITED):
            return "rate_limited"
    return ""


def tokens_in(lines: Sequence[bytes]) -> int | None:
    """How many tokens the model last had in its context, as the transcript counts them."""
    for line in reversed(lines):
        row = _row(line)
        message = row.get("message") if isinstance(row.get("message"), dict) else row
        usage = message.get("usage") if isinstance(message, dict) else None
        if isinstance(usage, dict) and not row.get("isSidechain"):
            names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
            counts: list[int] = [usage[name] for name in names if isinstance(usage.get(name), int)]
            if counts:
                return sum(counts)
    return None


def _said_by_the_client(line: bytes) -> str:
    row = _row(line)
    is_error = bool(row.get("isApiErrorMessage") or row.get("error")) or row.get("type") in ("error", "system")
    message = row.get("message")
    inner = message if isinstance(message, dict) else row
    is_error = is_error or inner.get("model") == "<synthetic>" or inner.get("type") == "error"
    return " ".join(_texts(row)).lower() if is_error else ""


def _row(line: bytes) -> dict[str, Any]:
    try:
        row = msgspec.json.decode(line) if line.strip() else {}
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return {}
    return row if isinstance(row, dict) else {}


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
