"""What a file runs by itself: one entry for each command, and the readers of formats that the kinds of files share."""

import re
import shlex
import tomllib
from typing import Any

from msgspec import Struct

from snell.settings.read_json import JsonScanner
from snell.settings.value_tree import InvalidValueError
from snell.system.lazy_regex import lazy_regex

HERE, ELSEWHERE = "here", "elsewhere"


class Entry(Struct, frozen=True):
    """A command that a file makes some program run, or a setting that makes it run another program."""

    runs: str  # the command, or the setting as it is shown
    when: str  # completes "would run `x` ..."
    asks: bool = False  # it is asked about even if the command itself is harmless
    where: str = HERE  # in a container or on a build server, little can be lost here
    code: str = ""  # the line to judge, where it differs from `runs`

    @property
    def line(self) -> str:
        return self.code or self.runs


def read_json(text: str) -> Any:
    """Return the value of a JSON text, with comments; None if it is none, as a part of a file is."""
    try:
        scanner = JsonScanner(text, comments=True)
        return None if scanner.is_empty else scanner.document().value
    except (InvalidValueError, RecursionError):
        return None


def read_toml(text: str) -> Any:
    """Return the value of a TOML text; None if it is none."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def member(value: Any, *names: str) -> Any:
    """Return the value at this place of a tree; None if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def objects(value: Any) -> dict[str, dict[str, Any]]:
    """Return the members of an object that are objects themselves."""
    return (
        {str(name): each for name, each in value.items() if isinstance(each, dict)} if isinstance(value, dict) else {}
    )


def command_line(command: Any, args: Any = None) -> str:
    """Return a command and its arguments as one line; a text alone is a line already."""
    words = [command] if isinstance(command, str) else command if isinstance(command, list) else []
    more = args if isinstance(args, list) else []
    if len(words) == 1 and not more:
        return str(words[0])
    first = str(words[0]) if words else ""
    quoted = [str(word) if isinstance(word, str | int) else "" for word in (*words[1:], *more)]
    return " ".join(filter(None, (first, *map(shlex.quote, quoted))))


_MEMBER = lazy_regex(r'"(?P<name>[\w.:-]+)"\s*:\s*(?:"(?P<text>(?:[^"\\]|\\.)*)"|\[(?P<list>[^\]{}]*)\])')
_TEXT = lazy_regex(r'"((?:[^"\\]|\\.)*)"')


def members_of_part(text: str) -> list[tuple[str, str]]:
    """Return the names of a part of a JSON file with their texts; a list of texts is joined as a command line."""
    found = list[tuple[str, str]]()
    for each in _MEMBER.finditer(text):
        words = [_unescape(word) for word in _TEXT.findall(each["list"])] if each["list"] is not None else None
        found.append((each["name"], command_line(words) if words is not None else _unescape(each["text"])))
    return found


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), text)
