"""
Stop git commands that rewrite or delete history that others use or that the reflog still has.

This covers forced pushes, deleted branches and tags, `filter-branch` and an emptied reflog. `--force-with-lease` is
fine.
"""

from collections.abc import Iterator

from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.reading_programs import git_command
from snell.packs.guard.rule import WRITES_APART, Finding, Rule, Trigger, given_to, only_asks
from snell.packs.guard.shell.shell_state import Step
from snell.shell.arguments import Arguments, arguments_of, matches_any
from snell.shell.programs import program_row
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="git-history",
    family="git",
    instead="push with `--force-with-lease` to a branch of your own, and delete branches with `-d`",
)

_REPOSITORY = lazy_regex(r"(?:^|/)[^/]*\.git/(?:HEAD$|config$|packed-refs$|refs/|objects/|logs/)")
# Branches that a build fills and on which no person works.
_GENERATED = lazy_regex(r"^(?!:).*(?:^|[:/+])(?:gh-pages|pages-preview|deploy-preview)$")
# Branches that other people use.
_SHARED = lazy_regex(r"^\+?(?:.*:)?(?:refs/heads/)?(?:main|master|trunk|develop|production|prod|stable)$")
_TEMPORARY_TAG = lazy_regex(
    r"(?:^|[\d._/-])(?:rc|alpha|beta|dev|pre|preview|snapshot|test|tmp|temp|wip|nightly)(?:$|[\d._/-])"
)

TRIGGER = Trigger(rows=("loses_history",), traits=WRITES_APART)


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    for path in step.writes:
        if _REPOSITORY.search(path):
            yield RULE.ask(f"it overwrites a file inside the repository's `.git` folder: `{path}`")
    row = program_row(step.program)
    if not row.loses_history or only_asks(step):
        return
    command, words = git_command(step)
    given = arguments_of(f"git {command}", words)
    if _moves_shared_branch(command, given):
        yield RULE.deny("it resets a branch, and commits that only this branch has are lost")
    elif matches_any(given_to(step), row.loses_history) and not _is_own(command, given):
        yield RULE.deny(f"`{step.text[:80]}` deletes or replaces history that others may use")
    elif command == "push":
        yield from _other_push(step, given, workspace)


def _other_push(step: Step, given: Arguments, workspace: Workspace) -> Iterator[Finding]:
    """Judge a push that does not say itself that it replaces history."""
    deploys = program_row(step.program).deploys
    if any(".push=+" in arg for arg in step.args):
        yield RULE.deny("it pushes with a setting that replaces history")
    elif workspace.snell_paths.asks_to_publish and matches_any(given_to(step), deploys):
        yield RULE.ask("it pushes to a remote that runs what it gets")
    elif given.has("--no-verify"):
        yield RULE.ask("it pushes without the checks that the repository has before a push")


def _is_own(command: str, given: Arguments) -> bool:
    """Tell whether no person works with it: a branch that a build fills, a tag for one test."""
    if command == "push" and not given.has("-d", "--delete", "--mirror", "--prune"):
        names = {name for name, _value in given.options}
        is_leased = "--force-with-lease" in names and not {"-f", "--force"} & names
        is_leased = is_leased and not any(map(_SHARED.search, given.operands[1:]))
        return bool(given.operands[1:]) and (is_leased or all(map(_GENERATED.search, given.operands[1:])))
    is_deleted_tag = command == "tag" and given.has("-d", "--delete") and bool(given.operands)
    return is_deleted_tag and all(map(_TEMPORARY_TAG.search, given.operands))


def _moves_shared_branch(command: str, given: Arguments) -> bool:
    """Tell whether `checkout -B main START` resets a branch that other people use."""
    name = given.value("-B", "-C", "--force-create") if command in ("checkout", "switch") else ""
    own = (f"origin/{name}", "FETCH_HEAD")
    return _SHARED.search(name) is not None and bool(given.operands) and given.operands[0] not in own
