"""Find all secrets in a text and replace them; their positions are in order and do not overlap."""

from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator
from functools import partial

from snell.redact import scan
from snell.redact.contexts import in_context, kubernetes_secret_values
from snell.redact.encodings import decode_run, reads_like_text, run_at
from snell.redact.format_rules import Span, known_around, known_format
from snell.redact.line_breaks import secrets_across_lines
from snell.redact.unescape import unescape
from snell.redact.zero_width import without_zero_width

_DEPTH = 2  # an encoding inside an encoding is decoded, a deeper one is not
MARGIN = 8_192  # held back; longer than any secret that has to be complete, except a private key
_LONGEST = 65_536 + MARGIN


def secrets_in(text: str, depth: int = _DEPTH) -> list[Span]:
    """Return the positions of all secrets; linear in the length of the text."""
    found = _find(text, depth)
    if view := without_zero_width(text):
        found += [(*view.place_of(start, end), kind) for start, end, kind in _find(view.text, depth)]
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


def redact_chunks(chunks: Iterable[str], margin: int = MARGIN) -> Iterator[str]:
    """Yield what `redact` would return for all of them together, as soon as it is certain."""
    held = ""
    for chunk in chunks:
        held += chunk
        if len(held) >= 2 * margin:
            done, held = _redact_certain(held, margin)
            yield done
    if held:
        yield replace_secrets(held, len(held))


def _redact_certain(text: str, margin: int) -> tuple[str, str]:
    """Return the redacted part that later text cannot change, and the rest as it was."""
    cut = len(text) - margin
    breaks = max(text.rfind("\n", 0, cut), text.rfind(" ", 0, cut)) + 1
    cut = breaks if breaks > cut - margin // 2 else cut
    spans = secrets_in(text)
    for start, end, _ in spans:
        if start < cut < end:
            # A private key without an end must not be held back for ever.
            cut = start if len(text) - start < _LONGEST else end
    return replace_secrets(text, cut), text[cut:]


def _find(text: str, depth: int) -> list[Span]:
    data = scan.to_ascii_bytes(text)
    useful_scans = scan.scans().useful_scans(data)
    found = secrets_across_lines(text, data)
    if useful_scans:
        found += _find_plain(text, data, useful_scans)
    if depth and scan.ENCODED in useful_scans:
        found += _find_encoded(text, data, found, depth)
    if depth and scan.ESCAPED in useful_scans:
        found += _find_escaped(text, data, depth)
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


def _find_plain(text: str, data: bytes, useful_scans: Container[int]) -> list[Span]:
    found = _find_formats(text, data) if scan.FORMATS in useful_scans else []
    if scan.IN_CONTEXT not in useful_scans:
        return found
    kept = "[redacted:" in text
    end = 0
    for at in scan.scans().contexts(data):
        span = in_context(text, at) if at >= end else None
        end = span[1] if span else end
        if span and not (kept and _is_placeholder(text, span)):
            found.append(span)
        if text[at : at + 4].lower() == "kind":
            found += kubernetes_secret_values(text, at)
    return found


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


def _find_escaped(text: str, data: bytes, depth: int) -> list[Span]:
    """Find secrets in the unescaped text, and map their positions back."""
    view = unescape(text, partial(scan.scans().next_escape, data))
    inner = ((view.place_of(start, end), kind) for start, end, kind in secrets_in(view.text, depth - 1))
    return [(*place, kind) for place, kind in inner if place]


def _is_placeholder(text: str, span: Span) -> bool:
    return text.startswith("[redacted:", span[0]) or text.startswith("redacted:", span[0])
