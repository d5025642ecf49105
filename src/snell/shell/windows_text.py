"""Know PowerShell text, and write that of it and of `cmd` without what hides its words: `& ('r' + 'i')` is `ri`."""

import re

from snell.shell.cursor import LONGEST_TEXT
from snell.system.lazy_regex import lazy_regex

LONGEST = 20_000
_COMMAND = (
    r"(?:(?:get|set|new|remove|add|clear|copy|move|rename|invoke|start|stop|out|select|where|"
    r"foreach|convert|convertto|convertfrom|import|export|test|write|read|enable|disable|restart|register|unregister)"
    r"-[a-z]\w+|iwr|irm|iex|gci|gc|ri)(?=\s|[;|)]|$)"
)
_FIRST, _LATER = lazy_regex(rf"\s*{_COMMAND}"), lazy_regex(rf"[|;&({{=]\s*{_COMMAND}")
_IN_A_WORD = lazy_regex(r"\$env:\w|\[(?:system\.)?(?:io|net|convert|environment)\b[\w.]*\]::")
_HERE_DOCUMENT = lazy_regex(r"[^#]*?<<-?\s*(['\"]?)(\w+)\1")
_STRING = r"""(?:'[^']*'|"[^"$`]*"|\[char\]\s*(?:0x[0-9a-fA-F]{1,6}|\d{1,7})\b)"""
_JOINED = lazy_regex(rf"(?i)(?<![\w.])\(\s*({_STRING}(?:\s*\+\s*{_STRING})*)\s*\)")
_PART = lazy_regex(r"""(?i)'([^']*)'|"([^"]*)"|\[char\]\s*(0x[0-9a-f]+|\d+)""")
_FORMATTED = lazy_regex(
    r"""(?i)\(\s*['"]((?:\{\d\})+)['"]\s*-f\s*((?:'[^']*'|"[^"]*")(?:\s*,\s*(?:'[^']*'|"[^"]*"))*)\s*\)"""
)
_CALLED = lazy_regex(r"""(?:(?<=^)|(?<=[;|{&(]))\s*[&.]\s*(['"])([\w:.\\/-]+)\1""")
_ESCAPED = lazy_regex(r"(?<=[A-Za-z])`(?=[A-Za-z])")


def looks_like_powershell(line: str) -> bool:
    """Return whether a line shows signs of PowerShell: the name of a cmdlet, or a variable of its kind."""
    text = line[:LONGEST].lower()
    if "<<" in text:
        text = _without_here_documents(text)
    if _FIRST.match(text) or _LATER.search(text):
        return True
    return ("$env:" in text or "]::" in text) and _IN_A_WORD.search(text) is not None


def _without_here_documents(text: str) -> str:
    """Return a line without the texts of its here-documents: PowerShell has none, so they are no part of its code."""
    kept, lines = list[str](), iter(text.split("\n"))
    for line in lines:
        kept.append(line)
        if (begun := _HERE_DOCUMENT.match(line)) and not any(body.strip() == begun[2] for body in lines):
            return text
    return "\n".join(kept)


def join_strings(text: str) -> str:
    """Return the text with each string in the place of the expression that makes it, and without the `&` of a call."""
    if "(" in text:
        text = _FORMATTED.sub(_format, _JOINED.sub(_join, text))
    if "`" in text:
        text = _ESCAPED.sub("", text)
    return _CALLED.sub(r" \2", text) if "&" in text or "." in text else text


def _join(found: re.Match[str]) -> str:
    parts = _PART.findall(found[1])
    texts = (
        one or two or (chr(int(code, 16 if "x" in code.lower() else 10) % 0x11_0000) if code else "")
        for one, two, code in parts
    )
    return f"'{''.join(texts)}'"


def _format(found: re.Match[str]) -> str:
    values = [single or double for single, double, _code in _PART.findall(found[2])]
    order = [int(index) for index in re.findall(r"\d", found[1])]
    return f"'{''.join(values[index] for index in order if index < len(values))}'"


_SET, _USED = lazy_regex(r"(?i)\bset \"?(\w+)=([^&\"]*+)\"?\s*+&&?"), lazy_regex(r"[%!](\w+)[%!]")
LONGEST_VALUE, MOST_ROUNDS = 500, 3  # of variables that name each other, each of which may make the line longer


def cmd_line(text: str) -> str:
    """Return a line of `cmd` without its escapes, with the variables that it sets itself, and switches apart."""
    text = text.replace("^", "").replace("\\", "/")
    known = {name.lower(): value.rstrip() for name, value in _SET.findall(text) if len(value) <= LONGEST_VALUE}
    for _round in range(MOST_ROUNDS if known else 0):
        if len(text) <= LONGEST_TEXT:  # no longer one is read
            text = _USED.sub(lambda found: known.get(found[1].lower(), found[0]), text)
    text = re.sub(r"(?i)%(?:userprofile|homepath|homedrive%%homepath)%", "~", text)
    return re.sub(r"(?<=\s/\w)(?=(?:/\w)+(?:\s|$))", " ", text)
