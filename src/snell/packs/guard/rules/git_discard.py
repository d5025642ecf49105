"""
Stop git commands that throw away uncommitted work.

This covers `git reset --hard`, `git clean -f`, `git checkout -- file`, `git restore file`, `git switch -f` and
`git stash drop`.
"""

import itertools
from collections.abc import Iterator

from snell.packs.guard.arguments import git_command, parse_arguments
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import Finding, Rule
from snell.packs.guard.shell.shell_state import Step
from snell.packs.guard.triggers import Trigger
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="git-discard",
    family="git",
    instead="keep the work first: `git stash push -u`, or commit it on a branch",
    flagged=(
        "git reset --hard HEAD~1",
        "git clean -fdx",
        "git checkout -- .",
        "git restore src/a.py",
        "git switch -f main",
        "git stash drop",
        "git -C sub reset --hard",
        "git checkout HEAD -- a b",
        "git checkout .",
        "git worktree remove --force ../wt",
    ),
    fine=(
        "git reset --soft HEAD~1",
        "git clean -n",
        "git checkout -b topic",
        "git restore --staged .",
        "git stash pop",
        "git commit -m 'reset --hard'",
    ),
)

_PATHS = lazy_regex(r"\.(?!x$)[a-z]{1,5}$|^\.{1,2}/?$|^\./|\*|^:/|/$")

TRIGGER = Trigger(programs=frozenset(("git", "hub")))


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    command, words = git_command(step)
    finder = _FINDERS.get(command)
    why = finder(words) if finder and "--help" not in words[-1:] else ""
    if why:
        yield RULE.deny(why)


def _reset(words: list[str]) -> str:
    for mode in ("--hard", "--merge", "--keep"):
        if any(len(word) > 2 and mode.startswith(word.lower()) for word in words if word.startswith("--")):
            return f"`git reset {mode}` discards uncommitted changes"
    return ""


def _clean(words: list[str]) -> str:
    given = parse_arguments(words, "-e --exclude")
    if given.has("-n", "--dry-run", "-i", "--interactive"):
        return ""
    return "`git clean` deletes untracked files, which git cannot restore" if given.has("-f", "--force") else ""


def _checkout(words: list[str]) -> str:
    given = parse_arguments(words, "-b -B --orphan --conflict")
    if given.has("-p", "--patch"):
        return ""
    if given.has("-f", "--force"):
        return "`git checkout --force` discards uncommitted changes"
    creates = given.has("-b", "-B", "--orphan")
    if given.has("--pathspec-from-file"):
        return "`git checkout` of paths discards uncommitted changes"
    if "--" in words and words[-1] != "--":
        return "`git checkout -- paths` discards uncommitted changes"
    tracked = next((after for word, after in itertools.pairwise(words) if word in ("--track", "-t")), "")
    operands = [
        word for word in given.operands if word != "-" and not (word == tracked and word in ("direct", "inherit"))
    ]
    is_path = len(operands) > 1 or (len(operands) == 1 and _PATHS.search(operands[0]) is not None)
    if not creates and is_path and not (len(operands) < 2 and given.has("--detach", "--track", "-t")):
        return "`git checkout` of paths discards uncommitted changes"
    return ""


def _restore(words: list[str]) -> str:
    given = parse_arguments(words, "-s --source --pathspec-from-file")
    staged = given.has("--staged", "-S") and not given.has("--worktree", "-W")
    if staged or given.has("-p", "--patch"):
        return ""
    if given.operands or given.has("--pathspec-from-file"):
        return "`git restore` discards uncommitted changes"
    return ""


def _switch(words: list[str]) -> str:
    given = parse_arguments(words, "-c -C --create --force-create --orphan --conflict")
    if given.has("-f", "--force", "--discard-changes"):
        return "`git switch --force` discards uncommitted changes"
    return ""


def _stash(words: list[str]) -> str:
    if words[:1] in (["drop"], ["clear"]):
        return f"`git stash {words[0]}` deletes stashed work"
    return ""


def _worktree(words: list[str]) -> str:
    if words[:1] == ["remove"] and parse_arguments(words[1:]).has("-f", "--force"):
        return "`git worktree remove --force` deletes a work tree with its uncommitted changes"
    return ""


def _submodule(words: list[str]) -> str:
    if words[:1] in (["deinit"], ["update"]) and parse_arguments(words[1:]).has("-f", "--force"):
        return "`git submodule` with `--force` discards changes in the submodule"
    return ""


def _index(words: list[str]) -> str:
    given = parse_arguments(words)
    return "`git checkout-index -f` discards uncommitted changes" if given.has("-f", "--force") else ""


def _read_tree(words: list[str]) -> str:
    return "`git read-tree --reset -u` discards uncommitted changes" if "--reset" in words and "-u" in words else ""


def _rm(words: list[str]) -> str:
    given = parse_arguments(words)
    if given.has("--cached", "-n", "--dry-run"):
        return ""
    whole = [word for word in given.operands if word in (".", "*", "./", "/", ":/")]
    if whole and given.has("-r", "-f"):
        return f"`git rm` deletes `{whole[0]}`"
    return "`git rm --force` deletes files with their uncommitted changes" if given.has("-f", "--force") else ""


_FINDERS = {
    "reset": _reset,
    "clean": _clean,
    "checkout": _checkout,
    "restore": _restore,
    "switch": _switch,
    "stash": _stash,
    "worktree": _worktree,
    "submodule": _submodule,
    "checkout-index": _index,
    "read-tree": _read_tree,
    "rm": _rm,
}
