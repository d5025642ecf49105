"""
Which shell commands are the work layer's own, whole: they are neither counted nor refused.

A command may be led by `cd`, may be fed by `echo`, `printf` or `cat`, by a file or by a heredoc, and several may follow
each other. Whatever else is in the line, or hides in a substitution, makes it somebody else's.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

OURS = ("snell", "engine")
FEEDS = ("echo", "printf", "cat")
_LOGS = (["snell", "effort", "log"], ["engine", "log"])
_TAKES_A_VALUE = ("--log", "--effort")
_JOINTS = frozenset({"&&", "||", ";", "\n", "|"})
_INTO = frozenset({">", ">>", "&>", ">&"})
_END = ("", "")
_ABOUT_US = re.compile(r"(?:AGENT|SNELL)_\w*=")
_TOKEN = re.compile(
    r"""
      (?P<space> [ \t]+ | \\\n )
    | (?P<heredoc> <<(?!<)-?[ \t]* (?P<quote>['"\\]?) (?P<mark>\w+) ['"]? )
    | (?P<operator> \n | && | \|\| | <<< | >> | >& | &> | [|&;<>()] )
    | (?P<word> (?: '[^']*' | "(?: [^"\\`$] | \\. | \$(?!\() )*" | \\. | \$(?!['(]) | [^\s'"\\`$|&;<>()] )+ )
    """,
    re.VERBOSE | re.DOTALL,
)
_SUBSTITUTES = re.compile(r"(?:^|[^\\])(?:`|\$\()")


class Command(Struct):
    words: list[str]
    is_fed: bool = False
    joint: str = ""  # what comes after it


def is_ours(command: str) -> bool:
    return bool(_ours(command))


def writes_the_log(command: str) -> bool:
    """Is one of our commands an entry for the log that can be written? An option that there is not writes nothing."""
    return any(_is_entry(each) for each in _ours(command))


def _ours(command: str) -> list[Command]:
    """Our commands in a line that has nothing else in it; none where it has."""
    if not any(name in command for name in OURS):
        return []
    try:
        found = list(_commands(command.strip()))
    except ValueError:
        return []
    roles = [_role(each, after) for each, after in zip(found, [*found, None][1:], strict=True)]
    return [each for each, role in zip(found, roles, strict=True) if role == "ours"] if all(roles) else []


def _role(command: Command, after: Command | None) -> str:
    name = command.words[0]
    if name in OURS:
        return "ours" if command.joint != "|" else ""
    if name == "cd":
        return "leads" if after and command.joint != "|" else ""
    return "feeds" if after and name in FEEDS and command.joint == "|" and after.words[0] in (*FEEDS, *OURS) else ""


def _is_entry(command: Command) -> bool:
    start = next((start for start in _LOGS if command.words[: len(start)] == start), None)
    if start is None:
        return False
    words, text = iter(command.words[len(start) :]), ""
    for word in words:
        name, _, value = word.partition("=")
        if name in _TAKES_A_VALUE:
            value = value or next(words, "")
        elif word.startswith("-") and word not in ("--json", "--"):
            return False
        elif word != "--json":
            text += word.strip("'\"")
    return bool(text.strip()) or command.is_fed


def _commands(line: str) -> Iterator[Command]:
    """The commands of a line. Raises ValueError at anything that is not plain words, input and joints."""
    now = Command([])
    tokens = _tokens(line)
    for kind, text in tokens:
        if kind == "word":
            if now.words or not _ABOUT_US.match(text):
                now.words.append(text)
        elif text in _JOINTS:
            if now.words:
                now.joint = text
                yield now
            elif text != "\n":
                raise ValueError(text)
            now = Command([], is_fed=text == "|")
        elif text in ("<", "<<<", "<<"):
            now.is_fed = text == "<<" or next(tokens, _END)[0] == "word"
        elif text not in _INTO or next(tokens, _END)[1] not in ("/dev/null", "1", "2"):
            raise ValueError(text)
    if now.words:
        yield now


def _tokens(line: str) -> Iterator[tuple[str, str]]:
    """Words as they are written, and operators; the text of a heredoc is left out."""
    at, marks = 0, []
    while at < len(line):
        found = _TOKEN.match(line, at)
        if found is None:
            raise ValueError(line[at:])
        at = found.end()
        if found["heredoc"]:
            marks.append((found["mark"], bool(found["quote"])))
            yield "operator", "<<"
        elif found["operator"] == "\n" and marks:
            for mark, is_literal in marks:
                at = _after_heredoc(line, at, mark, is_literal)
            marks = []
            yield "operator", "\n"
        elif kind := next((name for name in ("operator", "word") if found[name]), ""):
            yield kind, found[kind]
    if marks:
        raise ValueError(marks)


def _after_heredoc(line: str, at: int, mark: str, is_literal: bool) -> int:
    end = re.compile(rf"^\t*{mark}[ \t]*$", re.MULTILINE).search(line, at)
    if end is None or (not is_literal and _SUBSTITUTES.search(line[at : end.start()])):
        raise ValueError(mark)
    return end.end()
