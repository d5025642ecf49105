"""Judge from a name whether its value is a secret."""

import re
from functools import lru_cache
from typing import Literal

Strength = Literal["password", "strong", "weak"]


def words_in(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PASSWORDS = (
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "userpass",
    "dbpass",
    "storepass",
    "keypass",
    "psk",
)
_SECRETS = ("secret", "secrets", "token", "tokens", "apikey", "apikeys", "credential", "credentials", "accesskey")
_SECRETS_ALONE = frozenset({"cookie", "cookies", "authorization", "creds", "authkey", "secretkey", "privatekey", "jwt"})
_WEAK = frozenset({"key", "keys", "auth", "cred", "pass", "salt", "seed", "pat", "pw", "bearer", "basic"})
_OF_KEYS = words_in(
    "access account admin api app application auth client consumer crypt crypto deploy deployment encrypt encryption "
    "function hmac integration license live master partner private prod root sas secret server service session shared "
    "sign signing ssh storage stripe subscription user webhook write account1 host jwt aes rsa des ec ed25519"
)
_NO_SECRET_KEYS = words_in(
    "public primary foreign cache sort partition hash unique object bucket map dict group row column composite natural "
    "surrogate shard range s3 storage_key lookup index translation i18n locale label registry preference arrow hot "
    "idempotency dedupe dedup routing event message file image asset etag content item node tree commit git query "
    "config"
)
# What may follow without changing what it is: API_KEY_PROD, SECRET_KEY_BASE, client-key-data, token1.
_TAILS = words_in("base prod production dev staging live value string plain text raw data b64 base64 old new hex env")


@lru_cache(maxsize=4_096)
def strength_of(name: str) -> Strength | None:
    """Judge a name: `DB_PASSWORD` is a password, `clientSecret` strong, `cache_key` none; any other `key` is weak."""
    words = _words(name)
    if not words:
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last.endswith(_PASSWORDS):
        return "password"
    if last == "pass" and before:
        return "password"
    if last.endswith(_SECRETS) or last in _SECRETS_ALONE or (last == "hash" and before == "api"):
        return "strong"
    if last in {"key", "keys"}:
        if before in _OF_KEYS or words[0] == "x":  # a header such as `X-Acme-Key`
            return "strong"
        return None if _NO_SECRET_KEYS.intersection(words) else "weak"
    if last.endswith("key") and last not in {
        "monkey",
        "turkey",
        "hotkey",
        "hockey",
        "donkey",
        "disney",
        "whiskey",
        "jockey",
    }:
        return "weak"
    return "weak" if last in _WEAK else None


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
    return words
