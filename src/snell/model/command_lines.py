"""
Finds the command line in a tool's input, whatever the tool and the field are called.

A command line is a text, a list of words or a list of lines under one of `COMMAND_KEYS`, in any spelling of the key;
also JSON text of such a list, an object with a program and its arguments, and what a terminal tool is to type. Tool
kinds, matchers, typed calls, the guard and the ledger all use this one resolver, so that none of them misses a name.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.json import encode

from snell.model import command_words, tool_names
from snell.model.command_words import value_of_json
from snell.model.tool_names import name_set, plain_name

COMMAND_KEYS = name_set(
    "argv bash bashcommand cmd cmdline cmds cmdstring command commandline commandlines commands commandstring"
    " commandtext commandtorun execcommand powershell runcommand script shellcmd shellcommand shellcommands shellscript"
    " terminalcommand"
)
STDIN_KEYS = name_set("chars characters input inputs inputtext keys keystrokes stdin")
TYPED_KEYS = STDIN_KEYS | name_set("code data line lines text")
# Objects that hold the arguments of a call, or of several.
WRAPPERS = name_set(
    "action actions args argument arguments call calls exec function input inputs invocation job jobs kwargs operation"
    " options parameters params payload request step steps task tasks toolinput toolcalls tooluses"
)
ARGUMENT_KEYS = name_set("args arguments argv argumentlist arglist cmdargs commandargs flags options parameters params")
PROGRAM_KEYS = name_set("program executable bin binary exe executablepath programpath module modulename")
CODE_KEYS = frozenset(("script", "scripts", "code"))
LANGUAGE_KEYS = name_set("interpreter kernel lang language languageid runtime shell shelltype syntax")
# The text of a script, where the tool or the field beside it says that a shell runs it.
SCRIPT_KEYS = name_set("code script scriptbody scriptcode scriptcontent scripttext snippet sourcecode")
TEXT_KEYS = name_set("body content contents source text")  # with a path beside it this is the text of a file
FILE_KEYS = name_set("file filename filepath path uri")
_ABOUT = name_set("comment description explanation id label name reason title type")
_TYPE_KEYS = frozenset(("kind", "type"))
_ACTION_KEYS = name_set("action method op operation")
WORDS_ALONE = name_set("args arguments argv argumentlist arglist cmdargs commandargs")
LONGEST_LINE = 262_144  # characters; the guard asks about a longer line without reading it
DEEPEST = 50  # levels of objects and lists; no tool looks for its command further down
PLAIN_SHELLS = frozenset(("Bash", "PowerShell"))  # their `command` is the line and nothing else

Path = tuple[str | int, ...]


class CommandField(Struct, frozen=True):
    """One value of an input that is, or holds, command lines."""

    path: Path
    line: str
    value: Any
    also: tuple[str, ...] = ()  # other ways in which a tool may read the value
    is_fixed: bool = False  # it consists of several values, so that another line cannot replace it

    @property
    def is_code(self) -> bool:
        """Return whether the field may hold a program, and its text looks like code, not a shell's."""
        return bool(CODE_KEYS & set(_names(self.path)[-1:])) and tool_names.has_code(self.line)


def command_line(tool: str, given: Any) -> str:
    """Return the command line that a call carries, several joined by line breaks; empty when it carries none."""
    if tool in PLAIN_SHELLS and isinstance(given, dict) and isinstance(text := given.get("command"), str):
        return text
    return "\n".join(field.line for field in command_fields(tool, given))


def other_readings(tool: str, given: Any) -> tuple[str, ...]:
    """Return the other ways to read the input: a list as one line, JSON as text, what goes to stdin."""
    if tool in PLAIN_SHELLS and isinstance(given, dict) and isinstance(given.get("command"), str):
        return ()
    return tuple(text for field in command_fields(tool, given) for text in field.also)


def carries_command(tool: str, given: Any) -> bool:
    """Return whether the input makes this a shell call, although no table knows the tool as a shell."""
    return tool_names.may_run_commands(tool) and any(not field.is_code for field in command_fields(tool, given))


def with_line(tool: str, given: Any, line: str) -> Any:
    """Return the input with another command line in the field of the old one; None without a single such field."""
    found = list(command_fields(tool, given))
    if len(found) != 1 or found[0].is_fixed:
        return None
    path, old = found[0].path, found[0].value
    return _put(given, path, _in_form_of(old, line, is_plural=_is_plural(path)))


def command_fields(tool: str, given: Any, *, anywhere: bool = False) -> Iterator[CommandField]:
    """Yield every field of an input that holds a command line."""
    if isinstance(given, str | list) and tool_names.is_typing_tool(tool) and tool not in PLAIN_SHELLS:
        yield from _field_at((), given, is_typed=True)
    elif isinstance(given, dict):
        hints = _hints_of(tool, given, anywhere=anywhere)
        for field in _within(given, (), hints):
            if not tool_names.is_slash_text(tool, field.line):
                yield field


class ToolHints(Struct, frozen=True):
    """What the name of a tool says about the fields of its input."""

    types: bool = False  # its `text` or `keys` is typed into a terminal
    is_script: bool = False  # its `content` or `code` is a script for a shell
    runs: bool = True  # a script with the name of its language beside it is run
    starts: bool = False  # it is for scripts, and its name says that it runs them
    anywhere: bool = True  # objects under any key are looked into


def _hints_of(tool: str, given: dict[Any, Any], *, anywhere: bool) -> ToolHints:
    actions = (text for key, text in given.items() if isinstance(text, str) and plain_name(str(key)) in _ACTION_KEYS)
    types = tool_names.is_typing_tool(tool) or any(tool_names.types_by_action(tool, text) for text in actions)
    is_script = tool_names.runs_scripts(tool)
    return ToolHints(
        types,
        is_script,
        not tool_names.only_reads_text(tool),
        is_script and tool_names.has_run_verb(tool),
        anywhere or tool_names.is_shell_name(tool),
    )


def _within(given: dict[Any, Any], path: Path, hints: ToolHints) -> Iterator[CommandField]:
    if len(path) > DEEPEST:
        return
    keys = {key: plain_name(key) for key in given if isinstance(key, str)}
    if path:  # a step of a job, not the name of a run
        keys = {key: "command" if name == "run" else name for key, name in keys.items()}
    commands, words = _commands(given, keys, hints)
    typed = _keys_in(keys, TYPED_KEYS) if hints.types and not commands else []
    stdin = _stdin_of(given, keys, commands, hints)
    for key in commands:
        yield from _field_at((*path, key), given[key], arguments=words if keys[key] != "argv" else (), stdin=stdin)
    for key in typed:
        yield from _field_at((*path, key), given[key], is_typed=True)
    for key, name in keys.items():
        is_wrapper = name in WRAPPERS or (hints.anywhere and isinstance(given[key], dict | list))
        if is_wrapper and key not in commands and key not in typed:
            yield from _inside(given[key], (*path, key), hints)


def _keys_in(keys: dict[str, str], names: frozenset[str]) -> list[str]:
    return [key for key, name in keys.items() if name in names]


def _stdin_of(given: dict[Any, Any], keys: dict[str, str], commands: list[str], hints: ToolHints) -> list[Any]:
    """Return what a command that is a shell, or that a terminal gets, reads from its standard input."""
    lines = (given[key] for key in commands if isinstance(given[key], str))
    reads = bool(commands) and (hints.types or any(map(command_words.starts_shell, lines)))
    return [given[key] for key in _keys_in(keys, STDIN_KEYS)] if reads else []


def _commands(given: dict[Any, Any], keys: dict[str, str], hints: ToolHints) -> tuple[list[str], list[Any]]:
    """Return the keys of command lines, and the arguments that follow them."""
    commands = [key for key, name in keys.items() if is_command_key(name)]
    words = [given[key] for key, name in keys.items() if name in ARGUMENT_KEYS and _is_words(name, given[key])]
    if words and all(keys[key] == "argv" for key in commands):
        known = PROGRAM_KEYS | (FILE_KEYS if WORDS_ALONE & set(keys.values()) else frozenset())
        programs = [key for key, name in keys.items() if name in known and isinstance(given[key], str)]
        commands = [*programs, *commands]
    return [*commands, *(key for key in _scripts(given, keys, hints) if key not in commands)], words


def _is_words(name: str, value: Any) -> bool:
    """Return whether the value is arguments, and no object or JSON text that holds the fields of a call."""
    if isinstance(value, list):
        return name in WORDS_ALONE or all(isinstance(each, str) for each in value)
    return isinstance(value, str) and name in WORDS_ALONE


def _scripts(given: dict[Any, Any], keys: dict[str, str], hints: ToolHints) -> list[str]:
    """Return the keys of scripts that a shell runs, by the tool's name, the language, or their first line."""
    if not hints.runs:
        return []
    languages = [given[key] for key in _keys_in(keys, LANGUAGE_KEYS)]
    is_shells = any(map(command_words.is_shell_language, languages))
    scripts = _keys_in(keys, SCRIPT_KEYS)
    if not is_shells and any(command_words.is_shell_language(given[key]) for key in _keys_in(keys, _TYPE_KEYS)):
        return scripts
    if not is_shells and (not hints.is_script or any(map(command_words.is_other_language, languages))):
        return [key for key in scripts if command_words.names_shell(given[key])]
    is_file = bool(FILE_KEYS & set(keys.values())) and not hints.starts
    return _keys_in(keys, SCRIPT_KEYS if is_file else SCRIPT_KEYS | TEXT_KEYS)


def is_command_key(name: str) -> bool:
    """Return whether this name, without case and separators, is that of a field with a command line."""
    return name in COMMAND_KEYS or name.endswith(("command", "commands"))


def _inside(value: Any, path: Path, hints: ToolHints) -> Iterator[CommandField]:
    """Look into objects of an object: as they are, in a list, or as JSON text."""
    if isinstance(value, str) and len(path) <= DEEPEST:
        for field in _inside(value_of_json(value), (*path, 0), hints):
            yield CommandField(path, field.line, field.value, field.also, is_fixed=True)
    elif isinstance(value, dict):
        yield from _within(value, path, hints)
    elif isinstance(value, list) and len(path) <= DEEPEST:
        for index, each in enumerate(value):
            if isinstance(each, dict | list):
                yield from _inside(each, (*path, index), hints)


def _field_at(
    path: Path, value: Any, *, arguments: Sequence[Any] = (), stdin: Sequence[Any] = (), is_typed: bool = False
) -> Iterator[CommandField]:
    line, also = _read(value, path, is_typed=is_typed)
    if not line.strip():
        return
    also = (*also, *filter(None, (_read(each, (), is_typed=True)[0] for each in stdin)))
    words = [_read(each, ("argv",), is_typed=False)[0] for each in arguments if isinstance(each, str | list)]
    if any(words):
        yield CommandField(path, " ".join((line, *words)), value, (line, *also), is_fixed=True)
    else:
        is_pressed = is_typed and (isinstance(value, list) or command_words.has_named_keys(str(value)))
        yield CommandField(path, line, value, also, is_fixed=_is_composed(value) or is_pressed)


def _read(value: Any, path: Path, *, is_typed: bool) -> tuple[str, tuple[str, ...]]:
    """Return a value as a command line, and the other ways to read it."""
    if len(path) > DEEPEST:
        return "", ()
    if isinstance(value, str):
        return _read_text(value, path, is_typed=is_typed)
    if isinstance(value, dict):
        return _read_object(value, path, is_typed=is_typed)
    if not isinstance(value, list):
        return "", ()
    if all(isinstance(each, str) for each in value):
        return _read_texts(value, path, is_typed=is_typed)
    parts = [_read(each, (*path, index), is_typed=is_typed) for index, each in enumerate(value)]
    return "\n".join(line for line, _ in parts if line), tuple(text for _, also in parts for text in also)


def _read_texts(texts: list[str], path: Path, *, is_typed: bool) -> tuple[str, tuple[str, ...]]:
    """Read the words of a line, or lines; a line may be JSON itself."""
    is_plural = _is_plural(path)
    line = command_words.text_of_keys(texts) if is_typed else command_words.line_of_list(texts, is_plural=is_plural)
    json_texts = [text for text in texts if is_plural and isinstance(value_of_json(text), dict | list)]
    held = [_read(text, (*path, 0), is_typed=is_typed)[0] for text in json_texts]
    return line, tuple(dict.fromkeys(text for text in (" ".join(texts), "\n".join(texts), *held) if text != line))


def _read_object(value: dict[Any, Any], path: Path, *, is_typed: bool) -> tuple[str, tuple[str, ...]]:
    """Read the command lines under known keys of an object, else all texts that do not describe it."""
    if inner := list(_within(value, path, ToolHints(types=is_typed))):
        return "\n".join(field.line for field in inner), tuple(text for field in inner for text in field.also)
    texts = [each for key, each in value.items() if isinstance(each, str) and plain_name(str(key)) not in _ABOUT]
    return "\n".join(texts), ()


def _read_text(text: str, path: Path, *, is_typed: bool) -> tuple[str, tuple[str, ...]]:
    inner = value_of_json(text)
    if inner is not None:
        line, also = _read(inner, (*path, 0), is_typed=is_typed)
        return (line, (*also, text)) if line else (text, ())
    if len(text) > LONGEST_LINE:
        return text, ()
    line = command_words.text_of_keys([text]) if is_typed else text
    parts = command_words.texts_of_broken_list(text)
    others = (
        command_words.without_control(text),
        command_words.apply_backspaces(text),
        "\n".join(parts),
        " ".join(parts),
    )
    return line, tuple(other for other in dict.fromkeys(others) if other and other != line)


def _is_plural(path: Path) -> bool:
    """Return whether the name of the field says that each text is a line, and not a word of one."""
    names_above = _names(path)
    return bool(names_above) and names_above[-1].endswith(("s", "script"))


def _names(path: Path) -> list[str]:
    return [plain_name(each) for each in path if isinstance(each, str)]


def _is_composed(value: Any) -> bool:
    plain = value_of_json(value) if isinstance(value, str) else value
    plain = value if plain is None else plain
    return not isinstance(plain, str) and not (isinstance(plain, list) and all(isinstance(each, str) for each in plain))


def _in_form_of(old: Any, line: str, *, is_plural: bool) -> Any:
    if isinstance(old, list):
        return command_words.list_for_line(old, line, is_plural=is_plural)
    inner = value_of_json(old)
    if inner is not None:
        return encode(_in_form_of(inner, line, is_plural=is_plural)).decode()
    ending = old[len(old.rstrip("\r\n")) :]
    return line if line.endswith(("\r", "\n")) else line + ending


def _put(given: Any, path: Path, value: Any) -> Any:
    """Return a copy with the value at the path."""
    if not path:
        return value
    copy: Any = dict(given) if isinstance(given, dict) else list(given)
    copy[path[0]] = _put(given[path[0]], path[1:], value)
    return copy
