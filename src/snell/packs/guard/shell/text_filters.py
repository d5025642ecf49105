"""The output of programs that decode or change text: base64, xxd, tr, sed and the like."""

import base64
import binascii
import re
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from snell.packs.guard.known_values import DECODED, UNKNOWN, Value
from snell.shell import ansi_quotes

_FOLDER = "snell.packs.guard.sed_scripts"  # the guard works without it
_SED: Any = import_module(f"{_FOLDER}.substitute") if find_spec(_FOLDER) else None


def decode_output(program: str, args: list[str], given: Value) -> Value:
    """Return the output of a decoder such as `base64 -d`; without its decoding option, the output is unknown."""
    flags = " ".join(args)
    decodes = {"xxd": r"(?:^| )-\w*r", "openssl": r"(?:^| )-\w*d\b", "uudecode": ""}.get(
        program, r"(?:^| )(?:-\w*[dD]\w*|--decode)(?: |$)"
    )
    if re.search(decodes, flags) is None:
        return Value(UNKNOWN, given.labels if program == "openssl" else given.labels | {f"output {program}"})
    labels = given.labels | {DECODED}
    if not given.is_known:
        return Value(UNKNOWN, labels)
    return Value(_from_text(program, given.text, flags), labels)


def _from_text(program: str, text: str, flags: str) -> str:
    try:
        if program == "xxd":
            return bytes.fromhex("".join(text.split())).decode("utf-8", "replace")
        if program == "base32":
            return base64.b32decode("".join(text.split())).decode("utf-8", "replace")
        if program == "base64" or "base64" in flags or "-a" in flags:
            joined = "".join(text.split())
            return base64.b64decode(joined + "=" * (-len(joined) % 4)).decode("utf-8", "replace")
    except (ValueError, binascii.Error):
        pass
    return UNKNOWN


def filter_text(program: str, args: list[str], text: str) -> str:
    """Return what a filter such as `tr` or `sed` makes of a known text; UNKNOWN where that is not certain."""
    if program == "rev":
        return "\n".join(line[::-1] for line in text.split("\n"))
    operands = [arg for arg in args if not arg.startswith("-")]
    if program == "tr" and operands:
        return _translate(args, operands, text)
    if program == "sed" and operands and _SED and "-n" not in args:
        return str(_SED.substitute(operands[0], text, is_extended="-E" in args or "-r" in args))
    if program in ("grep", "sort", "uniq", "fold", "nl", "iconv", "dos2unix"):
        return text
    return UNKNOWN


def _translate(args: list[str], operands: list[str], text: str) -> str:
    first = _characters(operands[0])
    if "-d" in args:
        return "".join(char for char in text if char not in first)
    if len(operands) < 2:
        return text
    second = _characters(operands[1])
    second += second[-1:] * (len(first) - len(second))
    return text.translate({ord(old): new for old, new in zip(first, second, strict=False)})


def _characters(pattern: str) -> str:
    pattern = pattern.replace("[:upper:]", "A-Z").replace("[:lower:]", "a-z")
    expand = re.compile(r"(.)-(.)")
    return expand.sub(lambda pair: "".join(map(chr, range(ord(pair[1]), ord(pair[2]) + 1))), unescape(pattern))


def unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return ansi_quotes.decode_ansi_quotes(re.sub(r"\\0([0-7]{1,3})", r"\\\1", text)) or text
