"""
Remove secrets from text and data before anything is written, sent or shown.

`redact` and `redact_data` are the interface: code that writes calls one of them, once. Each secret is replaced by a
placeholder with its kind, such as `[redacted:github-token]`, and nothing of the value. A placeholder is never taken for
a secret, so redacting twice changes nothing more.

How it works: `patterns.toml` has what to look for. `scan` finds candidates, in one pass over the text for all formats
and one for all contexts. `format_rules` matches the known formats. `contexts` recognises secrets by the text around
them, with `config_values` and `named_values` for the values of names. `near_values` finds what was made up near a name.
`normalise` finds the secrets that were escaped or hidden, `encodings` and `line_breaks` those encoded or wrapped.
"""

from typing import Any, NamedTuple

__all__ = ["Finding", "find", "is_too_secret", "redact", "redact_data"]

_MARGIN = 8_192  # longer than any secret that has to be complete to be recognised
_SHORTEST = 7  # `pwd=abc`

# Hook ids, event names, field names and command lines repeat. Only texts without a secret are remembered.
_SHORT, _REMEMBERED = 2_000, 1_000_000  # characters of one text, and of all
_clean: set[str] = set()
_size = 0  # of these


class Finding(NamedTuple):
    """The kind of a secret, and its position in the text."""

    kind: str
    start: int
    end: int


def redact(text: str) -> str:
    """Return the text with every recognised secret replaced by a placeholder; linear in its length."""
    if text in _clean:
        return text
    from snell.redact.spans import replace_secrets

    global _size
    done = replace_secrets(text, len(text))
    if done == text and len(text) <= _SHORT:
        _size += len(text) + 1
        if _size > _REMEMBERED:
            _clean.clear()
            _size = len(text) + 1
        _clean.add(text)
    return done


def redact_data(value: Any, longest: int | None = None) -> Any:
    """Return JSON-like data without its secrets; then texts over `longest` are cut, so that no cut halves a secret."""
    from snell.redact.data import without_secrets

    most = _SHORT if longest is None else longest

    def clean(text: str) -> str:
        is_known = text in _clean and len(text) <= most
        return text if is_known or (len(text) < _SHORTEST and text.isascii()) else _cut(text, longest)

    return without_secrets(value, clean)


def find(text: str) -> list[Finding]:
    """Return the secrets in a text, in order."""
    from snell.redact.spans import secrets_in

    return [Finding(kind, start, end) for start, end, kind in secrets_in(text)]


def is_too_secret(text: str, findings: list[Finding]) -> bool:
    """Whether nothing of the text should be kept: it contains a private key, or most of it is secret."""
    if any(finding.kind == "private-key" for finding in findings):
        return True
    import re

    removed = sum(finding.end - finding.start for finding in findings)
    return removed * 2 > len(re.sub(r"\[redacted:[a-z0-9-]+\]", "", text))


def _cut(text: str, longest: int | None) -> str:
    from snell.redact.spans import replace_secrets

    if not text.isascii():  # half a surrogate pair can be in memory, but not be written
        text = text.encode("utf-8", "replace").decode("utf-8")
    if len(text) < _SHORTEST:
        return text
    if longest is None or len(text) <= longest:
        return redact(text)
    return f"{replace_secrets(text[: longest + _MARGIN], longest)}… [{len(text) - longest} more characters]"
