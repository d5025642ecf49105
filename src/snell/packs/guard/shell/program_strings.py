"""What a string of a program says, once its quotes and escapes are read."""

import re

from snell.kit.late_pattern import late
from snell.packs.guard.shell.values import UNKNOWN

_ESCAPE = late(r"\\(?:x\{?([0-9a-fA-F]{2,6})\}|x([0-9a-fA-F]{2})|u\{?([0-9a-fA-F]{4})\}?|(.))", re.DOTALL)
# The home folder inside a string: of perl, ruby, node and python.
_HOME = late(
    r"\$ENV\{['\"]?HOME['\"]?\}|#\{(?:ENV\[['\"]HOME['\"]\]|Dir\.home)\}|\$\{(?:process\.env\.HOME|os\.homedir\(\))\}"
    r"|\{(?:os\.environ\[['\"]HOME['\"]\]|(?:pathlib\.)?Path\.home\(\)|os\.path\.expanduser\(['\"]~['\"]\))\}"
)


def literal(quoted: str, home: str) -> str:
    """The text of a string, with the home folder where the string is told to put it in."""
    body = quoted.lstrip("rbfuRBFU")
    size = 3 if body[:3] in ('"""', "'''") else 1
    text = body[size:-size]
    if "r" in quoted[: len(quoted) - len(body)].lower():
        return text
    text = _ESCAPE.sub(_character, text)
    return _HOME.sub(lambda _found: home, text) if quoted[-1:] != "'" or quoted[:1] in "fF" else text


def _character(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code:
        return chr(int(code, 16)) if int(code, 16) < 0x110000 else UNKNOWN
    return {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}.get(found[4], found[4])
