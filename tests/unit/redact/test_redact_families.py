"""Keys of unknown providers, by what they call them; and names that only sound like it."""

import random
import string
import uuid

import pytest

from snell.redact import redact
from tests.unit.redact.redact_cases import CONTEXTS, survives

LETTERS = string.ascii_letters + string.digits
FAMILIES = (
    "sk_{0}", "sk-{0}", "{1}_sk_{0}", "{1}-sk-{0}", "{1}_pat_{0}", "{1}_secret_{0}", "{1}_token_{0}", "{1}-token-{0}",
    "{1}_api_key_{0}", "apikey_{0}", "{1}_live_{0}", "{1}_prod_{0}", "pat_{0}", "{1}_tok_{0}",
)  # fmt: skip


def some(length: int, source: random.Random, of: str = LETTERS) -> str:
    return "".join(source.choices(of, k=length))


def made_up() -> list[str]:
    source = random.Random(41)
    provider = string.ascii_lowercase
    return [
        family.format(some(size, source), some(source.randrange(3, 10), source, provider))
        for family in FAMILIES
        for size in (28, 32, 48, 64)
    ]


@pytest.mark.proves("S4-47")
@pytest.mark.parametrize("context", CONTEXTS)
def test_a_key_of_an_unknown_provider_is_found_by_what_it_is_called(context: str) -> None:
    secrets = made_up()
    missed = [secret for secret in secrets if survives(secret, CONTEXTS[context].format(secret), redact)]
    assert len(missed) <= len(secrets) * 0.02, missed


@pytest.mark.parametrize(
    "line",
    [
        "ENV DB_PASSWORD {}",
        'ENV ACME_TOKEN "{}"',
        "FROM x\nENV API_KEY {}\nRUN y",
        "  ONBUILD ENV API_KEY {}",
        "ARG NPM_TOKEN {}\n",
        "setenv CLIENT_SECRET {}",
        '{{"file": "ENV DB_PASSWORD {}\\nRUN x"}}',
        "+ENV DB_PASSWORD {}\n",
        "telegram_api_hash = {}",
        'apiHash: "{}"',
        "db.acme.io:5432:prod:ann:{}",
        "*:5432:*:ann:{}\n",
    ],
)
def test_a_value_beside_its_name_is_found(line: str) -> None:
    for secret in ("9f1c2e7ab04d4f3c8e5a6b7c8d9e0f1a", "h4rdT0gue$$"):
        if "hash" in line.lower() and "$" in secret:
            continue
        assert secret not in redact(line.format(secret)), line


def look_alikes() -> list[str]:
    source = random.Random(43)
    hexes = "0123456789abcdef"
    small = string.ascii_lowercase + string.digits
    found = []
    for number in range(6):
        found += [
            *(f"{name}{some(24, source)}" for name in ("toolu_01", "msg_01", "call_", "pi_3", "price_1", "evt_1")),
            *(f"{name}{some(24, source)}" for name in ("org-", "file-", "thread_", "run_", "asst_", "user_2")),
            f"cache_key_{some(64, source, hexes)}",
            f"assets/token-{some(8, source)}.js",
            f"deploy-prod-{some(10, source, small)}",
            f"us-prod-{some(8, source, hexes)}",
            f"app-{some(9, source, hexes)}-{some(5, source, small)} 1/1 Running",
            f"test_token_{number}_is_refreshed_after_expiry",
            f"x_secret_sharing_scheme_{number}",
            f"token_type_embeddings.weight.{number}",
            f'class="sk-fading-circle sk-circle{number}"',
            f"secret_name: my-app-secret-{number}",
            f"/nix/store/{some(32, source, small)}-openssl-3.0.{number}",
            f"sha256:{some(64, source, hexes)}",
            f"commit {some(40, source, hexes)}",
            f"id: {uuid.UUID(int=source.getrandbits(128))}",
            f"set env DB_PASSWORD first, number {number}",
            "env API_TOKEN is required to run",
            "ENV PASSWORD_FILE /run/secrets/db",
            "ENV TOKEN_URL https://auth.acme.io/token",
            f"ENV KEY_COUNT {number}",
            "postgres:5432:ready",
            f"-----BEGIN CERTIFICATE-----\n{some(64, source, LETTERS + '+/')}\n{some(40, source)}\n-----END CERT",
        ]
    return found


def test_names_that_only_sound_like_a_key_are_left_alone() -> None:
    texts = look_alikes()
    touched = [text for text in texts if redact(text) != text]
    assert len(touched) <= len(texts) * 0.01, touched
