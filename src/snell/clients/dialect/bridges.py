"""The plugins through which clients without command hooks call us, ready to be written into their folders."""

import json
from collections.abc import Sequence
from importlib.resources import files

PLAIN = 'const COMMAND = ["snell-hook"]'


def bridge(file: str, command: Sequence[str] = ("snell-hook",)) -> str:
    """The text of a plugin such as `opencode.js`, with the command that it runs."""
    text = files("snell.clients").joinpath("bridges", file).read_text(encoding="utf-8")
    return text.replace(PLAIN, f"const COMMAND = {json.dumps(list(command))}", 1)
