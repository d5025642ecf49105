"""Recognize commands of Snell in the files of other clients."""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from snell.system.lazy_regex import lazy_regex

# The part before the command, for a machine without Snell: a test, and an answer that allows or denies.
_WORD = r"""(?:'(?:[^'\n]|'"'"')*'|[^\s;&|'"]+)"""
_ELSE = r"""(?:exit 0|\{ echo '[^'\n]*'(?: >&2)?; exit [02]; \})"""
_GUARD = rf"""(?:(?:\[ -x {_WORD} \]|command -v snell-hook >/dev/null) \|\| {_ELSE}; )?"""
_FOLDER = r"""(?:'(?:[^'\n]|'"'"')*/|["']?(?:[^"'\n;&|<>()`]*[/\\])?)"""
_QUOTED = r"""(?:'(?:[^']|'"'"')*'|[^\s;&|'"]+)"""  # a word as `shlex.quote` writes it, over several lines too
_WRAP_GUARD = lazy_regex(rf"\[ -x {_QUOTED} \] \|\| (?:exit 0|exec /bin/sh -c {_QUOTED}); ")
_SHIM = lazy_regex(rf"""^{_GUARD}(?:exec )?{_FOLDER}snell-hook(?:-[a-z]+)?(?:\.exe|\.cmd|\.sh)?(?:["' ]|$)""")
_CLOSED = lazy_regex(rb"snell-hook(?:(?!command)[^{}]){0,300}?--fail-closed")


def is_fail_closed(data: bytes) -> bool:
    """Whether a command of Snell in this file has `--fail-closed`. The file may have any format."""
    return bool(_CLOSED.search(data))


def runs_shim(value: Any) -> bool:
    """Whether an entry has a command that is `snell-hook`, however the client nests it."""
    return any(_SHIM.match(command) for command in commands_in(value))


def wrap_command(ours: str, inner: str, test: str = "") -> str:
    """Return Snell's command around an earlier one, which runs alone where `test` does not find Snell."""
    inside = shlex.quote(inner)
    line = f"{ours} --then {inside}" if inner else ours
    alone = f"exec /bin/sh -c {inside}" if inner else "exit 0"
    return f"{test} || {alone}; {line}" if test else line


def wrapped_command(command: str) -> str | None:
    """Return the command that a command of Snell wraps, or an empty text; None for other commands."""
    guard = _WRAP_GUARD.match(command)
    try:
        words = shlex.split(command[guard.end() :] if guard else command)
    except ValueError:
        return None
    words = words[1:] if words[:1] == ["exec"] else words
    if len(words) < 2 or re.split(r"[/\\]", words[0])[-1] not in ("snell", "snell.exe"):
        return None
    if words[1] not in ("statusline", "suggest-files"):
        return None
    return words[words.index("--then") + 1] if "--then" in words[:-1] else ""


def runs_only_shim(value: Any) -> bool:
    """Whether all commands of a file are Snell's."""
    commands = list(commands_in(value))
    return bool(commands) and all(_SHIM.match(command) for command in commands)


def is_snell_entry(value: Any) -> bool:
    """Whether a value with the key of Snell is Snell's own: its hooks, one of its programs, or empty."""
    if not isinstance(value, Mapping):
        return False
    program = value.get("command", value.get("cmd"))
    program = program[0] if isinstance(program, list) and program else program
    if isinstance(program, str):
        return re.split(r"[/\\]", program)[-1] in ("snell", "snell.exe", "snell-hook", "snell-hook.exe")
    return not value or runs_only_shim(value)


def others_in(value: Any) -> list[str]:
    """Return the commands that are not Snell's; an entry without a command is one of them."""
    commands = list(commands_in(value))
    return [each for each in commands if not _SHIM.match(each)] or ([] if commands else ["an entry without a command"])


def commands_in(value: Any) -> Iterator[str]:
    """Yield every command of an entry or a file, at any depth."""
    if isinstance(value, Mapping):
        for key in ("command", "bash", "powershell"):
            if isinstance(value.get(key), str):
                yield value[key]
        for name, inner in value.items():
            if name in ("hooks", "action") or isinstance(inner, list):
                yield from commands_in(inner)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from commands_in(each)
