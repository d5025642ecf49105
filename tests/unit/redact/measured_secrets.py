"""Draw secrets, put them in places, and count what redaction leaves of them."""

import base64
import json
import random
import re
import string
from pathlib import Path

ALPHABETS = {
    "a": string.ascii_letters + string.digits,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "u": string.ascii_uppercase + string.digits,
    "l": string.ascii_lowercase + string.digits,
    "b": string.ascii_letters + string.digits + "+/",
    "w": string.ascii_letters + string.digits + "-_",
    "d": string.digits,
    "2": string.ascii_uppercase + "234567",
}
WINDOW = 10  # this many characters of a value in a row are a leak


def formats() -> dict[str, str]:
    """Return the formats of `issued_formats.txt`: name and notation."""
    lines = (Path(__file__).parent / "issued_formats.txt").read_text().splitlines()
    return {line[:26].strip(): line[26:].strip() for line in lines if line and not line.startswith("#")}


def value_of(notation: str, draw: random.Random) -> str:
    """Return a value built by a notation."""

    def part(found: re.Match[str]) -> str:
        kind, length = found[1], int(found[2])
        if kind == "j":
            text = json.dumps({"alg": "HS256", "sub": "".join(draw.choices(ALPHABETS["a"], k=length))})
            return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
        chars = draw.choices(ALPHABETS[kind], k=length)
        if kind == "w":  # a value seldom starts or ends with punctuation
            chars[0], chars[-1] = draw.choice(ALPHABETS["a"]), draw.choice(ALPHABETS["a"])
        return "".join(chars)

    return re.sub(r"\{(\w)\.?(\d+)\}", part, notation)


def password(draw: random.Random, least: int = 12) -> str:
    """Return a secret without a format: letters of both cases and digits, sometimes with punctuation."""
    length = max(least, draw.choice((12, 16, 20, 24, 32, 40)))
    inside = [draw.choice(string.ascii_lowercase), draw.choice(string.ascii_uppercase), draw.choice(string.digits)]
    inside += draw.choices(ALPHABETS["a"], k=length - 5)
    if draw.random() < 0.25:
        inside[-1] = draw.choice("!#%^*_-.")
    draw.shuffle(inside)
    return "".join((draw.choice(ALPHABETS["a"]), *inside, draw.choice(ALPHABETS["a"])))


def leaks(value: str, redacted: str) -> bool:
    """Whether a redacted text still shows a part of a value."""
    body = value.removeprefix("https://").partition("/")[2] if value.startswith("https://") else value
    shown = re.sub(r"\x1b\[[0-9;]*[A-Za-z]|\x1b\].*?\x1b\\\\?|\\+\n\s*|[\"'\s+]", "", redacted)
    body = re.sub(r"\+", "", body.rpartition("services/")[2].rpartition("webhooks/")[2].rpartition("webhookb2/")[2])
    window = min(WINDOW, len(body))
    return any(body[i : i + window] in shown for i in range(len(body) - window + 1))
