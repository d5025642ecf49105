"""
Read what one answer of a model used, from one row of a client's transcript.

Some clients count cached tokens as input, others separately; here they are always separate.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple

from snell.conversations.record import timestamp_of
from snell.model.events import as_table, as_tables

# A line without any of these has no count. `turn_context` is where Codex names its model.
MARKERS = (b'"usage"', b'"token_count"', b'"tokens"', b'"usageMetadata"', b'"turn_context"')


class Tokens(Struct, frozen=True):
    """Numbers of tokens: read, written, read from the cache, written to it."""

    read: int = 0
    written: int = 0
    cached: int = 0
    cache_written: int = 0

    def plus(self, other: "Tokens", sign: int = 1) -> "Tokens":
        return Tokens(*(own + sign * more for own, more in zip(astuple(self), astuple(other), strict=True)))

    @property
    def total(self) -> int:
        return sum(astuple(self))


class Answer(Struct, frozen=True, kw_only=True):
    """What one row says."""

    key: str = ""  # rows with the same key are about the same answer, and the last one counts; empty: there is no other
    tokens: Tokens = Tokens()
    total: Tokens | None = None  # of the complete session until here
    context: int = 0  # tokens in the context
    window: int = 0
    model: str = ""
    at: int = 0  # milliseconds since 1970
    is_side: bool = False  # of a sub-agent, which has a context of its own


def answers_in(row: Mapping[str, Any]) -> Iterator[Answer]:
    """Yield the answers that a row is about: mostly one or none."""
    for each in (row, *as_tables(as_table(row.get("$set")).get("messages"))):  # Gemini repeats messages in such a row
        inner = next((each[name] for name in ("message", "payload", "data") if isinstance(each.get(name), dict)), each)
        for place in (inner, each) if inner is not each else (each,):
            if found := _answer(each, place):
                yield found
                break


def _answer(row: Mapping[str, Any], inner: Mapping[str, Any]) -> Answer | None:
    at, model = timestamp_of(row.get("timestamp") or row.get("time")), str(inner.get("model") or row.get("model") or "")
    side = bool(row.get("isSidechain"))
    if info := as_table(inner.get("info")):
        return _codex(info, at)
    if row.get("type") == "turn_context":
        return Answer(model=model, at=at) if model else None
    usage = as_table(inner.get("usage")) or as_table(inner.get("tokens")) or as_table(inner.get("usageMetadata"))
    counted = _tokens(usage)
    if counted is None:
        return None
    tokens, context = counted
    model = model or str(usage.get("model") or "")  # Copilot has it there
    return Answer(key=_key(row, inner), tokens=tokens, context=context, model=model, at=at, is_side=side)


def _codex(info: Mapping[str, Any], at: int) -> Answer | None:
    """Return an answer of Codex, which counts the complete session and may repeat a count."""
    last, total = _tokens(as_table(info.get("last_token_usage"))), _tokens(as_table(info.get("total_token_usage")))
    if last is None and total is None:
        return None
    return Answer(
        tokens=last[0] if last else Tokens(),
        total=total[0] if total else None,
        context=last[1] if last else 0,
        window=_first(info, "model_context_window") or 0,
        at=at,
    )


def _key(row: Mapping[str, Any], inner: Mapping[str, Any]) -> str:
    """Return the number of an answer; Claude Code writes a row for each part of one, with the counts until then."""
    number = inner.get("id") or (row.get("id") or row.get("uuid") if inner is row or "usageMetadata" in row else "")
    request = row.get("requestId")
    return f"{number}:{request or ''}" if isinstance(number, str) and number else ""


# The names of each number in one client or another; those of the second line count cached tokens as input.
_INPUT = ("input_tokens", "input", "inputOther", "input_other", "inputTokens")
_WHOLE_INPUT = ("prompt_tokens", "promptTokenCount")
_OUTPUT = ("output_tokens", "completion_tokens", "output", "candidatesTokenCount", "outputTokens")
_THOUGHTS = ("thoughts", "thoughtsTokenCount")
_TOTALS = ("total_tokens", "total", "totalTokenCount")
_CACHED = ("cached_input_tokens", "cached", "cachedContentTokenCount", "cacheReadTokens")  # a part of the input
_CACHE_READ = ("cache_read_input_tokens", "inputCacheRead", "input_cache_read")  # beside it
_CACHE_WRITTEN = ("cache_creation_input_tokens", "inputCacheCreation", "input_cache_creation")


def _tokens(usage: Mapping[str, Any]) -> tuple[Tokens, int] | None:
    """Return the tokens of one answer, and how many are in its context; None if there is no count."""
    given, whole, output = _first(usage, *_INPUT), _first(usage, *_WHOLE_INPUT), _first(usage, *_OUTPUT)
    total = _first(usage, *_TOTALS)
    if given is None and whole is None and output is None and total is None:
        return None
    cache = as_table(usage.get("cache"))
    inside = _first(usage, *_CACHED) or 0
    beside = _first(usage, *_CACHE_READ) or _first(cache, "read") or 0
    written = _first(usage, *_CACHE_WRITTEN) or _first(cache, "write") or 0
    read = given if given is not None else whole or 0
    thoughts = _first(usage, *_THOUGHTS) or 0
    if total is not None and thoughts and read + (output or 0) + thoughts > total:
        thoughts = 0  # this client counts them as output
    tokens = Tokens(max(read - inside, 0), (output or 0) + thoughts, inside + beside, written)
    return tokens, total if total is not None else tokens.total


def _first(usage: Mapping[str, Any], *names: str) -> int | None:
    return next((usage[name] for name in names if _is_count(usage.get(name))), None)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
