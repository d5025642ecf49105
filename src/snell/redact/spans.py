"""Find all secrets in a text and replace them; their positions are in order and do not overlap."""

from bisect import bisect_right
from functools import partial

from snell.redact import scan
from snell.redact.contexts import in_context, several_values
from snell.redact.encodings import decode_run, reads_like_text, run_at
from snell.redact.foreign_names import in_english
from snell.redact.format_rules import Span, known_around, known_format
from snell.redact.line_breaks import secrets_across_lines
from snell.redact.near_values import near_values
from snell.redact.normalise import View, unescape, without_zero_width

_WIDE_SIGNS = str.maketrans("：＝", ":=")  # as they are typed between Chinese and Japanese characters
_DEPTH = 2  # an encoding inside an encoding is decoded, a deeper one is not


def secrets_in(text: str, depth: int = _DEPTH) -> list[Span]:
    """Return the positions of all secrets; linear in the length of the text."""
    text = text.translate(_WIDE_SIGNS) if "：" in text or "＝" in text else text
    found = _find(text, depth)
    if view := without_zero_width(text):
        found += _map_back(view, _find(view.text, depth))
    if scan.scans().has_foreign_name(text):
        view = in_english(text)
        found += _map_back(view, _find(view.text, depth))
    return merge_spans(found) if len(found) > 1 else found


def replace_secrets(text: str, until: int) -> str:
    """Return the text up to `until` with a placeholder for each secret that begins there."""
    pieces, at = [], 0
    for start, end, kind in secrets_in(text):
        if start >= until:
            break
        pieces += [text[at:start], f"[redacted:{kind}]"]
        at = end
    return "".join((*pieces, text[at:until])) if pieces else text[:until]


def _find(text: str, depth: int) -> list[Span]:
    data = scan.to_ascii_bytes(text)
    found = secrets_across_lines(text, data) + _find_plain(text, data) + _find_near(text, data)
    if depth:
        found += _find_encoded(text, data, found, depth)
    next_escape = scan.scans().next_escape
    if depth and next_escape(data, 0) >= 0:
        view = unescape(text, partial(next_escape, data))
        found += _map_back(view, secrets_in(view.text, depth - 1))
    return found


def merge_spans(spans: list[Span]) -> list[Span]:
    """Merge overlapping positions; the longer secret names the kind."""
    done: list[Span] = []
    for start, end, kind in sorted(spans, key=lambda each: (each[0], -each[1])):
        if done and start < done[-1][1]:
            first, last, name = done[-1]
            longer = kind if end - start > last - first else name
            done[-1] = (first, max(last, end), longer)
        else:
            done.append((start, end, kind))
    return done


def _find_plain(text: str, data: bytes) -> list[Span]:
    found = _find_formats(text, data)
    kept = "[redacted:" in text
    end = 0
    for at in scan.scans().contexts(data):
        span = in_context(text, at) if at >= end else None
        end = span[1] if span else end
        if span and not (kept and (text.startswith("[redacted:", span[0]) or text.startswith("redacted:", span[0]))):
            found.append(span)
        found += several_values(text, at)
    return found


def _find_near(text: str, data: bytes) -> list[Span]:
    """Find the values near names; a placeholder is none."""
    spans = (span for at in scan.scans().names(data) for span in near_values(text, at))
    return [span for span in spans if "[redacted:" not in text[max(0, span[0] - 10) : span[1]]]


def _find_formats(text: str, data: bytes) -> list[Span]:
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


def _find_encoded(text: str, data: bytes, known: list[Span], depth: int) -> list[Span]:
    """Find base64 and hex that contain a secret; they are replaced completely."""
    found = []
    taken = merge_spans(list(known)) if known else []
    starts = [span[0] for span in taken]
    end, is_text = 0, False
    for at in scan.runs(data):
        if at < end and is_text:  # a line of a run that was decoded completely
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


def _map_back(view: View, spans: list[Span]) -> list[Span]:
    return [(*place, kind) for start, end, kind in spans if (place := view.place_of(start, end))]
