"""Secrets in contexts that are easily overlooked, and code that only looks like them; with and without re2."""

import base64

import pytest

from snell.redact import redact, scan

SECRET = "q7Rz2Lw9Xk4Tn8Vb3Hd6Jm1Pc5Yg0Fsu"
TOKEN = "gh" + "p_" + SECRET + "A1b2"
LINES = [f"{SECRET[each:]}{SECRET[:each]}{SECRET[each:]}{SECRET[:each]}" for each in range(1, 7)]
PAIR = "AKIA" + "Q7RZ2LW9XK4TN8VB", "q7Rz2Lw9Xk4Tn8Vb/Hd6Jm1Pc5+g0FsuQ7Rz2LwX"
WRAPPED = base64.b64encode(f"export GITHUB_TOKEN={TOKEN} # and what follows it".encode()).decode()


@pytest.fixture(params=[True, False], ids=["re2", "re"])
def either(request):
    scan.use_re2(request.param)
    yield
    scan.use_re2(True)


def narrow(columns: int) -> str:
    return "\n".join(WRAPPED[at : at + columns] for at in range(0, len(WRAPPED), columns))


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f'[{{"name":"CLIENT_SECRET","value":"{SECRET}"}}]', '[{"name":"CLIENT_SECRET","value":"[redacted:secret]"}]'),
        ('{"Name": "DB_PASSWORD", "Value": "rosebud1"}', '{"Name": "DB_PASSWORD", "Value": "[redacted:password]"}'),
        (f'{{"value":"{SECRET}","name":"CLIENT_SECRET"}}', '{"value":"[redacted:secret]","name":"CLIENT_SECRET"}'),
        (",".join(PAIR), "[redacted:aws-key],[redacted:aws-secret-key]"),
        ("\n".join([*LINES, "-----END RSA PRIVATE KEY-----", "x"]), "[redacted:private-key]\nx"),
        ("setx API_SECRET rose19bud7", "setx API_SECRET [redacted:secret]"),
        ("setx DB_PASSWORD rosebud19 /M", "setx DB_PASSWORD [redacted:password] /M"),
        ("log in as bob with password Tr0ub4dor&3.", "log in as bob with password [redacted:password]."),
        ("connect with password hunter2 first", "connect with password [redacted:password] first"),
        (narrow(40), "[redacted:github-token]"),
        (narrow(32), "[redacted:github-token]"),
        (f"{TOKEN[:12]}\x1b[1;31m{TOKEN[12:]}\x1b[0m!", "[redacted:github-token]\x1b[0m!"),
        (rf"{TOKEN[:12]}\u001b[31m{TOKEN[12:]} ", "[redacted:github-token] "),
        (f"é {TOKEN[:9]}\u200b{TOKEN[9:20]}\ufeff{TOKEN[20:]} x", "é [redacted:github-token] x"),
        (f"abc{TOKEN}", "abc[redacted:github-token]"),
    ],
)
def test_a_secret_in_this_context_is_redacted(text: str, wanted: str) -> None:
    assert redact(text) == wanted


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize(
    "text",
    [
        "authorization = authorization[1].encode('ascii')",
        "authorization = headers[0].decode()",
        "def load(password: bytes | None, key: PKCS12PrivateKeyTypes | None = None)",
        "    password: bytes",
        "if token is Token.Name.Variable:",
        "elif token is Token.Name.Variable2:",
        "see the --password options below",
        "use --token with --verbose",
        "Authorization: Bearer https://host.internal/a1b2c3d4e5f6",
        "sent Bearer https://host.internal/a1b2c3d4e5f6",
        "connect with password authentication, with password sha256 hashing",
        "log in with password or key",
        "\x1b[31mred\x1b[0m words and \u200b none of them secret",
        '{"name": "COLOUR", "value": "q7Rz2Lw9"}',
        "the end\n-----END PUBLIC KEY-----",
        "abcghp_is_no_token_of_any_service_at_all_today",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert redact(text) == text
