"""
Recognise shell lines that contain only commands of Snell: the work layer neither counts nor refuses them.

Allowed besides are `cd` before a command, input from `echo`, `printf`, `cat`, a file or a heredoc, and several commands
in a row. Any other command or a substitution makes the line a foreign one.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

NAMES = ("snell", "engine")
FEEDS = ("echo", "printf", "cat")
_LOGS = (["snell", "effort", "log"], ["engine", "log"])
_OPTIONS_WITH_VALUE = ("--log", "--effort")
_SEPARATORS = frozenset({"&&", "||", ";", "\n", "|"})
_OUTPUT = frozenset({">", ">>", "&>", ">&"})
_END = ("", "")
_OWN_VARIABLE = re.compile(r"(?:AGENT|SNELL)_\w*=")
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
    has_input: bool = False
    separator: str = ""  # the operator after it


def is_snell_command(command: str) -> bool:
    """Whether a shell line contains only commands of Snell."""
    return bool(_snell_commands(command))


def writes_log_entry(command: str) -> bool:
    """Whether one of the commands writes an entry into the log; one with an unknown option writes nothing."""
    return any(_is_log_entry(each) for each in _snell_commands(command))


def _snell_commands(command: str) -> list[Command]:
    """Return the commands of Snell in a line; none if the line contains anything else."""
    if not any(name in command for name in NAMES):
        return []
    try:
        found = list(_commands(command.strip()))
    except ValueError:
        return []
    roles = [_role(each, after) for each, after in zip(found, [*found, None][1:], strict=True)]
    return [each for each, role in zip(found, roles, strict=True) if role == "snell"] if all(roles) else []


def _role(command: Command, after: Command | None) -> str:
    name = command.words[0]
    if name in NAMES:
        return "snell" if command.separator != "|" else ""
    if name == "cd":
        return "leads" if after and command.separator != "|" else ""
    return (
        "feeds" if after and name in FEEDS and command.separator == "|" and after.words[0] in (*FEEDS, *NAMES) else ""
    )


def _is_log_entry(command: Command) -> bool:
    start = next((start for start in _LOGS if command.words[: len(start)] == start), None)
    if start is None:
        return False
    words, text = iter(command.words[len(start) :]), ""
    for word in words:
        name, _, value = word.partition("=")
        if name in _OPTIONS_WITH_VALUE:
            value = value or next(words, "")
        elif word.startswith("-") and word not in ("--json", "--"):
            return False
        elif word != "--json":
            text += word.strip("'\"")
    return bool(text.strip()) or command.has_input


def _commands(line: str) -> Iterator[Command]:
    """Return the commands of a line. Raises ValueError at anything but words, input and separators."""
    now = Command([])
    tokens = _tokens(line)
    for kind, text in tokens:
        if kind == "word":
            if now.words or not _OWN_VARIABLE.match(text):
                now.words.append(text)
        elif text in _SEPARATORS:
            yield from _end_command(now, text)
            now = Command([], has_input=text == "|")
        else:
            _read_redirection(now, text, tokens)
    if now.words:
        yield now


def _end_command(command: Command, separator: str) -> Iterator[Command]:
    if command.words:
        command.separator = separator
        yield command
    elif separator != "\n":
        raise ValueError(separator)


def _read_redirection(command: Command, operator: str, tokens: Iterator[tuple[str, str]]) -> None:
    if operator in ("<", "<<<", "<<"):
        command.has_input = operator == "<<" or next(tokens, _END)[0] == "word"
    elif operator not in _OUTPUT or next(tokens, _END)[1] not in ("/dev/null", "1", "2"):
        raise ValueError(operator)


def _tokens(line: str) -> Iterator[tuple[str, str]]:
    """Return words and operators as written, without the text of heredocs."""
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
