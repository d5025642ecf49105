"""
Passwords that people think up, where command lines, settings files and programs give them a name.

A line of `named_secrets.txt` is one text, and what stands between two § has to go; none of `named_lookalikes.txt` is
touched. `\\n` and `\\t` are what they are elsewhere, `\\\\n` the two characters.
"""

import re
from pathlib import Path

import pytest

from snell.redact import redact, scan

HERE = Path(__file__).parent


def texts(name: str) -> list[str]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [re.sub(r"(?<!\\)\\([nt])", lambda sign: {"n": "\n", "t": "\t"}[sign[1]], line) for line in lines]


@pytest.fixture(params=[True, False], ids=["re2", "re"], autouse=True)
def either(request):
    scan.use_re2(request.param)
    yield
    scan.use_re2(True)


def test_a_value_that_is_given_to_the_name_of_a_secret_goes() -> None:
    left = []
    for text in texts("named_secrets.txt"):
        done = redact(text.replace("§", ""))
        left += [text for secret in re.findall("§(.*?)§", text, re.DOTALL) if secret in done]
    assert left == []


def test_what_only_looks_like_that_stays() -> None:
    assert [(text, redact(text)) for text in texts("named_lookalikes.txt") if redact(text) != text] == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("setx API_SECRET rosebud19", "setx API_SECRET [redacted:secret]"),
        ("set -gx API_TOKEN kestrel99 # mine", "set -gx API_TOKEN [redacted:token] # mine"),
        ('os.Setenv("API_SECRET", "rosebud19")', 'os.Setenv("API_SECRET", "[redacted:secret]")'),
        ("password: |\n  hunter2x9\nuser: bob", "password: |\n  [redacted:password]\nuser: bob"),
        (
            "keytool -storepass hunter2 -keypass hunter3",
            "keytool -storepass [redacted:password] -keypass [redacted:password]",
        ),
        ("fly secrets set A=lighthouse42 -a app", "fly secrets set A=[redacted:secret] -a app"),
        ('const dbPassword string = "hunter2x9"', 'const dbPassword string = "[redacted:password]"'),
    ],
)
def test_nothing_but_the_value_goes(text: str, wanted: str) -> None:
    assert redact(text) == wanted
