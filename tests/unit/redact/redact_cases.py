"""Made-up secrets of every known format, and the places and disguises they turn up in. None of them opens anything."""

import base64
import json
import urllib.parse
from collections.abc import Callable
from random import Random

from snell.redact.format_rules import Format, formats

Disguise = Callable[[str], str]

CONTEXTS: dict[str, str] = {
    "plain": "{}",
    "prose": "use {} for now, please",
    "quoted": "const t = '{}';",
    "double quoted": 'client = Client("{}")',
    "json": '{{"stdout": "{}", "exit": 0}}',
    "json line": '{{"stdout": "key is {}\\n", "exit": 0}}',
    "env": "export SOME_THING={}",
    "env token": "ACME_TOKEN={}\nNEXT=1",
    "header": "Authorization: Bearer {}",
    "own header": 'curl -H "X-Acme: {}" https://api.acme.test',
    "url": "git clone https://x-access-token:{}@git.acme.test/a/b.git",
    "query": "GET /v1/items?a=1&thing={}&page=2 HTTP/1.1",
    "flag": "acme deploy --with {} --verbose",
    "secret flag": "acme deploy --token={} --verbose",
    "log": "2026-01-02T03:04:05Z WARN [worker-3] refused: {} (expired)",
    "diff": "-old\n+  thing: {}\n context",
    "code": "if key == `{}`: return [a, b]",
    "yaml": "acme:\n  thing: {}\n  host: db",
    "markdown": "| name | `{}` |",
    "escaped": '"{{\\"thing\\": \\"{}\\"}}"',
    "xml": "<thing>{}</thing>",
}


def _escaped_all(secret: str) -> str:
    return "".join(f"\\u{ord(each):04x}" for each in secret)


def _escaped_some(secret: str) -> str:
    return "".join(f"\\u{ord(each):04x}" if n % 3 == 1 else each for n, each in enumerate(secret))


def _joined(secret: str, first: str, second: str) -> str:
    half = len(secret) // 2
    return f"{first}{secret[:half]}{second}{secret[half:]}{first[-1:]}"


DISGUISES: dict[str, Disguise] = {
    "json escapes": lambda secret: '{"thing": "' + _escaped_all(secret) + '"}',
    "some escapes": lambda secret: '{"thing": "' + _escaped_some(secret) + '"}',
    "hex escapes": lambda secret: "x = '" + "".join(f"\\x{ord(each):02x}" for each in secret) + "'",
    "nested json": lambda secret: json.dumps(json.dumps(json.dumps({"thing": secret}))),
    "url encoded": lambda secret: "thing=" + urllib.parse.quote(secret, safe=""),
    "all url encoded": lambda secret: "thing=" + "".join(f"%{ord(each):02X}" for each in secret) + "&b=1",
    "base64": lambda secret: "data: " + base64.b64encode(secret.encode()).decode(),
    "base64 of a file": lambda secret: base64.b64encode(f"# settings\nthing: {secret}\nhost: db\n".encode()).decode(),
    "wrapped base64": lambda secret: base64.encodebytes(f"# settings\nthing: {secret}\n".encode() * 3).decode(),
    "url-safe base64": lambda secret: "?d=" + base64.urlsafe_b64encode(f"a?{secret}".encode()).decode() + "&x=1",
    "hex": lambda secret: "dump " + secret.encode().hex(),
    "hex number": lambda secret: "payload 0x" + secret.encode().hex().upper(),
    "base64 twice": lambda secret: base64.b64encode(base64.b64encode(f"a thing {secret}".encode())).decode(),
    "added strings": lambda secret: _joined(secret, 't = "', '" + "'),
    "strings side by side": lambda secret: _joined(secret, "t = '", "' '"),
    "strings on two lines": lambda secret: _joined(secret, 't = ("', '"\n     "'),
    "shell pieces": lambda secret: _joined(secret, "echo '", "''"),
    "a continued line": lambda secret: _joined(secret, "x ", "\\\n").rstrip(),
    "a wrapped line": lambda secret: _joined(secret, "", "\n"),
    "coloured": lambda secret: f"\x1b[32m{secret}\x1b[0m",
}


# What stands before, between and behind the lines that a secret was broken into.
BREAKS: dict[str, tuple[str, str, str]] = {
    "a terminal": ("please use ", "\n", " for now"),
    "two lines of a list": ("value1\n", "\n", "\nvalue2"),
    "another system": ("a line\r\n", "\r\n", "\r\nanother"),
    "two spaces": ("  thing:\n  ", "\n  ", "\n  host: db"),
    "a tab": ("thing\t", "\n\t\t", "\n"),
    "json": ('{"stdout": "', "\\n", '\\nok"}'),
    "json of another system": ('{"stdout": "see ', "\\r\\n", ' ok"}'),
    "indented json": ('{"stdout": "see ', "\\n    ", ' ok"}'),
    "json in json": ('"{\\"a\\": \\"', "\\\\n", '\\"}"'),
    "a quoted mail": ("> hello\n> ", "\n> ", "\n> bye"),
    "a mail quoted twice": (">> ", "\n>> ", "\n"),
    "a diff": ("+a line\n+", "\n+", "\n+the end"),
    "an indented diff": ("-old\n+  ", "\n+  ", "\n the end"),
    "a removal": ("-", "\n-", "\n-x"),
    "a comment": ("# ", "\n# ", "\n# more"),
    "another comment": ("// ", "\n// ", "\n"),
    "a numbered listing": ("     1\t", "\n     2\t", "\n     3\tz"),
    "spaces at the end": ("", " \n", ""),
}


def examples(count: int, seed: int) -> list[tuple[Format, str]]:
    """So many made-up secrets of every form."""
    random = Random(seed)
    made = [(each, _example(each, random)) for each in formats() for _ in range(count)]
    return [(each, secret) for each, secret in made if not each.is_sample(secret)]


def _example(form: Format, random: Random) -> str:
    return "".join(each.literal or "".join(random.choices(each.chars, k=each.least)) for each in form.parts)


def mask(form: Format) -> str:
    """What documentation shows in place of a secret."""
    return "".join(each.literal or "x" * each.least for each in form.parts)


def survives(secret: str, text: str, redact: Disguise) -> bool:
    """Whether any part worth having is still there."""
    after = redact(text)
    return secret in after or after == text
