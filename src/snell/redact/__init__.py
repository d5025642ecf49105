"""
Secrets out of text and data, before anything is written, sent or shown.

`redact` and `redacted` are the whole boundary: whoever writes calls one of them, once. What was taken out leaves a
placeholder that says what it was, `[redacted:github-token]`, and nothing of the value. A placeholder is never taken for
a secret, so redacting twice changes nothing more.

How it works: `scan` finds places worth a look, in one pass over the text for all formats and one for all surroundings;
`rules` knows the formats, which `formats/` lists one per line, `contexts` the surroundings, `setting` and
`named` the values that names are given, and `programs` the ways of command lines. `encodings`, `joins` and `rewritten`
are for secrets that were encoded, broken over lines or escaped.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

__all__ = ["Finding", "find", "is_too_secret", "redact", "redact_chunks", "redact_data"]

_MARGIN = 8_192  # longer than any secret that has to be seen whole
_SHORTEST = 7  # `pwd=abc`

# Hook ids, event names and field names come again with every event. Only texts without a secret are remembered.
_SHORT, _REMEMBERED = 120, 8_192
_clean: set[str] = set()


class Finding(NamedTuple):
    """What kind of secret, and where in the text it was."""

    kind: str
    start: int
    end: int


def redact(text: str) -> str:
    """The text with every secret that is recognised replaced by a placeholder; linear in its length."""
    if text in _clean:
        return text
    done = _replaced(text, len(text))
    if done == text and len(text) <= _SHORT:
        if len(_clean) >= _REMEMBERED:
            _clean.clear()
        _clean.add(text)
    return done


def redact_data(value: Any, longest: int | None = None) -> Any:
    """
    JSON-like data with its secrets replaced: by what a value looks like, and by the name it has.

    Texts over `longest` characters are cut. The cut comes last, so that it cannot halve a secret into something that
    is no longer recognised.
    """
    from snell.redact.data import without_secrets

    return without_secrets(value, lambda text: text if text in _clean else _cut(text, longest))


def redact_chunks(chunks: Iterable[str]) -> Iterator[str]:
    """What `redact` would give for all chunks together, piece by piece, in bounded memory."""
    from snell.redact.chunks import redact_chunks as in_pieces

    return in_pieces(chunks)


def find(text: str) -> list[Finding]:
    """The secrets in a text, in order."""
    from snell.redact.spans import secrets_in

    return [Finding(kind, start, end) for start, end, kind in secrets_in(text)]


def is_too_secret(text: str, findings: list[Finding]) -> bool:
    """Whether nothing of it should be kept: it holds a private key, or most of it is secret."""
    if any(finding.kind == "private-key" for finding in findings):
        return True
    removed = sum(finding.end - finding.start for finding in findings)
    return removed * 2 > _without_placeholders(text)


def _without_placeholders(text: str) -> int:
    import re

    return len(re.sub(r"\[redacted:[a-z0-9-]+\]", "", text))


def _cut(text: str, longest: int | None) -> str:
    if not text.isascii():  # half a surrogate pair can be held in memory, but not written
        text = text.encode("utf-8", "replace").decode("utf-8")
    if len(text) < _SHORTEST:
        return text
    if longest is None or len(text) <= longest:
        return redact(text)
    return f"{_replaced(text[: longest + _MARGIN], longest)}… [{len(text) - longest} more characters]"


def _replaced(text: str, until: int) -> str:
    from snell.redact.spans import secrets_in

    pieces, at = [], 0
    for start, end, kind in secrets_in(text):
        if start >= until:
            break
        pieces += [text[at:start], f"[redacted:{kind}]"]
        at = end
    return "".join((*pieces, text[at:until])) if pieces else text[:until]
