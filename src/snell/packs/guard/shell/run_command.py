"""Run one command of the walk: remove wrappers, follow shells into their code, and return what it prints."""

import fnmatch
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec

from msgspec.structs import replace

from snell.packs.guard.known_values import Value
from snell.packs.guard.sensitive_files import LONGEST_PATTERN
from snell.packs.guard.shell import (
    builtins,
    compilers,
    embedded_commands,
    interpreters,
    program_output,
    remote_commands,
    repeated_commands,
    wrappers,
)
from snell.packs.guard.shell.build_recipes import RECIPE_READERS
from snell.packs.guard.shell.shell_state import LONGEST_NAME, Call, Performer, ShellState, Walk, program_of, text_of
from snell.shell.programs import UNKNOWN_PROGRAM, program_row
from snell.system.lazy_regex import lazy_regex


def perform(walk: Walk, call: Call, scene: ShellState) -> Value:
    """Run one command: the first that knows it performs it; the rest are plain programs."""
    call = _resolve_pattern(call) if _PATTERN.search(call.words[0].text) else call
    name = call.words[0].text
    program = program_of(name)
    if "=" in program and len(call.words) > 1:
        return walk.call(replace(call, words=call.words[1:]), scene)
    row = program_row(program[:LONGEST_NAME])
    if call.env or row.stdin_code or row.shell_code or row.language_code:
        embedded_commands.look_inside(walk, call, scene, row)
    reads_recipes = program in RECIPE_READERS or program.startswith("python")
    if scene.files or "/" in name or (call.stdin is not None and reads_recipes):
        output = interpreters.run_file(walk, call, scene)
        if output is not None:
            return output
    for perform_program in _performers(program[:LONGEST_NAME]):
        output = perform_program(walk, call, scene)
        if output is not None:
            return output
    if row is UNKNOWN_PROGRAM:
        wrappers.judge_tail(walk, call, scene)
    args = [*map(text_of, call.words[1:])]
    printed = program_output.output_of(program, args, call, scene)
    program_output.leave_files(program, args, call, scene, printed)
    walk.record(call, scene, printed)
    return printed


# Input of programs other than their arguments; the guard works without this folder.
_FOLDER = "snell.packs.guard.indirect_input"
_NAMES = ("options", "plans", "files", "variables") if find_spec(_FOLDER) else ()
_INDIRECT = [import_module(f"{_FOLDER}.{name}").PERFORMERS for name in _NAMES]
_OTHERS = (embedded_commands.EVALUATORS, builtins.PERFORMERS, repeated_commands.PERFORMERS)
_FIRST = (*_INDIRECT, *_OTHERS, remote_commands.PERFORMERS)
_LAST = (interpreters.PERFORMERS, embedded_commands.PERFORMERS, compilers.PERFORMERS)


@lru_cache(maxsize=512)
def _performers(program: str) -> tuple[Performer, ...]:
    """Return what may perform a program, in the order in which it is tried."""
    if program[-1:].isdigit() and interpreters.is_versioned(program):
        return (interpreters.run_language,)
    first = [table[program] for table in _FIRST if program in table]
    row = program_row(program)
    unwrap = [wrappers.unwrap] if row.wraps or row.code or row.lines or row.same_as else []
    return (*first, *unwrap, *(table[program] for table in _LAST if program in table))


_PATTERN = lazy_regex(r"[*?\[]")
# Programs that a pattern in the place of a command name is likely to mean.
_MEANT = ("rm", "dd", "mv", "sh", "bash", "cat", "chmod", "chown", "curl", "wget", "nc", "shred", "mkfs", "git", "find")


def _resolve_pattern(call: Call) -> Call:
    """Return the call with the program that a pattern in place of its name finds: `/bin/r?`."""
    name = call.words[0].text.rpartition("/")[2]
    if not 2 <= len(name) < LONGEST_PATTERN or name == "[[":
        return call
    meant = next((known for known in _MEANT if fnmatch.fnmatchcase(known, name)), "")
    return replace(call, words=(Value(meant, call.words[0].labels), *call.words[1:])) if meant else call
