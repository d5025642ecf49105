"""Judge from a name whether its value is a secret."""

import re
from functools import lru_cache
from typing import Literal

from snell.redact.pattern_file import PATTERNS

Strength = Literal["password", "strong", "weak"]
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_list = PATTERNS.words
_PASSWORDS, _SECRETS, _SECRETS_ALONE, _WEAK = map(_list, ("passwords", "secrets", "secrets_alone", "weak"))
_OF_KEYS, _NO_KEYS, _TAILS, _PAIRS, _WEAK_PAIRS = map(_list, ("of_keys", "no_keys", "tails", "pairs", "weak_pairs"))
_NO_SECRET_KEYS, _PAGES, _NO_TAILS, _NO_PASSES = (
    frozenset(_list(name)) for name in ("no_secret_keys", "no_secret_tokens", "no_tails", "no_passes")
)


@lru_cache(maxsize=4_096)
def strength_of(name: str) -> Strength | None:
    """Judge a name: `DB_PASSWORD` is a password, `clientSecret` strong, `cache_key` none; any other `key` is weak."""
    words = _words(name)
    if not words:
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    pair = f"{before}_{last}"
    if (
        last.endswith(_PASSWORDS)
        or (last.endswith("pass") and last not in _NO_PASSES)
        or (last == "pass" and (before or name.startswith("--")))
        or (last.endswith("pw") and (last != "pw" or before or name.isupper()))
    ):
        return "password"
    if before in _PAGES and last in {"token", "tokens"}:  # `nextPageToken`
        return None
    if last.endswith(_SECRETS) or last in _SECRETS_ALONE or pair in _PAIRS:
        return "strong"
    if last in {"key", "keys"}:
        if before in _OF_KEYS or words[0] == "x":  # a header such as `X-Acme-Key`
            return "strong"
        return "weak" if _NO_SECRET_KEYS.isdisjoint(words) else None
    if last.endswith("key") and last not in _NO_KEYS:
        return "weak"
    is_before = words[0] in ("secret", *_PASSWORDS) and last not in _NO_TAILS  # `PASSWORD_DB`, `secret_client`
    return "weak" if last in _WEAK or is_before or pair in _WEAK_PAIRS else None


def is_secret_name(name: str) -> bool:
    """Whether it names a secret: `GITHUB_TOKEN` and `clientSecret` do, `token_count` and `password_file` do not."""
    return strength_of(name) in {"password", "strong"}


def kind_of_name(name: str) -> str:
    """Return the kind that a placeholder names."""
    words = _words(name) or ["secret"]
    last = words[-1]
    if last.endswith(_PASSWORDS) or last == "pass":
        return "password"
    for kind in ("token", "secret", "credential", "cookie", "authorization"):
        if last.removesuffix("s").endswith(kind):
            return kind
    return "api-key" if "key" in last else "secret"


def _words(name: str) -> list[str]:
    words = [word.lower() for word in _WORDS.findall(name[-80:])]
    while len(words) > 1 and (words[-1] in _TAILS or (words[-1].isdigit() and len(words[-1]) < 4)):
        words.pop()
    return words[:-1] if words[-3:] == ["access", "key", "id"] else words
