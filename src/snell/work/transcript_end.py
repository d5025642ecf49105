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
RATE_LIMITED = ("rate_limit", "rate limit", "overloaded", "hit your limit", "too many requests")
SPEAKERS = frozenset({"assistant", "assistant.message", "agent_message", "gemini", "model"})
_PARTS = (
    *("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"),
    *("prompt_tokens", "completion_tokens", "input", "output", "promptTokenCount", "candidatesTokenCount"),
)


def trouble_in(lines: Sequence[bytes]) -> str:
    """
    `exhausted`, `rate_limited` or nothing, by what the client itself wrote; what people talk about is not it.

    What the model said after an error shows that it is over.
    """
    for line in reversed(lines[-LAST_LINES:]):
        row = _row(line)
        text = _said_by_the_client(row)
        if not text and _is_answer(row):
            return ""
        if any(phrase in text for phrase in EXHAUSTED):
            return "exhausted"
        if any(phrase in text for phrase in RATE_LIMITED):
            return "rate_limited"
    return ""


def tokens_in(lines: Sequence[bytes]) -> int | None:
    """How many tokens the model last had in its context, as the transcript counts them."""
    places = (place for row in _rows_back(lines) for place in (_inner(row), row))
    return next((count for place in places if (count := _counted(place)) is not None), None)


def window_in(lines: Sequence[bytes]) -> int | None:
    """How many there may be, where the transcript says that as well."""
    sizes = (_dict(_inner(row).get("info")).get("model_context_window") for row in _rows_back(lines))
    return next((size for size in sizes if isinstance(size, int) and size > 0), None)


def _rows_back(lines: Sequence[bytes]) -> Iterable[dict[str, Any]]:
    return (row for line in reversed(lines) if not (row := _row(line)).get("isSidechain"))


def _counted(inner: dict[str, Any]) -> int | None:
    """
    The count of one answer. What a cache held is part of the input for some clients and beside it for others.

    `info` is Codex's, which also counts the whole session; `tokens` is Gemini's; `usageMetadata` is that of its API.
    """
    usage = _dict(inner.get("usage")) or _dict(_dict(inner.get("info")).get("last_token_usage"))
    usage = usage or _dict(inner.get("tokens")) or _dict(inner.get("usageMetadata"))
    totals = (usage.get(name) for name in ("total_tokens", "total", "totalTokenCount"))
    counts: list[Any] = [
        *(usage.get(name) for name in _PARTS),
        *(_dict(usage.get("cache")).get(name) for name in ("read", "write")),
    ]
    numbers: list[int] = [each for each in counts if _is_count(each)]
    return next((each for each in totals if _is_count(each)), sum(numbers) if numbers else None)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _inner(row: dict[str, Any]) -> dict[str, Any]:
    """What a row is about, however its client wraps that."""
    return next((row[name] for name in ("message", "payload", "data") if isinstance(row.get(name), dict)), row)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_answer(row: dict[str, Any]) -> bool:
    """Did the model itself speak here? By its role, however deep a client wraps it."""
    inner = _inner(row)
    speakers = (inner.get("role"), inner.get("type"), row.get("type"))
    return any(each in SPEAKERS for each in speakers if isinstance(each, str)) and not row.get("isSidechain")


def _said_by_the_client(row: dict[str, Any]) -> str:
    is_error = bool(row.get("isApiErrorMessage") or row.get("error")) or row.get("type") in ("error", "system")
    inner = _inner(row)
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
