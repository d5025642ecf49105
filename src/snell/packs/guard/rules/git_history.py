"""
Stop git commands that rewrite or delete history that others use or that the reflog still has.

This covers forced pushes, deleted branches and tags, `filter-branch` and an emptied reflog. `--force-with-lease` is
fine.
"""

import re
from collections.abc import Iterator

from snell.packs.guard.arguments import git_command, parse_arguments
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import Finding, Rule
from snell.packs.guard.shell.shell_state import Step
from snell.packs.guard.triggers import WRITES, Trigger
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="git-history",
    family="git",
    instead="push with `--force-with-lease` to a branch of your own, and delete branches with `-d`",
    flagged=(
        "git push --force",
        "git push --force${x} origin main",
        "git pu${z}sh --force origin main",
        "git push -f origin main",
        "git push origin +main",
        "git push origin --delete main",
        "git branch -D topic",
        "git checkout -B main origin/old",
        "git tag -d v1",
        'git() { command git "$@"; }; git push --force',
        "git reflog expire --expire=now --all",
        "git filter-branch --all",
        "git update-ref -d refs/heads/main",
        "git push --mirror backup",
        "git gc --prune=now",
        "git push origin :main",
        "git push +HEAD",
    ),
    fine=(
        "git push origin main",
        "git push --force-with-lease origin topic",
        "git branch -d done",
        "git tag -l",
        "git tag -d v1.0-rc1",
        "git log --all",
        "git push -u origin topic",
        "git push --force origin gh-pages",
    ),
)


_REPOSITORY = lazy_regex(r"(?:^|/)[^/]*\.git/(?:HEAD$|config$|packed-refs$|refs/|objects/|logs/)")
_OTHERS = {
    "svn": lazy_regex(r"revert\b.*(?:-R|--recursive|--depth)|(?:delete|rm|remove) \S+://"),
    "hg": lazy_regex(
        r"(?:update|up|checkout|co)\b.*(?:-C|--clean)|purge|strip|rollback|revert\b.*--all|"
        "push\b.*(?:-f|--force)"
    ),
    "jj": lazy_regex(r"abandon|restore|op(?:eration)? (?:abandon|restore)|git push\b.*(?:--force|--deleted|--all)"),
    "bfg": lazy_regex(r".*--(?:delete|strip|replace)"),
    "git-filter-repo": lazy_regex(r".*--"),
    "git": lazy_regex(r"lfs prune\b.*(?:-f|--force)"),
}

TRIGGER = Trigger(programs=frozenset(_OTHERS) | {"git", "hub"}, traits=WRITES)


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    if step.program in _OTHERS and _OTHERS[step.program].match(" ".join(step.args)):
        yield RULE.deny(f"`{step.text}` discards history or uncommitted work")
    for path in step.writes:
        if _REPOSITORY.search(path):
            yield RULE.ask(f"it overwrites a file inside the repository's `.git` folder: `{path}`")
    command, words = git_command(step)
    finder = _FINDERS.get(command)
    why = finder(words) if finder and words[-1:] != ["--help"] else ""
    if why:
        yield RULE.deny(why)


# Branches that a build fills and on which no person works.
_GENERATED = lazy_regex(r"^(?!:).*(?:^|[:/+])(?:gh-pages|pages-preview|deploy-preview)$")


# Branches that other people use.
_SHARED = lazy_regex(r"^\+?(?:.*:)?(?:refs/heads/)?(?:main|master|trunk|develop|production|prod|stable)$")


def _push(words: list[str]) -> str:
    given = parse_arguments(words, "-o --push-option --repo --receive-pack --exec")
    if given.has("-n", "--dry-run"):
        return ""
    is_generated = given.operands[1:] and all(map(_GENERATED.search, given.operands[1:]))
    if is_generated and not given.has("-d", "--delete", "--mirror", "--prune"):
        return ""
    if given.has("-f", "--force"):  # it overrides `--force-with-lease`
        return "a forced push overwrites commits that others have"
    if given.has("--mirror", "--prune"):
        return "this push deletes branches of the remote"
    if given.has("-d", "--delete"):
        return "it deletes a branch or tag of the remote"
    return _push_refs(given.operands)


def _push_refs(operands: tuple[str, ...]) -> str:
    """Judge `+main` and `:main`, which mean `--force` and `--delete`."""
    for operand in operands:
        if operand.startswith("+"):
            return f"`{operand}` is a forced push, which overwrites commits that others have"
        if operand.startswith(":") and len(operand) > 1 and operand is not operands[0]:
            return f"`{operand}` deletes a branch of the remote"
    return ""


def _branch(words: list[str]) -> str:
    given = parse_arguments(words, "-u --set-upstream-to --contains --merged --sort --format")
    deletes = given.has("-d", "--delete")
    if given.has("-D") or (deletes and given.has("-f", "--force")):
        return "it deletes a branch even if it is not merged"
    if given.has("-f", "--force", "-M", "-C") and len(given.operands) > 1:
        return "it resets a branch, and commits that only this branch has are lost"
    return ""


_TEMPORARY_TAG = lazy_regex(
    r"(?:^|[\d._/-])(?:rc|alpha|beta|dev|pre|preview|snapshot|test|tmp|temp|wip|nightly)(?:$|[\d._/-])"
)


def _tag(words: list[str]) -> str:
    given = parse_arguments(words, "-m -F -u")
    if given.has("-d", "--delete"):
        return "" if given.operands and all(map(_TEMPORARY_TAG.search, given.operands)) else "it deletes a tag"
    return "it moves a tag that others may use" if given.has("-f", "--force") else ""


def _reflog(words: list[str]) -> str:
    if words[:1] in (["expire"], ["delete"]) and not parse_arguments(words).has("-n", "--dry-run"):
        return f"`git reflog {words[0]}` deletes the records that lost commits are restored from"
    return ""


def _gc(words: list[str]) -> str:
    return (
        "it deletes commits that only the reflog still has"
        if any(re.match(r"--prune=(?:now|all)", word) for word in words)
        else ""
    )


def _prune(words: list[str]) -> str:
    given = parse_arguments(words)
    return "" if given.has("-n", "--dry-run") else "it deletes objects that no branch or tag refers to"


def _rewrites(_words: list[str]) -> str:
    return "it rewrites the whole history"


def _update_ref(words: list[str]) -> str:
    given = parse_arguments(words, "-m")
    if given.has("-d", "--delete", "--stdin"):
        return "it deletes a reference"
    return "it resets a branch" if given.operands[1:] and given.operands[0].startswith("refs/heads/") else ""


def _symbolic_ref(words: list[str]) -> str:
    return "it deletes a reference" if parse_arguments(words).has("-d", "--delete") else ""


def _remote(words: list[str]) -> str:
    return "it removes a remote" if words[:1] in (["remove"], ["rm"]) and words[1:2] == ["origin"] else ""


def _checkout(words: list[str]) -> str:
    """Judge `checkout -B main START`, which resets a branch that other people use."""
    given = parse_arguments(words, "-B -C --force-create -b -c")
    name = given.values.get("-B") or given.values.get("-C") or given.values.get("--force-create", "")
    moves = _SHARED.search(name) and given.operands and given.operands[0] not in (f"origin/{name}", "FETCH_HEAD")
    return "it resets a branch, and commits that only this branch has are lost" if moves else ""


_FINDERS = {
    "checkout": _checkout,
    "switch": _checkout,
    "push": _push,
    "branch": _branch,
    "tag": _tag,
    "reflog": _reflog,
    "gc": _gc,
    "prune": _prune,
    "filter-branch": _rewrites,
    "filter-repo": _rewrites,
    "update-ref": _update_ref,
    "symbolic-ref": _symbolic_ref,
    "remote": _remote,
}
