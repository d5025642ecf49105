"""Passwords that are handed to functions, drivers and programs, and names in the next line, which are none."""

import pytest

from snell.redact import redact, scan


@pytest.fixture(params=[True, False], ids=["re2", "re"], autouse=True)
def either(request):
    scan.use_re2(request.param)
    yield
    scan.use_re2(True)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('user.setPassword("Goldenrod_5x")', 'user.setPassword("[redacted:password]")'),
        ("account.set_password('Goldenrod_5x')", "account.set_password('[redacted:password]')"),
        ("root:Melilot_6@tcp(db:3306)/x", "root:[redacted:password]@tcp(db:3306)/x"),
        ('dsn := "app:Melilot_6@unix(/tmp/my.sock)/x"', 'dsn := "app:[redacted:password]@unix(/tmp/my.sock)/x"'),
        ("secret_key = 'Toadflax/Yellow5'", "secret_key = '[redacted:api-key]'"),
        (r"net use Z: \\srv\x /user:me Passw0rd1", r"net use Z: \\srv\x /user:me [redacted:password]"),
        (r"net use \\srv\x Passw0rd1 /user:me", r"net use \\srv\x [redacted:password] /user:me"),
        (
            "snmpwalk -v3 -A authpass1 -X privpass1 host",
            "snmpwalk -v3 -A [redacted:password] -X [redacted:password] host",
        ),
        ("snmpget -v3 -u me -x AES -X 'privpass1' host", "snmpget -v3 -u me -x AES -X '[redacted:password]' host"),
        ("password:\n  Hunter2secret\n", "password:\n  [redacted:password]\n"),
        ("{password :'Goldenrod_5x'}", "{password :'[redacted:password]'}"),
    ],
)
def test_what_is_handed_over_goes(text: str, wanted: str) -> None:
    assert redact(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "password:\n  min_length: 12\n",
        "secrets:\n  db_password:\n    file: x\n",
        "CREATE ROLE app WITH PASSWORD :'app_password'",
        "user.setPassword(password)",
        "user.setPassword(other.getPassword())",
        'form.set_password("new_password")',
        'builder.setPasswordPolicy("strict_5")',
        "getPassword('billing_db1')",
        "app@tcp(db:3306)/x",
        "app:${DB_PASSWORD}@tcp(db:3306)/x",
        "secret_key = 'config/secret'",
        r"net use Z: \\srv\x /user:me",
        r"net use Z: \\srv\x * /user:me",
        "snmpwalk -v2c -c public host",
        "curl -A agent/7.0.1 -X POST http://localhost/",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert redact(text) == text
