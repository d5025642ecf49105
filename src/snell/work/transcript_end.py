"""Read from the end of a transcript why an agent stopped, and how many tokens its context has."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from snell.system.json_input import json_or_none

LAST_LINES = 50

_FAILURES = {
    "exhausted": r"(?:prompt|conversation) (?:is )?too long|context_length_exceeded",
    "rate_limited": r"rate[_ ]limit|overloaded|hit your limit|too many requests",
}
MODEL_ROLES = frozenset({"assistant", "assistant.message", "agent_message", "gemini", "model"})
_PARTS = (
    *("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"),
    *("prompt_tokens", "completion_tokens", "input", "output", "promptTokenCount", "candidatesTokenCount"),
)


def find_failure(lines: Sequence[bytes]) -> str:
    """
    Return `exhausted`, `rate_limited` or an empty text, from errors that the client wrote, not from conversation.

    An answer of the model after an error shows that the error is over.
    """
    for line in reversed(lines[-LAST_LINES:]):
        row = _dict(json_or_none(line))
        text = _client_error(row)
        if not text and _is_answer(row):
            return ""
        if failure := next((name for name, phrases in _FAILURES.items() if re.search(phrases, text)), ""):
            return failure
    return ""


def find_token_count(lines: Sequence[bytes]) -> int | None:
    """Return how many tokens the model last had in its context; None if the transcript has no count."""
    places = (place for row in _rows_back(lines) for place in (_inner(row), row))
    return next((count for place in places if (count := _token_count(place)) is not None), None)


def find_context_size(lines: Sequence[bytes]) -> int | None:
    """Return the size of the context window in tokens; None if the transcript has none."""
    sizes = (_dict(_inner(row).get("info")).get("model_context_window") for row in _rows_back(lines))
    return next((size for size in sizes if isinstance(size, int) and size > 0), None)


def _rows_back(lines: Sequence[bytes]) -> Iterable[dict[str, Any]]:
    return (row for line in reversed(lines) if not (row := _dict(json_or_none(line))).get("isSidechain"))


def _token_count(inner: dict[str, Any]) -> int | None:
    """
    Return the tokens of one answer. Some clients count cached tokens as input, others separately.

    `info` is of Codex, which also counts the complete session; `tokens` is of Gemini; `usageMetadata` of its API.
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
    """Return the inner object of a row, which clients wrap under different names."""
    return next((row[name] for name in ("message", "payload", "data") if isinstance(row.get(name), dict)), row)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


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
