"""What running one command means: peel wrappers off, follow shells into their code, and say what it prints."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from snell.packs.guard.sensitive_files import LONGEST_PATTERN, is_own, is_private, secret_folder, secret_in
from snell.packs.guard.shell.known_values import NETWORK, PRIVATE, PROCESS, SECRET, SOMETHING, UNKNOWN, Value
from snell.packs.guard.shell.shell_state import HERE, ShellState
from snell.packs.guard.shell.symlinks import leads_to

if TYPE_CHECKING:
    from snell.packs.guard.shell.walk import Call, Walk

Performer = Callable[["Walk", "Call", ShellState], Value | None]


def program_of(word: str) -> str:
    """The program that a command word names, in lower case: some file systems do not tell the difference."""
    name = word.rpartition("/")[2].lower()
    return name.removesuffix(".exe").removesuffix(".traditional").removesuffix(".openbsd")


def file_value(path: str, scene: ShellState) -> Value:
    """What reading this file yields."""
    secret = secret_in(path, scene.home) or secret_in(_led_to(path, scene), scene.home)
    if secret:
        return Value(UNKNOWN, frozenset((f"{SECRET} {secret}",)))
    if secret_folder(path) or secret_folder(path.rpartition("/")[0]):
        return Value(UNKNOWN, frozenset((f"{SECRET} {path}",)))
    if is_own(path) or path.startswith(scene.guarded):
        return Value(UNKNOWN, frozenset((f"{PROCESS} snell",)))
    if is_private(path):
        return Value(UNKNOWN, frozenset((f"{PRIVATE} {path}",)))
    if path.startswith(("/dev/tcp/", "/dev/udp/")):
        return Value(UNKNOWN, frozenset((NETWORK,)))
    return SOMETHING


def _led_to(path: str, scene: ShellState) -> str:
    return leads_to(path, scene.links, scene.home, scene.project) if scene.where == HERE else path


def perform(walk: Walk, call: Call, scene: ShellState) -> Value:
    """Run one command: the first that knows it performs it; the rest are plain programs."""
    from snell.packs.guard.shell import builtins, compilers, embedded_commands, interpreters, program_output, wrappers

    call = _named(call)
    program = program_of(call.words[0].text)
    if "=" in program and len(call.words) > 1:
        return walk.call(replace(call, words=call.words[1:]), scene)
    embedded_commands.look_inside(walk, call, scene)
    if scene.files:
        output = interpreters.run_file(walk, call, scene)
        if output is not None:
            return output
    if program[-1:].isdigit() and interpreters.is_versioned(program):
        return interpreters.run_versioned(walk, call, scene)
    for table in (
        builtins.PERFORMERS,
        wrappers.PERFORMERS,
        interpreters.PERFORMERS,
        embedded_commands.PERFORMERS,
        compilers.PERFORMERS,
    ):
        performer = table.get(program)
        if performer is not None:
            output = performer(walk, call, scene)
            if output is not None:
                return output
    printed = program_output.output_of(program, call, scene)
    program_output.leave_files(program, call, scene, printed)
    walk.record(call, scene, printed)
    return printed


# Programs that a pattern in the place of a command name is likely to mean.
_MEANT = ("rm", "dd", "mv", "sh", "bash", "cat", "chmod", "chown", "curl", "wget", "nc", "shred", "mkfs", "git", "find")


def _named(call: Call) -> Call:
    """`/bin/r?` names the program that the pattern finds."""
    text = call.words[0].text
    name = text.rpartition("/")[2]
    if not 2 <= len(name) < LONGEST_PATTERN or not any(mark in name for mark in "*?[") or name in ("[", "[["):
        return call
    meant = next((known for known in _MEANT if fnmatch.fnmatchcase(known, name)), "")
    return replace(call, words=(Value(meant, call.words[0].labels), *call.words[1:])) if meant else call
