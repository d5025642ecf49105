"""The plugins through which clients without command hooks call us, ready to be written into their folders."""

import json
import re
from collections.abc import Sequence
from importlib.resources import files

_REFUSED = re.compile(r"(const REFUSED(?:: string\[\])? = )\[\]")
PLAIN = 'const COMMAND = ["snell-hook"]'


def plugin_text(file: str, command: Sequence[str] = ("snell-hook",), refused: Sequence[str] = ()) -> str:
    """The text of a plugin such as `opencode.js`, with the command that it runs, and what it refuses unchecked."""
    text = files("snell.clients").joinpath("plugin_files", file).read_text(encoding="utf-8")
    text = _REFUSED.sub(lambda found: f"{found[1]}{json.dumps(list(refused))}", text, count=1)
    return text.replace(PLAIN, f"const COMMAND = {json.dumps(list(command))}", 1)
