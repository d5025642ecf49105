"""
Determine from a command line, without running it, what it creates or changes.

The result errs on the safe side: an unknown program counts as one that changes something on this machine.
"""

import os
import shlex
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from snell.shell.arguments import matches_any, sort_words
from snell.shell.nested_commands import (
    MOST_STARTS,
    carries_commands,
    is_code_that_sends,
    lines_in,
    may_have_nested_commands,
)
from snell.shell.programs import program_row
from snell.shell.reader import Command, read
from snell.shell.remote_effects import JUDGED_BY_WORDS, is_known_to_send, remote
from snell.shell.working_folders import MOVES, with_folders
from snell.shell.wrappers import program_of
from snell.shell.written_files import is_file, runs_something, touched_files, writes_files, written_files

Reach = Literal["external", "local", "read_only"]

SHORT = 2_000  # characters of a line that is worth remembering

_TO_THE_NET = ("/dev/tcp/", "/dev/udp/")  # what bash makes of these names
_WRITING = frozenset((">", ">>", ">|", "&>", "&>>", "<>"))
_SCRIPTED = frozenset(("sed", "awk", "gawk", "mawk", "nawk"))


class Effects(Struct, frozen=True):
    """What a line reaches, and the paths that it names as created or changed."""

    reach: Reach = "read_only"
    paths: tuple[str, ...] = ()
    why: tuple[str, ...] = ()  # the commands that are the reason


def effects_of(line: str) -> Effects:
    """Read the line. What cannot be read with certainty is taken to change something near."""
    return _remembered(line) if len(line) <= SHORT else _effects(line)


def _effects(line: str) -> Effects:
    known = read(line)
    reach: Reach = "read_only" if known.understood and not known.dynamic else "local"
    paths: dict[str, None] = {}
    why: dict[str, None] = {}
    folders: dict[int, str | None] | None = None
    for command in known.commands:
        inner = command.inner_command
        program = inner.program
        own = [*_redirect_targets(inner)] if inner.redirects else []
        if not own and inner.literal[:1] == (True,) and _only_looks(program):
            continue
        own += _named_files(program, inner.arguments)
        found = _reach(inner, program, own)
        if own and folders is None:
            moves = any(each.program in MOVES for each in known.commands)
            folders = {id(each): folder for each, folder in with_folders(known, "")} if moves else {}
        for path in filter(None, own):
            paths[_in_folder(path, folders.get(id(command)) if folders else None)] = None
        if found != "read_only":
            why[program or ">"] = None
            reach = max(reach, found, key=_ORDER.index)
    return Effects(reach, tuple(paths), tuple(why))


_remembered = lru_cache(maxsize=512)(_effects)  # a call comes twice, before and after; many come again

_ORDER: tuple[Reach, ...] = ("read_only", "local", "external")


@lru_cache(maxsize=1024)
def _only_looks(program: str) -> bool:
    """Tell whether the program changes nothing with any words."""
    row = program_row(program)
    sends = row.sends or row.sends_tasks or row.remote or row.changes_by_verb or row.statements
    return "" in row.looks and not (sends or row.touches or writes_files(program) or program in JUDGED_BY_WORDS)


def _in_folder(path: str, folder: str | None) -> str:
    """Return a path from the folder of the line, for a command behind a `cd`; as it is if the folder is not known."""
    return os.path.normpath(os.path.join(folder, path)) if folder and path[:1] not in ("~", "$") else path


def _redirect_targets(command: Command) -> Iterator[str]:
    """Return the files that the command's output goes to; copies of descriptors and the null device are left out."""
    for redirect in command.redirects:
        is_copy = (redirect.operator in (">&", "<&") and redirect.target.strip("-").isdigit()) or redirect.target == "-"
        writes = redirect.operator in _WRITING or (redirect.operator == ">&" and not is_copy)
        if writes and is_file(redirect.target):
            yield redirect.target


def _named_files(program: str, words: tuple[str, ...]) -> list[str]:
    if program in ("ln", "install") and len(words) == 1:
        return list(words)
    return [*written_files(program, words), *touched_files(program, words)]


def _reach(command: Command, program: str, paths: Sequence[str]) -> Reach:
    """Return how far this command reaches; `paths` are what it is known to change."""
    if any(path.startswith(_TO_THE_NET) for path in paths):
        return "external"
    if not command.words:
        return "local" if paths else "read_only"
    if not command.literal[0]:
        return "local"
    row, given = program_row(program), sort_words(program, command.arguments, "")
    far = remote(program, given)
    is_for_here = bool(row.looks) and not (row.sends or row.remote)
    has_no_command = is_for_here or row.writes or row.touches or row.no_command
    if far == "sends" or (not has_no_command and _carries_away(command)):
        return "external"
    if paths:
        return "local"
    if far == "looks":
        return "read_only"
    if program in _SCRIPTED and runs_something(program, given):
        return "local"
    return "read_only" if matches_any(given, row.looks) else _handed_on(command)


def _carries_away(command: Command) -> bool:
    """Return whether words behind an unknown program look like a command that sends."""
    program, words = command.program, command.words
    if is_code_that_sends(command) or any(effects_of(line).reach == "external" for line in lines_in(command)):
        return True
    is_certain = carries_commands(program)
    for at, word in enumerate(words[1:MOST_STARTS] if may_have_nested_commands(command) else (), 1):
        name = program_of(word).partition("@")[0]
        if is_known_to_send(name, is_certain) and remote(name, sort_words(name, words[at + 1 :], "")) == "sends":
            return True
    return False


def _handed_on(command: Command) -> Reach:
    """Return how far `fd -x PROGRAM ...` reaches: as far as that program, and at least `local`."""
    words = command.arguments
    starts = [index for index, word in enumerate(words) if word in ("-x", "-X", "--exec", "--exec-batch")]
    inner = effects_of(shlex.join(words[starts[0] + 1 :])).reach if starts and command.program == "fd" else "local"
    return max(inner, "local", key=_ORDER.index)
