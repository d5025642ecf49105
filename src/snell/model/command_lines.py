"""
Find the command line in a tool's input, whatever the tool and the field are called.

A command line is a text, a list of words or a list of lines under one of `COMMAND_KEYS`, in any spelling of the key;
also JSON text of such a list, an object with a program and its arguments, and what a terminal tool is to type. One
resolver for tool kinds, matchers, typed calls, the guard and the ledger, so that none of them is passed by a name.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from snell.model.command_words import line_of_list, list_for_line, text_of_keys
from snell.model.tool_names import (
    folded,
    has_code,
    is_shell_name,
    is_slash_text,
    is_typing_tool,
    may_run_commands,
    names,
)

COMMAND_KEYS = names(
    "argv bash bashcommand cmd cmdline cmds cmdstring command commandline commandlines commands commandstring"
    " commandtext commandtorun execcommand powershell runcommand script shellcmd shellcommand shellcommands shellscript"
    " terminalcommand"
)
STDIN_KEYS = names("chars characters input inputs inputtext keys keystrokes stdin")
TYPED_KEYS = STDIN_KEYS | names("code data line lines text")
# Objects that hold the arguments of a call, or of several.
WRAPPERS = names(
    "action actions args argument arguments call calls exec function input inputs invocation job jobs kwargs operation"
    " options parameters params payload request step steps task tasks toolinput toolcalls tooluses"
)
ARGUMENT_KEYS = frozenset(("args", "arguments", "argv", "argumentlist"))
PROGRAM_KEYS = frozenset(("program", "executable", "bin", "binary", "exe"))
CODE_KEYS = frozenset(("script", "scripts", "code"))
DEEPEST = 50  # levels of objects and lists; no tool looks for its command further down
_PLAIN = frozenset(("Bash", "PowerShell"))  # their `command` is the line and nothing else
_JSON_STARTS = ("[", "{", '"')

Path = tuple[str | int, ...]


class Place(Struct, frozen=True):
    """One value of an input that is, or holds, command lines."""

    path: Path
    line: str
    value: Any
    also: tuple[str, ...] = ()  # other ways in which a tool may read the value
    is_fixed: bool = False  # it consists of several values, so that another line cannot be put there

    @property
    def is_code(self) -> bool:
        """The field may hold a program, and the text looks like one in another language than a shell's."""
        return bool(CODE_KEYS & set(_names(self.path)[-1:])) and has_code(self.line)


def command_line(tool: str, given: Any) -> str:
    """The command line that a call carries, several below each other; empty when it carries none."""
    if tool in _PLAIN and isinstance(given, dict) and isinstance(text := given.get("command"), str):
        return text
    return "\n".join(place.line for place in places(tool, given))


def other_readings(tool: str, given: Any) -> tuple[str, ...]:
    """The other ways in which a tool may read the input: a list as one line, JSON as text, what goes to stdin."""
    if tool in _PLAIN and isinstance(given, dict) and isinstance(given.get("command"), str):
        return ()
    return tuple(text for place in places(tool, given) for text in place.also)


def carries_command(tool: str, given: Any) -> bool:
    """The call is a shell call by what its input carries, although no table knows the tool as a shell."""
    return may_run_commands(tool) and any(not place.is_code for place in places(tool, given))


def with_line(tool: str, given: Any, line: str) -> Any:
    """The input with another command line in the field of the old one; None when there is no single such field."""
    found = list(places(tool, given))
    if len(found) != 1 or found[0].is_fixed:
        return None
    path, old = found[0].path, found[0].value
    return _put(given, path, _in_form_of(old, line, is_plural=_is_plural(path)))


def places(tool: str, given: Any, *, anywhere: bool = False) -> Iterator[Place]:
    """Every place of an input that holds a command line."""
    types = is_typing_tool(tool)
    if isinstance(given, str | list) and types and tool not in _PLAIN:
        yield from _at((), given, is_typed=True)
    elif isinstance(given, dict):
        for place in _within(given, (), types=types, anywhere=anywhere or is_shell_name(tool)):
            if not is_slash_text(tool, place.line):
                yield place


def _within(given: dict[Any, Any], path: Path, *, types: bool, anywhere: bool) -> Iterator[Place]:
    if len(path) > DEEPEST:
        return
    keys = {key: folded(key) for key in given if isinstance(key, str)}
    commands = [key for key, name in keys.items() if is_command_key(name)]
    typed = [key for key, name in keys.items() if name in TYPED_KEYS] if types and not commands else []
    stdin = [given[key] for key, name in keys.items() if name in STDIN_KEYS] if types and commands else []
    words = [given[key] for key, name in keys.items() if name in ARGUMENT_KEYS and key not in commands]
    if not commands and words:
        commands = [key for key, name in keys.items() if name in PROGRAM_KEYS and isinstance(given[key], str)][:1]
    for key in commands:
        yield from _at((*path, key), given[key], arguments=words, stdin=stdin)
    for key in typed:
        yield from _at((*path, key), given[key], is_typed=True)
    for key, name in keys.items():
        is_wrapper = name in WRAPPERS or (anywhere and isinstance(given[key], dict | list))
        if is_wrapper and key not in commands and key not in typed:
            yield from _inside(given[key], (*path, key), types=types, anywhere=anywhere)


def is_command_key(name: str) -> bool:
    """Is this the name, without case and joints, of a field that holds a command line?"""
    return name in COMMAND_KEYS or name.endswith(("command", "commands"))


def _inside(value: Any, path: Path, *, types: bool, anywhere: bool) -> Iterator[Place]:
    """Objects in an object: as they are, in a list, or as JSON text."""
    if isinstance(value, str) and len(path) <= DEEPEST:
        for place in _inside(_from_json(value), (*path, 0), types=types, anywhere=anywhere):
            yield Place(path, place.line, place.value, place.also, is_fixed=True)
    elif isinstance(value, dict):
        yield from _within(value, path, types=types, anywhere=anywhere)
    elif isinstance(value, list) and len(path) <= DEEPEST:
        for index, each in enumerate(value):
            if isinstance(each, dict | list):
                yield from _inside(each, (*path, index), types=types, anywhere=anywhere)


def _at(
    path: Path, value: Any, *, arguments: Sequence[Any] = (), stdin: Sequence[Any] = (), is_typed: bool = False
) -> Iterator[Place]:
    line, also = _read(value, path, is_typed=is_typed)
    if not line.strip():
        return
    also = (*also, *filter(None, (_read(each, (), is_typed=True)[0] for each in stdin)))
    words = [_read(each, ("argv",), is_typed=False)[0] for each in arguments if isinstance(each, str | list)]
    if any(words):
        yield Place(path, " ".join((line, *words)), value, (line, *also), is_fixed=True)
    else:
        yield Place(path, line, value, also, is_fixed=_is_composed(value) or (is_typed and isinstance(value, list)))


def _read(value: Any, path: Path, *, is_typed: bool) -> tuple[str, tuple[str, ...]]:
    """A value as a command line, and the other ways to read it."""
    if len(path) > DEEPEST:
        return "", ()
    if isinstance(value, str):
        return _read_text(value, path, is_typed=is_typed)
    if isinstance(value, dict):
        inner = list(_within(value, path, types=is_typed, anywhere=True))
        return "\n".join(place.line for place in inner), tuple(text for place in inner for text in place.also)
    if not isinstance(value, list):
        return "", ()
    if all(isinstance(each, str) for each in value):
        line = text_of_keys(value) if is_typed else line_of_list(value, is_plural=_is_plural(path))
        return line, tuple({" ".join(value), "\n".join(value)} - {line}) if value else ()
    parts = [_read(each, (*path, index), is_typed=is_typed) for index, each in enumerate(value)]
    return "\n".join(line for line, _ in parts if line), tuple(text for _, also in parts for text in also)


def _read_text(text: str, path: Path, *, is_typed: bool) -> tuple[str, tuple[str, ...]]:
    inner = _from_json(text)
    if inner is None:
        return (text_of_keys([text]) if is_typed else text), ()
    line, also = _read(inner, (*path, 0), is_typed=is_typed)
    return (line, (*also, text)) if line else (text, ())


def _is_plural(path: Path) -> bool:
    """Does the name of the field say that each text is a line, and not a word of one?"""
    names_above = _names(path)
    return bool(names_above) and names_above[-1].endswith(("s", "script"))


def _names(path: Path) -> list[str]:
    return [folded(each) for each in path if isinstance(each, str)]


def _is_composed(value: Any) -> bool:
    plain = _from_json(value) if isinstance(value, str) else value
    plain = value if plain is None else plain
    return not isinstance(plain, str) and not (isinstance(plain, list) and all(isinstance(each, str) for each in plain))


def _from_json(text: str) -> Any:
    """What a JSON text holds; None for any other text."""
    if not text.lstrip().startswith(_JSON_STARTS):
        return None
    try:
        return decode(text)
    except (DecodeError, RecursionError, UnicodeError):
        return None


def _in_form_of(old: Any, line: str, *, is_plural: bool) -> Any:
    if isinstance(old, list):
        return list_for_line(old, line, is_plural=is_plural)
    inner = _from_json(old)
    if inner is not None:
        return encode(_in_form_of(inner, line, is_plural=is_plural)).decode()
    ending = old[len(old.rstrip("\r\n")) :]
    return line if line.endswith(("\r", "\n")) else line + ending


def _put(given: Any, path: Path, value: Any) -> Any:
    """A copy with the value at the path."""
    if not path:
        return value
    copy: Any = dict(given) if isinstance(given, dict) else list(given)
    copy[path[0]] = _put(given[path[0]], path[1:], value)
    return copy
