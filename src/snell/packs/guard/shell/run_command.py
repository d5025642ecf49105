"""What running one command means: peel wrappers off, follow shells into their code, and say what it prints."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

from msgspec.structs import replace

from snell.packs.guard.known_values import Value
from snell.packs.guard.sensitive_files import LONGEST_PATTERN
from snell.packs.guard.shell import builtins, compilers, embedded_commands, interpreters, program_output, wrappers
from snell.packs.guard.shell.shell_state import ShellState, program_of

if TYPE_CHECKING:
    from snell.packs.guard.shell.walk import Call, Walk


def perform(walk: Walk, call: Call, scene: ShellState) -> Value:
    """Run one command: the first that knows it performs it; the rest are plain programs."""
    call = _resolve_pattern(call)
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


def _resolve_pattern(call: Call) -> Call:
    """`/bin/r?` names the program that the pattern finds."""
    text = call.words[0].text
    name = text.rpartition("/")[2]
    if not 2 <= len(name) < LONGEST_PATTERN or not any(mark in name for mark in "*?[") or name in ("[", "[["):
        return call
    meant = next((known for known in _MEANT if fnmatch.fnmatchcase(known, name)), "")
    return replace(call, words=(Value(meant, call.words[0].labels), *call.words[1:])) if meant else call
