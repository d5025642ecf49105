"""Determine the folder in which each command of a line runs, from its `cd`s."""

import os
import re
from collections.abc import Iterator

from snell.shell.reader import Command, CommandLine
from snell.system.lazy_regex import lazy_regex

MOVES = ("cd", "pushd", "popd")
_JOINTS = lazy_regex(r"(?:[\s;&|(){}!]|then|else|do|done|fi|if|while|until)*")
_ELSEWHERE = ("-C", "--chdir", "-D")  # with these `env` and `sudo` run a command in another folder

_FOUND = {"-execdir", "-okdir"}

Stack = list[str | None]


def with_folders(line: CommandLine, cwd: str) -> Iterator[tuple[Command, str | None]]:
    """Yield the commands that are not `cd`, each with its folder; None, or nothing, if that is unknown."""
    has_inner_moves = any(command.depth and command.program in MOVES for command in line.commands)
    is_scoped = has_inner_moves and _is_flat(line)
    scopes: list[Stack] = [[cwd]]
    end = 0
    move: Command | None = None
    for command in line.commands:
        if command.depth and has_inner_moves and not is_scoped:
            continue  # the scope of a `cd` in there is hard to determine
        joint = line.line[end : command.start] if end <= command.start else ""
        if is_scoped:
            _update_scopes(joint, scopes)
        runs_on_failure = move is not None and _runs_on_failure(joint, scopes[-1])
        end, move = max(end, command.end), command if command.program in MOVES else None
        if move:
            _move(move, scopes[-1])
        elif not runs_on_failure and not _runs_elsewhere(command, line):
            yield command, scopes[-1][-1]


def _is_flat(line: CommandLine) -> bool:
    """Whether the commands follow each other, with nothing but operators between them."""
    edges = [0, *(edge for command in line.commands for edge in (command.start, command.end)), len(line.line)]
    if edges != sorted(edges) or any(command.embedded for command in line.commands):
        return False
    gaps = (line.line[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    return all(_JOINTS.fullmatch(gap) for gap in gaps)


def _update_scopes(joint: str, scopes: list[Stack]) -> None:
    """Open and close scopes: a `cd` in parentheses is limited to them."""
    for bracket in re.findall(r"[()]", joint):
        if bracket == "(":
            scopes.append(list(scopes[-1]))
        elif len(scopes) > 1:
            scopes.pop()


def _runs_on_failure(joint: str, stack: Stack) -> bool:
    """Whether what follows a `cd` runs if that failed. In a pipe or in the background a `cd` has no effect outside."""
    words = re.findall(r"&&|\|\||[|&]", joint)
    if words[:1] in (["|"], ["&"]):
        stack[-1] = None
    return words[:1] == ["||"]


def _move(command: Command, stack: Stack) -> None:
    if command.program == "popd" and len(command.words) == 1 and len(stack) > 1:
        stack.pop()
        return
    known = len(command.words) == 2 and all(command.literal) and command.words[1] != "-"
    folder = os.path.expanduser(command.words[1]) if known and command.program != "popd" else None
    here = stack[-1]
    there = None if folder is None or here is None else os.path.normpath(os.path.join(here, folder))
    if command.program == "pushd":
        stack.append(there)
    else:
        stack[-1] = there


def _runs_elsewhere(command: Command, line: CommandLine) -> bool:
    """Whether a wrapper of a command, or the `find` that runs it, changes its folder."""
    wrapping = command.words[: len(command.words) - len(command.inner_command.words)]
    finds = (each for each in line.commands if command.depth and "find" in (each.program, each.inner_command.program))
    is_found = any(each.start < command.start and command.end <= each.end and _FOUND & {*each.words} for each in finds)
    return is_found or any(word.startswith(_ELSEWHERE) for word in wrapping)
