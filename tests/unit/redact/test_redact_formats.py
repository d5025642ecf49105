"""Every known format, in every place and disguise; and what only looks like one. Nothing here opens anything."""

import hashlib
import random
import re
import uuid
from base64 import b64encode
from collections.abc import Callable, Collection
from typing import Any

import pytest

from snell.redact import find, is_too_secret, redact
from snell.redact.format_rules import formats, rows
from tests.case_counts import cases
from tests.unit.redact.redact_cases import BREAKS, CONTEXTS, DISGUISES, examples, mask, survives

SECRETS = examples(1, seed=20)
SHARE = cases(4, 1)  # the ordinary run tries every format in a quarter of the places, and every place with a quarter


def share_of_secrets(place: str, places: Collection[str]) -> list[tuple[Any, str]]:
    return SECRETS[list(places).index(place) % SHARE :: SHARE]


TOKEN = "gh" + "p_" + "q7Rz2Lw9Xk4Tn8Vb3Hd6Jm1Pc5Yg0FsAbCd9"


@pytest.mark.proves("S4-47")
@pytest.mark.parametrize("context", CONTEXTS)
def test_a_known_format_is_found_in_every_place(context: str) -> None:
    secrets = share_of_secrets(context, CONTEXTS)
    missed = [each.kind for each, secret in secrets if survives(secret, CONTEXTS[context].format(secret), redact)]
    assert len(missed) <= len(secrets) * 0.01, missed


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_known_format_is_found_in_every_disguise(disguise: str) -> None:
    secrets = share_of_secrets(disguise, DISGUISES)
    missed = [each.kind for each, secret in secrets if survives(secret, DISGUISES[disguise](secret), redact)]
    assert len(missed) <= len(secrets) * 0.05, missed


@pytest.mark.parametrize("place", BREAKS)
def test_a_known_format_is_found_wherever_a_line_ends(place: str) -> None:
    """No half of it is left, however much of it stands on which line."""
    source = random.Random(place)
    before, between, behind = BREAKS[place]
    missed = []
    for _, secret in SECRETS:
        cut = source.randrange(1, len(secret))
        halves = secret[:cut], secret[cut:]
        after = redact(f"{before}{between.join(halves)}{behind}")
        if between.join(halves) in after or any(len(half) >= 12 and half in after for half in halves):
            missed.append(halves)
    assert len(missed) <= len(SECRETS) * 0.05, missed


def test_a_long_secret_is_found_over_many_lines() -> None:
    token = f"ey{'J'}{TOKEN[4:]}.ey{'J'}{TOKEN[4:] * 3}.{TOKEN[4:]}"
    lines = "\n".join(token[at : at + 24] for at in range(0, len(token), 24))
    assert redact(f"see\n{lines}\nthere") == "see\n[redacted:jwt]\nthere"


def test_the_same_secret_is_found_each_time_that_it_is_broken() -> None:
    broken = f"{TOKEN[:3]}\n{TOKEN[3:]}"
    assert redact(f"{broken} and\n{broken} and {broken}") == "{0} and\n{0} and {0}".format("[redacted:github-token]")


@pytest.mark.parametrize("text", ["wrapped", "listed", "quoted", "table", "log", "diff", "rows", "prose", "license"])
def test_lines_that_only_follow_each_other_are_not_joined(text: str) -> None:
    assert redact(LINES[text]) == LINES[text]


def _lines(count: int, line: Callable[[random.Random, int], str]) -> str:
    source = random.Random(8)
    return "\n".join(line(source, number) for number in range(count))


LINES = {
    "wrapped": _lines(
        60,
        lambda source, number: (
            b64encode(b"\x00\xff" + source.randbytes(55)).decode()
            if number % 9 == 4
            else b64encode(source.randbytes(57)).decode()
        ),
    ),
    "listed": _lines(60, lambda source, number: f"{source.randbytes(32).hex()}  dist/part-{number}.tar.gz"),
    "quoted": _lines(60, lambda source, number: f"> value{number} was {source.randint(1, 99_999)} at{number}"),
    "table": _lines(60, lambda source, number: f"| AP{number} | {source.randbytes(4).hex()} | sk_{number} |"),
    "log": _lines(60, lambda source, number: f"{source.randbytes(4).hex()[:7]} fix the task-{number} in v2.{number}"),
    "diff": _lines(60, lambda source, number: f"+    risk_{number} = task{number}\n+sk_buff{source.randint(1, 9)}"),
    "rows": _lines(60, lambda source, number: f"{uuid.UUID(int=source.getrandbits(128))},{number},key{number}"),
    "prose": "Tokens begin with sk-\nlearn or ghp_\nand end with AKIA\nsomewhere; AP1\nAP2\nAP3\nAP4\nAP5",
    "license": "License-File: LICENSE.APACHE2\r\nLicense-File: LICENSE.BSD3\r\nRequires: hf_\r\ntransfer20240101",
}


def test_there_are_hundreds_of_formats_and_each_has_one_line() -> None:
    lines = list(rows())
    assert len(lines) == len(set(lines))
    assert len(formats()) > 500
    assert len({each.kind for each in formats()}) > 200


def test_a_mask_in_the_place_of_a_secret_stays() -> None:
    masks = [mask(each) for each in formats()]
    assert [each for each in masks if redact(each) != each] == []


def test_a_secret_that_is_cut_short_is_none() -> None:
    """The literal alone, as in prose about tokens."""
    texts = [f"tokens begin with {each.literal} as users know" for each in formats()]
    assert [text for text in texts if redact(text) != text] == []


def _look_alikes() -> list[str]:
    source = random.Random(4)
    hashes = [hashlib.new(kind, str(n).encode()).hexdigest() for kind in ("md5", "sha1", "sha256") for n in range(60)]
    ids = [str(uuid.UUID(int=source.getrandbits(128))) for _ in range(60)]
    integrity = [b64encode(hashlib.sha512(str(n).encode()).digest()).decode() for n in range(60)]
    picture = b64encode(source.randbytes(3_000)).decode()
    return [
        *(f"commit {each}" for each in hashes),
        *(f'      "resolved": "https://npm.acme.test/a/-/a-1.0.0.tgz#{each}",' for each in hashes[60:120]),
        *(f"FROM node:20@sha256:{each}" for each in hashes[120:]),
        *(f"    --hash=sha256:{each} \\" for each in hashes[120:]),
        *(f"session_id: {each}" for each in ids),
        *(f'{{"request": "{each}", "ok": true}}' for each in ids),
        *(f'"integrity": "sha512-{each}",' for each in integrity),
        *(f'<script src="/a.js" integrity="sha384-{each[:64]}"></script>' for each in integrity),
        f'<img src="data:image/png;base64,{picture}">',
        *LOOK_ALIKES,
    ]


LOOK_ALIKES = """
export TOKEN=$OTHER_TOKEN
API_KEY=${KEY:-none}
password: {{ vault_password }}
api_key = "<your-api-key>"
secret: your-secret-here
token: xxxxxxxxxxxxxxxx
password: "********"
PASSWORD=changeme
AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE
def login(user: str, password: str, token: Token | None = None) -> bool:
password = getpass.getpass("Password: ")
if (password !== confirmPassword) { return false; }
token = tokens[index]
const token = await getToken();
this.key = this.props.sortKey;
max_tokens=4096 total_tokens: 512
primary_key = "customer_id"
cache_key: 5d41402abc4b2a76b9719d911017c592
foreign_key = models.ForeignKey(User)
PRIVATE_KEY=/etc/ssl/private/server.pem
SSH_KEY=~/.ssh/id_ed25519
password_file: /run/secrets/db
postgres://localhost:5432/app
postgres://postgres:postgres@localhost/test
mysql://root:password@localhost/test
https://example.com:8080/a@b
git@github.com:acme/widgets.git
ssh://git@git.acme.test:22/widgets.git
npm_config_cache=.cache
hf_transfer==0.1.8
sk-learn-contrib and sk_buff are no keys
the task-ab12cd34ef56 branch
<input type="password" name="password" placeholder="Password">
docker login --username bot --password-stdin
curl -u "$USER:$PASS" https://api.acme.test
curl -H "Authorization: Bearer $TOKEN" https://api.acme.test
Authorization: Bearer <token>
secretKeyRef: {name: db-credentials, key: password}
credentials: "same-origin"
const SECRET_NAME = "my-secret-name"
process.env.STRIPE_SECRET_KEY
os.environ["API_TOKEN"]
tokenizer.convert_tokens_to_ids(tokens)
keyboard: Keyboard, monkey: Monkey
key: value
"key": "linux-node-20-build"
aws_region = "eu-central-1"
keyCode: 13, keyName: Enter
-----BEGIN PUBLIC KEY-----
-----BEGIN CERTIFICATE-----
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKq7Rz2Lw9Xk4Tn8Vb3Hd6Jm1Pc5Yg0FsQ7 bob@laptop
the password is required
the secret is to ship small changes
my token was rejected
author: Alice, authority: none, authenticated: true
passed: 41, failed: 0, passing: true
"auth": false, "auth_type": "oauth2"
BASIC_AUTH_ENABLED=true
Set-Cookie
set -euo pipefail; key=$1; token="$2"
__webpack_require__.d(t,{a:()=>n,key:function(){return e}})
"AWS::IAM::AccessKey": "62d91b17309e76c8"
arn:aws:secretsmanager:us-west-2:123456789012:secret:MyTestSecret-a1b2c3
"output_token": "nextToken", "result_key": "ProjectVersionDescriptions"
Token: "#dcdccc", Token.String: "bg:#AB0909"
    def __init__(self, password: str, secret: bytes,
a record identified by 'name'
azure-keyvault-secrets>=4.8.0
cookie: http.cookies.BaseCookie[str] = http.cookies.SimpleCookie()
pygments/lexers/jsx.py,sha256=-00tc-VTkFaHkkFV5bvznuvKUeCD5xfWmS4Rqi1nq8E,2093
signature=parsed_signature_of_the_function
def _report_keyboardinterrupt(self): ...
def test_ScalarFunctionNoReferenceCycle(): ...
docker run --rm -v `pwd`:/data image
wait for the "Password:" prompt and then answer
pass `check_0d=True` to it
path: ~/.npm, key: linux-node-9d1ca4e82f97e03272c116add52a45d7112338b538e2c37cc785db14e778a224
""".strip().splitlines()


def test_what_only_looks_like_a_secret_is_left_alone() -> None:
    texts = _look_alikes()
    touched = [text for text in texts if redact(text) != text]
    assert len(texts) > 500
    assert len(touched) <= len(texts) * 0.01, touched


def test_redacting_twice_changes_nothing_more() -> None:
    texts = [frame.format(secret) for (_, secret), frame in zip(SECRETS, list(CONTEXTS.values()) * 99, strict=False)]
    once = [redact(text) for text in texts]
    assert [redact(text) for text in once] == once


def test_places_are_those_of_the_text_that_was_given() -> None:
    text = f"Zürich 🎣 {TOKEN} and \\u0067hp_{TOKEN[4:]}"
    spans = [(finding.kind, text[finding.start : finding.end]) for finding in find(text)]
    assert spans == [("github-token", TOKEN), ("github-token", f"\\u0067hp_{TOKEN[4:]}")]


@pytest.mark.parametrize(
    ("text", "skip"),
    [
        ("nothing", False),
        ("", False),
        (TOKEN, True),
        (f"{TOKEN} {'x' * 60}", False),
        (f"{TOKEN} {'[redacted:github-token] ' * 9}", True),
        (
            "-----BEGIN RSA PRIVATE"
            " KEY-----\n" + "q7Rz2Lw9" * 8 + "\n-----END RSA PRIVATE" + " KEY-----" + "word " * 99,
            True,
        ),
    ],
)
@pytest.mark.proves("S4-48")
def test_a_text_that_is_mostly_secret_is_not_kept_at_all(text: str, skip: bool) -> None:
    assert is_too_secret(text, find(text)) is skip


@pytest.mark.parametrize(
    "hostile",
    [
        "://" * 30_000,
        "a" * 200_000,
        "password" * 20_000,
        "password=" * 20_000,
        "'" * 100_000,
        '"a" + ' * 30_000,
        "%41" * 50_000,
        "\\u0041" * 30_000,
        "eyJ" * 60_000,
        "-----BEGIN RSA PRIVATE" + " KEY-----" * 5_000,
        "token: " + "[" * 50_000,
        "AKIA" * 40_000,
        "xoxb-1" * 30_000,
        "A" * 100_000 + "=" * 100_000,
        " \n" * 100_000,
        "curl " * 30_000,
        "machine a " * 20_000,
    ],
    ids=lambda text: re.sub(r"\W", "", text[:12]) or "signs",
)
@pytest.mark.timeout(20)
def test_no_text_takes_for_ever(hostile: str) -> None:
    assert redact(redact(hostile)) == redact(hostile)
