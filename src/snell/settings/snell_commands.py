"""Which commands in other programs' files are ours."""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

# What stands before ours for a machine where it is not installed: a test, and a harmless or wished-for answer.
_WORD = r"""(?:'(?:[^'\n]|'"'"')*'|[^\s;&|'"]+)"""
_ELSE = r"""(?:exit 0|\{ echo '[^'\n]*'(?: >&2)?; exit [02]; \})"""
_GUARD = rf"""(?:(?:\[ -x {_WORD} \]|command -v snell-hook >/dev/null) \|\| {_ELSE}; )?"""
_FOLDER = r"""(?:'(?:[^'\n]|'"'"')*/|["']?(?:[^"'\n;&|<>()`]*[/\\])?)"""
_QUOTED = r"""(?:'(?:[^']|'"'"')*'|[^\s;&|'"]+)"""  # a word as `shlex.quote` writes it, over several lines too
_WRAP_GUARD = re.compile(rf"\[ -x {_QUOTED} \] \|\| (?:exit 0|exec /bin/sh -c {_QUOTED}); ")
_SHIM = re.compile(rf"""^{_GUARD}(?:exec )?{_FOLDER}snell-hook(?:-[a-z]+)?(?:\.exe|\.cmd|\.sh)?(?:["' ]|$)""")
_CLOSED = re.compile(rb"snell-hook(?:(?!command)[^{}]){0,300}?--fail-closed")


def wishes_closed(data: bytes) -> bool:
    """Does a command of ours in this file refuse what cannot be checked? The file may be of any kind."""
    return bool(_CLOSED.search(data))


def runs_shim(value: Any) -> bool:
    """Is this an entry of ours: a command that is `snell-hook`, however the client nests it?"""
    return any(_SHIM.match(command) for command in commands_in(value))


def wrapping(ours: str, inner: str, test: str = "") -> str:
    """Our command around one that was there before; where `test` finds that ours is gone, that one runs by itself."""
    inside = shlex.quote(inner)
    line = f"{ours} --then {inside}" if inner else ours
    alone = f"exec /bin/sh -c {inside}" if inner else "exit 0"
    return f"{test} || {alone}; {line}" if test else line


def wrapped_command(command: str) -> str | None:
    """The command that one of ours wraps, empty when it wraps none; None when it is not ours at all."""
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
    """Does a whole file run ours and nothing else?"""
    commands = list(commands_in(value))
    return bool(commands) and all(_SHIM.match(command) for command in commands)


def is_our_member(value: Any) -> bool:
    """Is a value under our name ours: hooks that run the shim, a server that is one of our programs, or nothing yet?"""
    if not isinstance(value, Mapping):
        return False
    program = value.get("command", value.get("cmd"))
    program = program[0] if isinstance(program, list) and program else program
    if isinstance(program, str):
        return re.split(r"[/\\]", program)[-1] in ("snell", "snell.exe", "snell-hook", "snell-hook.exe")
    return not value or runs_only_shim(value)


def others_in(value: Any) -> list[str]:
    """The commands that are not ours; an entry without any command counts as one."""
    commands = list(commands_in(value))
    return [each for each in commands if not _SHIM.match(each)] or (
        [] if commands else ["something that is no command"]
    )


def commands_in(value: Any) -> Iterator[str]:
    """Every command of an entry or a file, however deep it stands."""
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
