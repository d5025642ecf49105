"""Places where a secret is found: each takes a value and gives the texts that hold it."""

import base64
import json
import textwrap
from collections.abc import Callable

RED, RESET, ERASE = "\x1b[38;5;196m", "\x1b[0m", "\x1b[K"


def plain(value: str) -> list[str]:
    return [
        value,
        f"it is {value} now",
        f"'{value}'",
        f"({value})",
        f"use {value}.",
        f"{value}, {value}\n",
        f"«{value}»",
        f"`{value}`",
    ]


def in_json(value: str) -> list[str]:
    return [
        json.dumps({"item": value}),
        json.dumps({"a": {"list": [1, value, None]}}, indent=2),
        json.dumps([value], separators=(",", ":")),
        json.dumps({value: 1}),
    ]


def in_yaml(value: str) -> list[str]:
    return [
        f"item: {value}\n",
        f'item: "{value}"\n',
        f"list:\n  - '{value}'\n  - b\n",
        f"text: |\n  one\n  {value}\n",
        f"a: {{b: {value}}}\n",
    ]


def in_env(value: str) -> list[str]:
    return [
        f"ITEM={value}\n",
        f'export ITEM="{value}"\n',
        f"A=1\nITEM='{value}'\nB=2\n",
        f"set ITEM={value}\r\n",
        f'$env:ITEM = "{value}"\n',
    ]


def in_header(value: str) -> list[str]:
    return [
        f"X-Item: {value}\r\n",
        f"< x-item: {value}\n",
        f"Cookie: a=1; item={value}; b=2\n",
        f"-H 'X-Item: {value}'",
    ]


def in_url(value: str) -> list[str]:
    return [
        f"https://a.example/x?item={value}&y=1",
        f"https://a.example/{value}/x",
        f"https://{value}@a.example/r.git",
        f"https://a.example/#{value}",
    ]


def in_flag(value: str) -> list[str]:
    return [
        f"tool --item {value} --verbose",
        f"tool --item={value}",
        f"tool -i{value}",
        f'tool -i "{value}" x',
        f"tool /item:{value}",
    ]


def in_log(value: str) -> list[str]:
    return [
        f"2026-03-04T10:11:12.345Z INFO worker[12]: got {value} from upstream",
        f"[2026-03-04 10:11:12] app.ERROR: refused {value} {{}} []",
        f'10.0.0.1 - - [04/Mar/2026:10:11:12 +0000] "GET /x?i={value} HTTP/1.1" 200 12',
        f"level=info msg=start item={value} took=3ms",
        f"    at load ({value}:12:3)",
    ]


def coloured(value: str) -> list[str]:
    half = len(value) // 2
    return [
        f"{RED}{value}{RESET}",
        f"item\x1b[1m=\x1b[32m{value}{RESET}\n",
        f"{RED}{ERASE}{value[:half]}{RESET}{ERASE}{value[half:]}",
        f"\x1b]8;;https://a.example\x1b\\{value}\x1b]8;;\x1b\\",
        "".join(f"\x1b[1m{char}" for char in value) + RESET,
    ]


def in_diff(value: str) -> list[str]:
    return [
        f"@@ -1,2 +1,2 @@\n-item = old\n+item = {value}\n",
        f"+{value}\n",
        f"-{value}\n",
        f"item = [-old-]{{+{value}+}}\n",
        f"> {value}\n< old\n",
    ]


def escaped(value: str) -> list[str]:
    once = json.dumps({"item": value})
    return [
        json.dumps(once),
        json.dumps(json.dumps({"text": once})),
        json.dumps(f"first\n{value}\nlast"),
        json.dumps(f"first\t{value}\r\nlast"),
        once.replace('"', "&quot;"),
        once.replace('"', "&#34;"),
        once.replace('"', "\\u0022"),
        once.replace('"', "%22").replace(" ", "%20"),
        f"%3Ditem%3D{value}%26x%3D1",
        f"$'{value}\\n'",
        f"&lt;i&gt;{value}&lt;/i&gt;",
    ]


def multi_line(value: str) -> list[str]:
    half = len(value) // 2
    long = max(len(value) * 2 // 3, 12)
    return [
        f"one\n{value}\ntwo",
        f"tool --item \\\n  {value}\n",
        f'x = (\n    "{value[:half]}"\n    "{value[half:]}"\n)',
        f"item=\\\n{value}\n",
        f"tool --item {value[:long]}\\\n{value[long:]} --x\n",
        f'"{value[:half]}" + \\\n "{value[half:]}"',
    ]


def in_file_name(value: str) -> list[str]:
    return [
        f"/tmp/{value}.txt",
        f"C:\\Temp\\{value}.log",
        f"./{value}/x.py",
        f"out/{value}/index.html",
        f"backup-{value}.tar.gz",
        f"a/cache_{value}.json",
        f"-rw-r--r-- 1 a a 5 Mar  4 10:11 {value}\n",
    ]


PLACES: dict[str, Callable[[str], list[str]]] = {
    "plain": plain,
    "json": in_json,
    "yaml": in_yaml,
    "env": in_env,
    "header": in_header,
    "url": in_url,
    "flag": in_flag,
    "log line": in_log,
    "coloured": coloured,
    "diff": in_diff,
    "escaped": escaped,
    "multi-line": multi_line,
    "file name": in_file_name,
}


def encoded(value: str) -> dict[str, list[str]]:
    """The value in base64 and in hexadecimal, as tools print them."""
    raw = value.encode()
    in_base64 = base64.b64encode(raw).decode()
    return {
        "base64": [
            in_base64,
            f"  item: {in_base64}\n",
            base64.b64encode(b"x=1\n" + raw + b"\n").decode(),
            "\n".join(textwrap.wrap(in_base64, 76)),
        ],
        "hex": [raw.hex(), f"item: {raw.hex()}", raw.hex().upper(), raw.hex(" ")],
    }
