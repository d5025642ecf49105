"""
Recognise shell lines that contain only commands of Snell: the sessions pack neither counts nor refuses them.

Allowed besides are `cd` before a command, input from `echo`, `printf`, `cat`, a file or a heredoc, and several commands
in a row. Any other command or a substitution makes the line a foreign one.
"""

from collections.abc import Iterator

from msgspec import Struct

NAMES = ("snell", "engine")
FEEDS = ("echo", "printf", "cat")
_LOGS = (("snell", "effort", "log"), ("engine", "log"))
_OPTIONS_WITH_VALUE = ("--log", "--effort")
_SEPARATORS = ("", "&&", "||", ";", "|")  # empty: a new line, or the end
_INPUT = ("<", "<<", "<<-", "<<<")
_NO_OUTPUT = ("/dev/null", "1", "2")


class _Command(Struct, frozen=True):
    words: tuple[str, ...]
    has_input: bool
    separator: str  # the operator after it


def is_snell_command(command: str) -> bool:
    """Whether a shell line contains only commands of Snell."""
    return bool(_snell_commands(command))


def writes_log_entry(command: str) -> bool:
    """Whether one of the commands writes an entry into the log; one with an unknown option writes nothing."""
    return any(_is_log_entry(each) for each in _snell_commands(command))


def _snell_commands(line: str) -> list[_Command]:
    """Return the commands of Snell in a line; none if the line contains anything else."""
    if not any(name in line for name in NAMES):
        return []
    try:
        found = list(_commands(line))
    except ValueError:
        return []
    roles = [_role(each, after) for each, after in zip(found, [*found, None][1:], strict=True)]
    return [each for each, role in zip(found, roles, strict=True) if role == "snell"] if all(roles) else []


def _role(command: _Command, after: _Command | None) -> str:
    name, is_piped = command.words[0], command.separator == "|"
    if name in NAMES:
        return "" if is_piped else "snell"
    if name == "cd":
        return "leads" if after and not is_piped else ""
    return "feeds" if after and name in FEEDS and is_piped and after.words[0] in (*FEEDS, *NAMES) else ""


def _is_log_entry(command: _Command) -> bool:
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
            text += word
    return bool(text.strip()) or command.has_input


def _commands(line: str) -> Iterator[_Command]:
    """Return the commands of a line. Raises ValueError at anything but words, input and separators."""
    from snell.shell.reader import read  # slow to import, and most lines do not name Snell

    found = read(line)
    if not found.understood or found.dynamic or found.substitutes:
        raise ValueError(line)
    ends = [*(each.start for each in found.commands[1:]), len(line)]
    is_fed = False
    for command, end in zip(found.commands, ends, strict=True):
        between = line[command.end : end].partition("\n")[0]  # the text of a heredoc follows the new line
        separator = between.partition("#")[0].strip()
        is_ours = all(name.startswith(("AGENT_", "SNELL_")) for name, _ in command.assignments)
        is_plain = not (command.depth or command.embedded or command.negated) and bool(command.words)
        if separator not in _SEPARATORS or not is_ours or not is_plain:
            raise ValueError(command.text)
        inputs = [each.operator in _INPUT for each in command.redirects]
        if not all(given or each.target in _NO_OUTPUT for given, each in zip(inputs, command.redirects, strict=True)):
            raise ValueError(command.text)
        yield _Command(command.words, is_fed or any(inputs), separator)
        is_fed = separator == "|"
