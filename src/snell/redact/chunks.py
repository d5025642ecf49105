"""Text that arrives in pieces: a secret that lies across a border is still found."""

from collections.abc import Iterable, Iterator

from snell.redact.spans import secrets_in

MARGIN = 8_192  # what is held back; longer than any secret that has to be seen whole, except a private key
_LONGEST = 65_536 + MARGIN


def redact_chunks(chunks: Iterable[str], margin: int = MARGIN) -> Iterator[str]:
    """What `redact` would give for all of them together, as soon as it is certain."""
    held = ""
    for chunk in chunks:
        held += chunk
        if len(held) >= 2 * margin:
            done, held = _certain(held, margin)
            yield done
    if held:
        yield _replaced(held)[0]


def _certain(text: str, margin: int) -> tuple[str, str]:
    """The part that nothing which follows can change, without its secrets; and the rest as it was."""
    cut = len(text) - margin
    breaks = max(text.rfind("\n", 0, cut), text.rfind(" ", 0, cut)) + 1
    cut = breaks if breaks > cut - margin // 2 else cut
    spans = secrets_in(text)
    for start, end, _ in spans:
        if start < cut < end:
            # A key that has no end yet must not be kept waiting for ever.
            cut = start if len(text) - start < _LONGEST else end
    return _replaced(text, cut)[0], text[cut:]


def _replaced(text: str, until: int | None = None) -> tuple[str, int]:
    pieces, at = [], 0
    stop = len(text) if until is None else until
    for start, end, kind in secrets_in(text):
        if start >= stop:
            break
        pieces += [text[at:start], f"[redacted:{kind}]"]
        at = end
    return "".join((*pieces, text[at:stop])), max(at, stop)
