"""Redact text that arrives in pieces; a secret that crosses a border is still found."""

from collections.abc import Iterable, Iterator

from snell.redact.spans import replace_secrets, secrets_in

MARGIN = 8_192  # held back; longer than any secret that has to be complete, except a private key
_LONGEST = 65_536 + MARGIN


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
