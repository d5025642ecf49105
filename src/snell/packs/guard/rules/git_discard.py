"""
Stop git commands that throw away uncommitted work.

This covers `git reset --hard`, `git clean -f`, `git checkout -- file`, `git restore file`, `git switch -f` and
`git stash drop`. Giving back files that the session itself wrote is asked about.
"""

from collections.abc import Iterator

from snell.packs.guard.path_classes import Workspace, is_build_output
from snell.packs.guard.reading_programs import git_command
from snell.packs.guard.rule import Finding, Rule, Trigger, only_asks
from snell.packs.guard.shell.shell_state import Step
from snell.shell.arguments import arguments_of, matches_any
from snell.shell.programs import program_row
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="git-discard", family="git", instead="keep the work first: `git stash push -u`, or commit it on a branch"
)

_PATHS = lazy_regex(r"\.(?!x$)[a-z]{1,5}$|^\.{1,2}/?$|^\./|\*|^:/|/$")

TRIGGER = Trigger(rows=("discards",))


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    command, words = git_command(step)
    if only_asks(step) or _is_rebuilt(command, words):
        return
    given = arguments_of("git", (command, *words))
    if matches_any(given, program_row("git").discards) or (command == "checkout" and _checks_out_paths(words)):
        verdict = RULE.ask if _names_own_files(command, words, workspace) else RULE.deny
        yield verdict(f"`{step.text[:80]}` discards uncommitted work")


_LOCK_FILE = lazy_regex(r"(?:^|/)(?:package-lock\.json|pnpm-lock\.yaml|npm-shrinkwrap\.json|go\.sum|[\w.-]+\.lock)$")


def _is_rebuilt(command: str, words: list[str]) -> bool:
    """Tell whether the command only names what a build or a package manager makes again."""
    names = words[words.index("--") + 1 :] if "--" in words else arguments_of(f"git {command}", words).operands
    if not names or (command == "checkout" and "--" not in words):
        return False
    return command in ("checkout", "restore", "clean") and all(
        is_build_output(name) or _LOCK_FILE.search(name) for name in names
    )


def _names_own_files(command: str, words: list[str], workspace: Workspace) -> bool:
    """Tell whether the command only gives back files that this session wrote: mostly its own work is lost."""
    given = arguments_of(f"git {command}", words)
    names = words[words.index("--") + 1 :] if "--" in words else given.operands
    is_plain = command in ("checkout", "restore") and not given.has("-f", "--force", "--pathspec-from-file")
    return is_plain and bool(names) and all(workspace.absolute(name) in workspace.written for name in names)


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
