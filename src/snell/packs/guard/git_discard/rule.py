"""
Stop git commands that throw away uncommitted work.

This covers `git reset --hard`, `git clean -f`, `git checkout -- file`, `git restore file`, `git switch -f` and
`git stash drop`. It may take back what no user loses: a file that has no changes when the command begins, or only those
that the session itself made since (a session's changes of files that others changed as well are asked about), and what
is in a temporary folder, which may be deleted as a whole. Content that the same line fetches from a stash or moves into
a file is not the session's own. Which side of a merge to take may be chosen while no user has settled it.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from snell.packs.guard.edited_text import text_on_disk
from snell.packs.guard.file_lookups import absolute_path, mark_unrepeatable
from snell.packs.guard.git_discard.changes import CHANGES, NO_FILE, is_own_change
from snell.packs.guard.git_discard.uncommitted import UNMERGED, UNTRACKED, uncommitted_files
from snell.packs.guard.known_values import UNKNOWN
from snell.packs.guard.path_classes import TEMP, Workspace, classify_path, is_build_output
from snell.packs.guard.reading_programs import git_command
from snell.packs.guard.rule import Finding, Rule, Trigger, only_asks
from snell.packs.guard.shell.shell_state import HERE, Step
from snell.shell.arguments import arguments_of, matches_any
from snell.shell.programs import program_row
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="git-discard",
    family="git",
    instead="keep the work first: `git stash push -u`, or commit it on a branch",
    about=" ".join((__doc__ or "").split()),
)

_PATHS = lazy_regex(r"\.(?!x$)[a-z]{1,5}$|^\.{1,2}/?$|^\./|\*|^:/|/$")

TRIGGER = Trigger(rows=("discards",))
WRITTEN = "guard/files"  # of the session, as `session_state` notes them


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    command, words = git_command(step)
    if only_asks(step) or _is_rebuilt(command, words):
        return
    given = arguments_of("git", (command, *words))
    if matches_any(given, program_row("git").discards) or (command == "checkout" and _checks_out_paths(words)):
        discard = _discard(step, command, words)
        if discard and _loses_nothing(discard, workspace):
            return
        names = {absolute_path(name, discard.folder) for name in discard.names} if discard else set()
        is_own = bool(names) and names <= _notes_of(WRITTEN, workspace).keys() | _notes_of(CHANGES, workspace).keys()
        verdict = RULE.ask if is_own else RULE.deny
        yield verdict(f"`{step.text[:80]}` discards uncommitted work")


class _Discard(Struct, frozen=True):
    """What a command discards: the changes of files in a folder, or those of complete trees."""

    folder: str
    names: tuple[str, ...] = ()
    untracked: bool = False
    takes_side: bool = False  # of a merge


def _discard(step: Step, command: str, words: list[str]) -> _Discard | None:
    """Return what the command discards; None if that is not one place, or only known at run time."""
    before = step.args[: step.args.index(command)] if command in step.args else ("-c",)
    is_moved = before[:1] not in ((), ("-C",)) or len(before) > 2 or any(name[:4] == "GIT_" for name, _ in step.env)
    folder = absolute_path(before[-1] if before else ".", step.cwd)
    given = arguments_of(f"git {command}", words)
    if step.where != HERE or is_moved or UNKNOWN in folder or given.has("--pathspec-from-file"):
        return None
    if command == "worktree":
        place = absolute_path("".join(given.operands[1:]), folder)
        return _Discard(place, untracked=True) if len(given.operands) == 2 and UNKNOWN not in place else None
    if command == "clean":  # git does not list what is ignored
        return None if given.has("-x", "-X") else _Discard(folder, given.operands, untracked=True)
    if command == "reset" or given.has("-f", "--force", "--discard-changes"):
        is_same = given.operands in ((), ("HEAD",))
        return _Discard(folder, untracked=not is_same) if command != "reset" or is_same else None
    return _named_files(folder, command, words) if command in ("checkout", "restore") else None


def _named_files(folder: str, command: str, words: list[str]) -> _Discard:
    """Return the files that `git checkout` or `git restore` brings back, and perhaps from another commit."""
    at = words.index("--") if "--" in words else len(words)
    given = arguments_of(f"git {command}", words[:at])
    names = words[at + 1 :] or list(given.operands)
    from_commit = bool(given.value("-s", "--source") or (words[at + 1 :] and given.operands))
    if command == "checkout" and at == len(words) and len(names) > 1 and not os.path.lexists(f"{folder}/{names[0]}"):
        names, from_commit = names[1:], True
    if UNKNOWN in "".join(names):
        return _Discard(folder, untracked=True)
    return _Discard(folder, tuple(names), untracked=from_commit, takes_side=given.has("--ours", "--theirs"))


def _notes_of(what: str, workspace: Workspace) -> Mapping[str, Any]:
    kept = workspace.look_up(what)
    return kept if isinstance(kept, Mapping) else {}


_LIMIT = 1.0  # seconds for each of git's answers; few commands discard anything


def _loses_nothing(discard: _Discard, workspace: Workspace) -> bool:
    if any(_brings_work(step, discard.folder) for step in workspace.steps):
        return False
    mark_unrepeatable()
    found = uncommitted_files(discard.folder, discard.names or (":/",), _LIMIT)
    changes = _notes_of(CHANGES, workspace)
    lost = [path for path, committed in (found or {}).items() if _is_lost(path, committed, discard, changes)]
    return found is not None and all(classify_path(path, workspace) == TEMP for path in lost)


def _brings_work(step: Step, folder: str) -> bool:
    """Tell whether a step of the same line puts work into the folder that is nowhere else afterwards."""
    if step.program == "git":
        return "stash" in step.args
    return step.program == "mv" and absolute_path("".join(step.args[-1:]), step.cwd).startswith(folder)


def _is_lost(path: str, committed: str, discard: _Discard, changes: Mapping[str, Any]) -> bool:
    if committed == UNMERGED:
        return not (discard.takes_side and "\n>>>>>>> " in text_on_disk(path))
    if committed == UNTRACKED:
        return discard.untracked and not is_own_change(path, NO_FILE, changes)
    return not is_own_change(path, committed, changes)


_LOCK_FILE = lazy_regex(r"(?:^|/)(?:package-lock\.json|pnpm-lock\.yaml|npm-shrinkwrap\.json|go\.sum|[\w.-]+\.lock)$")


def _is_rebuilt(command: str, words: list[str]) -> bool:
    """Tell whether the command only names what a build or a package manager makes again."""
    names = words[words.index("--") + 1 :] if "--" in words else arguments_of(f"git {command}", words).operands
    if not names or (command == "checkout" and "--" not in words):
        return False
    return command in ("checkout", "restore", "clean") and all(
        is_build_output(name) or _LOCK_FILE.search(name) for name in names
    )


def _checks_out_paths(words: list[str]) -> bool:
    given = arguments_of("git checkout", words)
    if given.has("-p", "--patch"):
        return False
    if "--" in words and words[-1] != "--":
        return True
    tracked = given.value("-t", "--track")
    operands = [word for word in given.operands if word != "-" and word not in ("direct", "inherit")]
    if len(operands) > 1:
        return not given.has("-b", "-B", "--orphan")
    follows = given.has("-b", "-B", "--orphan", "--detach", "--track", "-t") or bool(tracked)
    return bool(operands) and not follows and _PATHS.search(operands[0]) is not None
