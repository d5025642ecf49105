"""What has to go from a text: in order, without overlaps, as places in the text that was given."""

from bisect import bisect_right
from collections.abc import Container
from functools import partial

from snell.redact import scan
from snell.redact.contexts import in_context, of_a_kubernetes_secret
from snell.redact.encodings import decode_run, reads_like_text, run_at
from snell.redact.format_rules import Span, known_around, known_format
from snell.redact.line_breaks import secrets_across_lines
from snell.redact.unescape import unescape
from snell.redact.zero_width import without_zero_width

_DEPTH = 2  # an encoding inside an encoding is looked into, no further


def secrets_in(text: str, depth: int = _DEPTH) -> list[Span]:
    """The places of all secrets; linear in the length of the text."""
    found = _found(text, depth)
    if view := without_zero_width(text):
        found += [(*view.place_of(start, end), kind) for start, end, kind in _found(view.text, depth)]
    return merge_spans(found) if len(found) > 1 else found


def _found(text: str, depth: int) -> list[Span]:
    data = scan.to_ascii_bytes(text)
    worth = scan.scans().worth(data)
    found = secrets_across_lines(text, data)
    if worth:
        found += _plain(text, data, worth)
    if depth and scan.ENCODED in worth:
        found += _encoded(text, data, found, depth)
    if depth and scan.READ_AGAIN in worth:
        found += _rewritten(text, data, depth)
    return found


def merge_spans(spans: list[Span]) -> list[Span]:
    """Overlapping places are one; the longer one names it."""
    done: list[Span] = []
    for start, end, kind in sorted(spans, key=lambda each: (each[0], -each[1])):
        if done and start < done[-1][1]:
            first, last, name = done[-1]
            longer = kind if end - start > last - first else name
            done[-1] = (first, max(last, end), longer)
        else:
            done.append((start, end, kind))
    return done


def _plain(text: str, data: bytes, worth: Container[int]) -> list[Span]:
    found = _formats(text, data) if scan.FORMATS in worth else []
    if scan.SURROUNDED not in worth:
        return found
    kept = "[redacted:" in text
    end = 0
    for at in scan.scans().surroundings(data):
        span = in_context(text, at) if at >= end else None
        end = span[1] if span else end
        if span and not (kept and _is_placeholder(text, span)):
            found.append(span)
        if text[at : at + 4].lower() == "kind":
            found += of_a_kubernetes_secret(text, at)
    return found


def _formats(text: str, data: bytes) -> list[Span]:
    found: list[Span] = []
    end = 0
    beginnings, middles = scan.scans().formats(data)
    for at in beginnings:
        if at < end:
            continue
        span = known_format(text, at)
        if span:
            found.append(span)
            end = span[1]
    return found + [span for at in middles if (span := known_around(text, at))]


def _encoded(text: str, data: bytes, known: list[Span], depth: int) -> list[Span]:
    """Base64 and hex that hold a secret go as a whole."""
    found = []
    taken = merge_spans(list(known)) if known else []
    starts = [span[0] for span in taken]
    end, is_text = 0, False
    for at in scan.runs(data):
        if at < end and is_text:  # a line of what was read as a whole
            continue
        index = bisect_right(starts, at) - 1
        if index >= 0 and at < taken[index][1]:
            continue
        end = end if at < end else run_at(text, at)
        is_text = reads_like_text(text, at, end)
        for inner_start, inner in decode_run(text, at, end):
            if spans := secrets_in(inner, depth - 1):
                found.append((inner_start, end, max(spans, key=lambda span: span[1] - span[0])[2]))
                break
    return found


def _rewritten(text: str, data: bytes, depth: int) -> list[Span]:
    """Escapes and strings in pieces are read as a program would read them, and what is found there is mapped back."""
    view = unescape(text, partial(scan.scans().rewritten, data))
    inner = ((view.place_of(start, end), kind) for start, end, kind in secrets_in(view.text, depth - 1))
    return [(*place, kind) for place, kind in inner if place]


def _is_placeholder(text: str, span: Span) -> bool:
    return text.startswith("[redacted:", span[0]) or text.startswith("redacted:", span[0])
