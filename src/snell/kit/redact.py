"""
Secrets out of text and data, before anything is written, sent or shown.

`redact` and `redacted` are the whole boundary: whoever writes calls one of them, once. What was taken out leaves a
placeholder that says what it was, `[redacted:github-token]`, and nothing of the value.
"""

import os
from typing import Any

from snell.kit.redact_context import Match, contexts, is_secret_name, kind_of_name
from snell.kit.redact_formats import Span, beginnings, known_format

_SECRET_FILES = (
    ".env",
    ".npmrc",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".git-credentials",
    "credentials",
    "id_rsa",
    "id_ed25519",
)
_SECRET_ENDINGS = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".env")
_MARGIN = 8_192  # longer than any secret that has to be seen whole
_SHORTEST = 7  # `pwd=abc`
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


# Hook ids, event names and field names come again with every event. Only texts without a secret are remembered.
_SHORT, _REMEMBERED = 120, 8_192
_clean: set[str] = set()


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


def redacted(value: Any, longest: int | None = None) -> Any:
    """
    JSON-like data with its secrets replaced: by what a value looks like, and by the name it has.

    Texts over `longest` characters are cut. The cut comes last, so that it cannot halve a secret into something that
    is no longer recognised.
    """
    if isinstance(value, str):
        if value in _clean:
            return value
        return _cut(value, longest) if len(value) >= _SHORTEST or not value.isascii() else value
    if isinstance(value, dict):
        return _dict(value, longest)
    if isinstance(value, list | tuple):
        return [redacted(each, longest) for each in value]
    return value


def _dict(value: dict[Any, Any], longest: int | None) -> dict[Any, Any]:
    if _is_of_a_secret_file(value):
        return {key: each if key in _PATH_KEYS else _blank(each, "secret-file") for key, each in value.items()}
    done = {}
    for key, each in value.items():
        name = redacted(key)
        is_secret = isinstance(key, str) and is_secret_name(key)
        done[name] = _blank(each, kind_of_name(key)) if is_secret else redacted(each, longest)
    return done


def _blank(value: Any, kind: str) -> Any:
    """Everything inside is secret, whatever it looks like; numbers and flags of that name are settings."""
    if isinstance(value, str):
        return redact(value) if not value or value.startswith(("$", "[redacted:")) else f"[redacted:{kind}]"
    if isinstance(value, dict):
        return {key: _blank(each, kind) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_blank(each, kind) for each in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"[redacted:{kind}]" if is_number and kind == "password" else value


_PATH_KEYS = frozenset({"file_path", "filePath", "path", "notebook_path", "type"})


def _is_of_a_secret_file(value: dict[Any, Any]) -> bool:
    path = next((value[key] for key in ("file_path", "filePath") if isinstance(value.get(key), str)), "")
    name = os.path.basename(path).lower()
    return name in _SECRET_FILES or name.endswith(_SECRET_ENDINGS) or name.startswith(".env.")


def _cut(text: str, longest: int | None) -> str:
    if not text.isascii():  # half a surrogate pair can be held in memory, but not written
        text = text.encode("utf-8", "replace").decode("utf-8")
    if longest is None or len(text) <= longest:
        return redact(text)
    return f"{_replaced(text[: longest + _MARGIN], longest)}… [{len(text) - longest} more characters]"


def _replaced(text: str, until: int) -> str:
    pieces, at = [], 0
    for start, end, kind in _spans(text):
        if start >= until:
            break
        pieces += [text[at:start], f"[redacted:{kind}]"]
        at = end
    return "".join((*pieces, text[at:until])) if pieces else text[:until]


def _spans(text: str) -> list[Span]:
    """What has to go, in order, without overlaps."""
    lowered = text.lower()
    if len(lowered) != len(text):  # some letters grow; positions have to agree
        lowered = text.translate(_ASCII_LOWER)
    hits: list[tuple[int, Match]] = [(at, known_format) for at in beginnings(text)]
    hits += contexts(lowered)
    hits.sort(key=_position)
    found: list[Span] = []
    end = 0
    for at, match in hits:
        if at >= end and (span := match(text, at)):
            found.append(span)
            end = span[1]
    return found


def _position(hit: tuple[int, Match]) -> int:
    return hit[0]
