"""Secrets go, everything else stays. Every secret here is made up, and put together only when the test runs."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snell.redact import redact, redact_data
from snell.redact.secret_names import is_secret_name

LETTERS = "q7Rz2Lw9Xk4Tn8Vb3Hd6Jm1Pc5Yg0Fs" * 8  # looks random, and repeats nothing within a token

FORMATS = {
    "aws-key": ["AKIA" + "Q7RZ2LW9XK4TN8VB", "ASIA" + "Z2LW9XK4TN8VB3HD"],
    "github-token": ["gh" + f"{kind}_" + LETTERS[:36] for kind in "pousr"] + ["github" + "_pat_" + LETTERS[:60]],
    "gitlab-token": ["gl" + "pat-" + LETTERS[:20]],
    "slack-token": ["xo" + "xb-123456789012-" + LETTERS[:24]],
    "slack-webhook": ["hooks.slack" + ".com/services/T0123ABCD/B0123ABCD/" + LETTERS[:24]],
    "stripe-key": ["sk" + "_live_" + LETTERS[:24], "rk" + "_test_" + LETTERS[:24]],
    "anthropic-key": ["sk" + "-ant-api03-" + LETTERS[:80]],
    "openai-key": ["sk" + "-proj-" + LETTERS[:60], "sk" + "-" + LETTERS[:48]],
    "google-key": ["AI" + "za" + LETTERS[:35]],
    "jwt": ["ey" + "J" + LETTERS[:20] + ".ey" + "J" + LETTERS[5:40] + "." + LETTERS[3:40]],
    "npm-token": ["np" + "m_" + LETTERS[:36]],
    "private-key": [
        f"-----BEGIN {kind}PRIVATE KEY-----\n{LETTERS[:64]}\n{LETTERS[:64]}\n-----END {kind}PRIVATE KEY-----"
        for kind in ("RSA ", "OPENSSH ", "")
    ],
}
ALL = [(kind, secret) for kind, secrets in FORMATS.items() for secret in secrets]


@pytest.mark.parametrize(("kind", "secret"), ALL)
def test_a_known_format_is_replaced_wherever_it_stands(kind: str, secret: str) -> None:
    for frame in ("{}", "key is {} here", '{{"stdout": "{}"}}', "curl -d '{}' x", "({})", "x={}\n", "a,{},b"):
        assert redact(frame.format(secret)) == frame.format(f"[redacted:{kind}]")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("export DB_PASSWORD=correcthorse", "export DB_PASSWORD=[redacted:password]"),
        ("GITHUB_TOKEN=abc123def456 make", "GITHUB_TOKEN=[redacted:token] make"),
        ("MY_API_KEY='q7Rz2Lw9'", "MY_API_KEY='[redacted:api-key]'"),
        ("password: hunter2", "password: [redacted:password]"),
        ("  password: a&b;c|d$1\n  host: db", "  password: [redacted:password]\n  host: db"),
        ('{"client_secret": "q7Rz2Lw9"}', '{"client_secret": "[redacted:secret]"}'),
        (r"{\"password\": \"q7Rz2Lw9\"}", r"{\"password\": \"[redacted:password]\"}"),
        ("login --password hunter2 --verbose", "login --password [redacted:password] --verbose"),
        ("tool --api-key=q7Rz2Lw9", "tool --api-key=[redacted:api-key]"),
        ("curl -H 'Authorization: Bearer q7Rz.2Lw9-x'", "curl -H 'Authorization: Bearer [redacted:authorization]'"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [redacted:authorization]"),
        ("sent Bearer q7Rz2Lw9Xk4Tn8 to it", "sent Bearer [redacted:bearer-token] to it"),
        ("Cookie: sid=q7Rz2Lw9; theme=dark", "Cookie: [redacted:cookie]"),
        ("X-Acme-Key: q7Rz2Lw9Xk4T", "X-Acme-Key: [redacted:api-key]"),
        ("git clone https://bob:q7Rz@host/x.git", "git clone https://bob:[redacted:url-password]@host/x.git"),
        ("https://q7Rz2Lw9Xk4Tn8Vb@host/x", "https://[redacted:url-password]@host/x"),
        (
            "postgres://app:q7R%2Fz@db:5432/app?sslmode=x",
            "postgres://app:[redacted:url-password]@db:5432/app?sslmode=x",
        ),
        ("host=db user=app password=q7Rz dbname=x", "host=db user=app password=[redacted:password] dbname=x"),
        ("mysql -u root -pq7Rz2 shop", "mysql -u root -p[redacted:password] shop"),
        ("sshpass -p q7Rz2 ssh host", "sshpass -p [redacted:password] ssh host"),
        ("curl -u bob:q7Rz2Lw9 https://x", "curl -u bob:[redacted:password] https://x"),
        ("machine h login bob password q7Rz2Lw9", "machine h login bob password [redacted:password]"),
        ("?token=q7Rz2Lw9&page=2", "?token=[redacted:token]&page=2"),
        ("AWS_SECRET_ACCESS_KEY=/q7R/z2Lw9Xk4+8Vb", "AWS_SECRET_ACCESS_KEY=[redacted:api-key]"),
        ('api_key = """q7Rz2Lw9"""', 'api_key = """[redacted:api-key]"""'),
        ('(setq my-api-key "q7Rz2Lw9Xk4T")', '(setq my-api-key "[redacted:api-key]")'),
        ("ALTER USER 'a'@'b' IDENTIFIED BY 'q7Rz2';", "ALTER USER 'a'@'b' IDENTIFIED BY '[redacted:password]';"),
        ("CREATE USER a WITH PASSWORD 'q7Rz-2';", "CREATE USER a WITH PASSWORD '[redacted:password]';"),
        ("use token q7Rz2Lw9Xk4Tn8Vb3Hd6 for it", "use token [redacted:token] for it"),
        ("requirepass q7Rz2Lw9", "requirepass [redacted:password]"),
        ('psk="q7Rz2Lw9"', 'psk="[redacted:password]"'),
        ("lftp -u bob,q7Rz2 sftp://h", "lftp -u bob,[redacted:password] sftp://h"),
        ("mysql -u root -p'q7Rz2' shop", "mysql -u root -p'[redacted:password]' shop"),
        ("keytool -list -storepass q7Rz2", "keytool -list -storepass [redacted:password]"),
        ("echo 'root:q7Rz2' | chpasswd", "echo 'root:[redacted:password]' | chpasswd"),
        (f"mnemonic: {'lake oven ' * 6}".strip(), "mnemonic: [redacted:password]"),
    ],
)
@pytest.mark.proves("S4-47", "S4-100")
def test_a_secret_is_known_by_what_stands_around_it(text: str, wanted: str) -> None:
    assert redact(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "commit 3f27195d0c1b2a3948576a6b5c4d3e2f1a0b9c8d",
        "sha256:" + "0123456789abcdef" * 4,
        '"integrity": "sha512-' + LETTERS[:86] + '=="',
        "id: 123e4567-e89b-12d3-a456-426614174000",
        "def login(user: str, password: str = None, token: Token | None = None) -> bool:",
        "password = getpass.getpass()",
        "token = tokens[0]; connect(password=password, key=self.key)",
        "max_tokens=4096 total_tokens: 512 token_count=7",
        "export TOKEN=$OTHER_TOKEN API_KEY=${KEY} SECRET=$(pass show x)",
        'curl -H "Authorization: Bearer $TOKEN" https://$USER:$PASS@host',
        "SSH_KEY=~/.ssh/id_ed25519 PRIVATE_KEY=/etc/ssl/private.pem password_file=/run/x",
        "api_key: <your key here>, secret: your-secret-here, token: xxxxxxxxxxxx",
        "gh" + "p_" + "x" * 36,
        "the password is required; a token expired; no secret at all",
        "the secretary tokenizes passwords",
        "cookie: none",
        "https://example.com:8080/a@b",
        "docker run -u 1000:1000 image",
        "mysql --port=3306 -p",
        "git push origin key/branch",
        "",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [
        ("password", True),
        ("dbPassword", True),
        ("DB_PASS", True),
        ("pass", False),
        ("GITHUB_TOKEN", True),
        ("nextPageToken", False),  # a place in a list, which the model needs for the next call
        ("pageAccessToken", True),
        ("token_count", False),
        ("tokenizer", False),
        ("api_key", True),
        ("apiKey", True),
        ("primary_key", False),
        ("key", False),
        ("aws_secret_access_key", True),
        ("secret_name", False),
        ("Authorization", True),
        ("Set-Cookie", True),
        ("", False),
    ],
)
def test_names_tell_what_they_hold(name: str, is_secret: bool) -> None:
    assert is_secret_name(name) is is_secret


def test_data_is_redacted_by_names_and_by_looks() -> None:
    token = FORMATS["github-token"][0]
    value = {
        "password": "short",
        "nested": [{"api_key": "k", "note": f"use {token}", "n": 1, "ok": True, "none": None}, ("a", token)],
        "headers": {"Authorization": "Bearer x", "Cookie": {"sid": "1"}, "Accept": "*/*"},
        "tokens": 512,
        "pin_password": 1234,
        "empty_password": "",
        "from_env": {"DB_PASSWORD": "$DB_PASSWORD"},
        token: "a key of a dictionary",
        7: "number",
    }
    assert redact_data(value) == {
        "password": "[redacted:password]",
        "nested": [
            {"api_key": "[redacted:api-key]", "note": "use [redacted:github-token]", "n": 1, "ok": True, "none": None},
            ["a", "[redacted:github-token]"],
        ],
        "headers": {
            "Authorization": "[redacted:authorization]",
            "Cookie": {"sid": "[redacted:cookie]"},
            "Accept": "*/*",
        },
        "tokens": 512,
        "pin_password": "[redacted:password]",
        "empty_password": "",
        "from_env": {"DB_PASSWORD": "$DB_PASSWORD"},
        "[redacted:github-token]": "a key of a dictionary",
        7: "number",
    }


@pytest.mark.parametrize("path", ["/p/.env", "/p/.env.local", "/home/me/.ssh/id_ed25519", "server.pem", "~/.netrc"])
def test_the_text_of_a_file_that_holds_secrets_goes_whole(path: str) -> None:
    value = {"file_path": path, "content": "harmless?", "edits": [{"new_string": "x"}], "limit": 3}
    assert redact_data(value) == {
        "file_path": path,
        "content": "[redacted:secret-file]",
        "edits": [{"new_string": "[redacted:secret-file]"}],
        "limit": 3,
    }
    assert redact_data({"file_path": "/p/env.py", "content": "x = 1"}) == {"file_path": "/p/env.py", "content": "x = 1"}


def test_a_long_text_is_cut_and_the_cut_never_uncovers_a_secret() -> None:
    token = FORMATS["github-token"][0]
    for before in range(60, 101):
        cut = redact_data("x" * before + " " + token + " " + "y" * 20_000, longest=100)
        assert token[:12] not in cut
        assert re.fullmatch(r"x+ ?(\[redacted:github-token\])?.*… \[\d+ more characters\]", cut)
    many = redact_data((token + " ") * 300, longest=4_000)
    assert "gh" + "p_" not in many


def test_text_that_cannot_be_written_is_made_so() -> None:
    assert redact_data(["half \ud83d of a pair", "Zürich 🎣"]) == ["half ? of a pair", "Zürich 🎣"]


def test_positions_hold_where_small_letters_are_longer() -> None:
    assert redact("İİİ password=q7Rz2Lw9 İ") == "İİİ password=[redacted:password] İ"


@given(st.text(alphabet=st.sampled_from(list("pas word=:'\"\\-token/@AKIgh_{}[]$\n1x")), max_size=200))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=10), inner),
        max_leaves=10,
    )
)
def test_whatever_is_redacted_can_be_written_as_json(value: object) -> None:
    json.dumps(redact_data(value)).encode("utf-8")
