"""What the strings of a program say, what it writes of them into files, and what it puts into them to be sent."""

import re
from collections.abc import Callable, Iterator

from snell.packs.guard.known_names import pattern
from snell.packs.guard.known_values import UNKNOWN
from snell.system.lazy_regex import lazy_regex

_ESCAPE = lazy_regex(r"\\(?:x\{?([0-9a-fA-F]{2,6})\}|x([0-9a-fA-F]{2})|u\{?([0-9a-fA-F]{4})\}?|(.))", re.DOTALL)
# The home folder inside a string: of perl, ruby, node and python.
_HOME = lazy_regex(
    r"\$ENV\{['\"]?HOME['\"]?\}|#\{(?:ENV\[['\"]HOME['\"]\]|Dir\.home)\}|\$\{(?:process\.env\.HOME|os\.homedir\(\))\}"
    r"|\{(?:os\.environ\[['\"]HOME['\"]\]|(?:pathlib\.)?Path\.home\(\)|os\.path\.expanduser\(['\"]~['\"]\))\}"
)


def literal(quoted: str, home: str) -> str:
    """Return the text of a string; where the program puts the home folder into it, with that folder."""
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


_S = r"«(\d+)»"
_WRITTEN = lazy_regex(
    rf"open\s*\(\s*{_S}[^()]{{0,80}}\)\.write\(\s*{_S}|{_S}\.write_text\(\s*{_S}|"
    rf"\b(?:writeFile(?:Sync)?|appendFileSync|File\.write|IO\.write|file_put_contents)\s*\(\s*{_S}\s*,\s*{_S}"
)


def written_texts(masked: str, at: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Yield path and text of files that the code writes, if the text is spelled out."""
    for found in _WRITTEN.finditer(masked):
        path, text = (group for group in found.groups() if group)
        yield at(path), at(text)


_NAMED = (
    rf"(?:(?:os\.)?environ(?:\[|\.get\()|\bgetenv\(|\bENV(?:\[|\.fetch\()|process\.env\[)\s*{_S}|\bprocess\.env\.(\w+)"
)
# Behind an address or in a body; a header is how services are used.
_SENT = lazy_regex(
    rf"{_S}\s*\+\s*(?:{_NAMED})|\b(?:data|params|json|body)\W{{1,3}}(?:[^()\n«]|«\d+»){{0,60}}?(?:{_NAMED})"
)
_IN_ADDRESS = lazy_regex(r"https?://[^\s{]*\{(?:(?:os\.)?environ(?:\[|\.get\()['\"]|process\.env\.)(\w+)")
_SECRET = pattern("secret_variable")


def sent_variables(masked: str, strings: list[str], at: Callable[[str], str]) -> set[str]:
    """Return labels of the variables that hold secrets and are put into an address or a body."""
    names = [found[1] for text in strings for found in _IN_ADDRESS.finditer(text)]
    for found in _SENT.finditer(masked):
        lead, first, plain, second, other = found.groups()
        if lead is None or at(lead).startswith("http"):
            names.extend(filter(None, (plain, other, at(first) if first else "", at(second) if second else "")))
    return {f"secret ${name}" for name in names if _SECRET.search(name)}
