"""
Deleting folders that nothing makes again.

`rm -r` and its relatives on the disk, the system, a home folder, the whole project, its `.git`, or any place outside
the project. Build output, dependencies and temporary files may be deleted; a folder whose name is not known until run
time is asked about.
"""

import re
from collections.abc import Iterator

from snell.packs.guard.arguments import parse_arguments
from snell.packs.guard.git_index import is_tracked
from snell.packs.guard.known_values import MOVED, UNKNOWN, is_unset_variable
from snell.packs.guard.path_classes import (
    ABOVE,
    BUILD,
    DEVICE,
    GIT,
    HOME,
    HOME_PART,
    OUTSIDE,
    PROJECT,
    PROJECT_ROOT,
    ROOT,
    SOURCES,
    SYSTEM,
    TEMP,
    TEMP_ROOT,
    UNKNOWN_PLACE,
    Workspace,
    classify_path,
    is_leftover_name,
    is_rebuilt_name,
)
from snell.packs.guard.rule import Finding, Rule
from snell.packs.guard.sensitive_files import is_startup_file
from snell.packs.guard.shell.shell_state import CONTAINER, HERE, Step
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="delete-tree",
    family="files",
    instead="name the exact folder inside the project, or move it aside first",
    flagged=(
        "rm -rf /",
        "rm -rf ~",
        "cd / && rm -rf *",
        "rm -rf ../..",
        'rm -rf "$DIR"',
        "r${z}m -rf ~",
        "rm -r${x}f ~",
        "rm $OPTS /home/dev",
        'rm() { command rm "$@"; }; rm -rf ~',
        'rm() { env rm "$@" | cat; }; rm -rf ~',
        "rm -rf .git",
        "rm -rf /var/lib/x",
        "mv ~/work /tmp && rm -rf /tmp/work",
        "rm ~/Documents/*",
        "rm /mnt/backup/*",
        "npm exec -- rm -rf /home/dev",
        "npx -y shx rm -rf ~",
        "yarn dlx rimraf@5 ~",
        "perl -e 'unlink glob \"$ENV{HOME}/*\"'",
        "cp /bin/rm ./ls; ./ls -rf ~",
        "/lib64/ld-linux-x86-64.so.2 /bin/rm -rf ~",
        "GIT_EXTERNAL_DIFF='rm -rf ~' git diff",
        "PS4='$(rm -rf ~)' bash -x -c true",
        "python3 -c \"open('d.sh','w').write('rm -rf ~')\" && sh d.sh",
        "printf 'rm -rf ~' | install -m 755 /dev/stdin ./b && ./b",
        "rm -rf *.py",
        "git ls-files | xargs rm",
        "python3 -c 'import glob, os; [os.unlink(f) for f in glob.glob(\"/etc/*\")]'",
    ),
    fine=(
        "rm -rf node_modules dist",
        "rm -rf /tmp/build-42",
        "rm -rf ./target",
        "rm notes.txt",
        "npx rimraf@5 dist",
        "yarn dlx shx rm -rf build",
        "perl -e 'unlink glob \"build/*.o\"'",
        "cp /bin/ls ./l; ./l -la ~",
        "GIT_PAGER='less -R' git log",
        "python3 -c \"open('d.sh','w').write('echo rm -rf')\" && sh d.sh",
        "rm $OPTS notes.txt",
        'rm() { command rm -i "$@"; }; rm notes.txt',
        'rm() { echo "$@"; }; rm -rf ~',
        "rm -rf dist${SUFFIX}",
        "rm -f $OUT",
        "echo rm -rf /",
        "mv dist /tmp/old && rm -rf /tmp/old",
    ),
)

REMOVERS = frozenset(
    (
        "rm",
        "grm",
        "rmdir",
        "unlink",
        "trash",
        "trash-put",
        "gio",
        "remove-item",
        "del",
        "rd",
        "erase",
        "rimraf",
        "srm",
        "ri",
        "del-cli",
        "trash-cli",
    )
)
_HARMLESS = frozenset((BUILD, TEMP, PROJECT))
_DENIED = frozenset((ROOT, SYSTEM, HOME, HOME_PART, ABOVE, GIT, TEMP_ROOT, PROJECT_ROOT, DEVICE, OUTSIDE))
_ALL_SOURCES = lazy_regex(
    r"(?:/(?:src|lib|app))?/\*\.(?:py|tsx?|jsx|go|rs|java|kt|swift|c|cc|cpp|rb|php|cs|sql|ex|scala)"
)
_WINDOWS = lazy_regex(r"^(?:[A-Za-z]:|/[A-Za-z]:|%\w+%|\$env:)", re.IGNORECASE)


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    if step.program == "gio" and step.args[:1] not in (("trash",), ("remove",)):
        return
    if step.program not in REMOVERS or (step.program == "rmdir" and not _is_windows(step)):
        return
    given = parse_arguments(step.args[1:] if step.program == "gio" else step.args)
    if given.has("--help", "--version", "-WhatIf"):
        return
    everything = next((word.text for word in step.words[1:] if word.detail("found") == "all"), "")
    if not step.sweeps and everything:
        place = classify_path(workspace.absolute(everything.partition(UNKNOWN)[0] or "."), workspace)
        verdict = RULE.deny if place in _DENIED - {TEMP_ROOT, PROJECT_ROOT} else RULE.ask
        yield verdict(f"it deletes everything that a search without a filter finds in {place}")
    found = next((word.text for word in step.words[1:] if word.detail("found") == "some"), "")
    if found and not step.sweeps and not _is_remade_or_temporary(found, workspace):
        yield RULE.ask("it deletes whatever a search finds")
    recursive = (
        given.has("-r", "-R", "--recursive", "-Recurse", "-recurse")
        or _is_windows(step)
        or step.program in ("rimraf", "trash", "trash-put", "gio", "del-cli", "trash-cli")
    )
    before = [label.partition(" ")[2] for label in sorted(step.touched) if label.startswith(f"{MOVED} ")]
    for operand in (*given.operands, *before):  # what was moved away first is still what it was
        # All of them: behind one that is asked about may stand one that is denied.
        if finding := _judge(operand, step, workspace, recursive=recursive, forced=given.has("-f", "--force")):
            yield finding
    if not recursive and any(map(is_unset_variable, step.words[1:])):
        yield from _with_unknown_options(given.operands, step, workspace)


def _with_unknown_options(operands: tuple[str, ...], step: Step, workspace: Workspace) -> Iterator[Finding]:
    """`rm $OPTS ~/work`: what nobody knows may hold `-rf`."""
    for operand in operands:
        if operand.strip(UNKNOWN) and _judge(operand, step, workspace, recursive=True, forced=True):
            yield RULE.ask(f"with options that get known at run time only, it may delete all of `{operand}`")
            return


def _is_remade_or_temporary(found: str, workspace: Workspace) -> bool:
    path = workspace.absolute(found.partition(UNKNOWN)[0] or ".")
    place, name = classify_path(path, workspace), found.rpartition("/")[2]
    return (
        is_rebuilt_name(name)
        or place in (TEMP, TEMP_ROOT, BUILD)
        or (is_leftover_name(name) and place in (PROJECT, PROJECT_ROOT, SOURCES))
    )


def _is_windows(step: Step) -> bool:
    return step.program in ("rd", "rmdir", "del", "erase") and any(arg.lower() in ("/s", "/q") for arg in step.args)


def _judge(operand: str, step: Step, workspace: Workspace, *, recursive: bool, forced: bool) -> Finding | None:
    if operand.lower() in ("/s", "/q", "/f") and _is_windows(step):
        return None
    if _WINDOWS.match(operand):
        return RULE.deny(f"it deletes `{operand}`") if recursive else None
    if operand.rstrip("/") == "~":
        return RULE.deny("it deletes `~`, which is the home folder once it is not quoted")
    if not operand:
        return None
    path = workspace.absolute(operand)
    place = classify_path(path, workspace)
    shown = operand.replace(UNKNOWN, "?")
    if not recursive:
        return _plain(place, path, shown, step)
    if step.where == HERE and _ALL_SOURCES.fullmatch(path.removeprefix(workspace.project)) and place == PROJECT:
        return RULE.ask(f"it deletes all sources of one kind: `{shown}`")
    if place in _HARMLESS and step.where == HERE and _is_kept(path, workspace):
        return RULE.ask(f"git keeps what is in `{shown}`, and all of it is deleted")
    if place in _HARMLESS:
        return None
    if step.where == CONTAINER and place not in (ROOT, HOME, SYSTEM):
        return None
    if place == UNKNOWN_PLACE:
        return RULE.ask(f"what `{shown}` is gets known at run time only, and everything below it is deleted")
    if UNKNOWN in path and place == TEMP_ROOT:
        return None
    if place == SOURCES or UNKNOWN in path or (step.where != HERE and place in (OUTSIDE, HOME_PART)):
        return RULE.ask(f"it deletes {place}: `{shown}`")
    if place == OUTSIDE and not forced:
        return RULE.ask(f"it deletes {place}: `{shown}`")
    return RULE.deny(f"it deletes {place}: `{shown}`") if place in _DENIED else None


def _is_kept(path: str, workspace: Workspace) -> bool:
    """A folder right below the project's own that git keeps: no build makes it again."""
    below = path.removeprefix(f"{workspace.project}/")
    return below != path and "/" not in below and UNKNOWN not in below and is_tracked(path, workspace.project)


def _plain(place: str, path: str, shown: str, step: Step) -> Finding | None:
    """`rm` without `-r`: files only."""
    if step.where != HERE and place != ROOT:
        return None
    if path.startswith("/etc/apt/sources.list.d/"):
        return None  # where packages come from, on a machine that builds
    if place == SYSTEM and re.match(r"/(?:etc|bin|sbin|boot|usr|lib\w*|System)(?:/|$)", path) and UNKNOWN not in path:
        return RULE.deny(f"it deletes a file of {place}: `{shown}`")
    if (
        place == SYSTEM
        and "*" in path
        and re.match(r"/(?:var/(?:lib|backups|spool|www|mail)|srv|opt|root|mnt|media|Volumes|data|home|Users)/", path)
    ):
        return RULE.deny(f"it deletes files that {place} keeps: `{shown}`")
    if place in (ROOT, HOME) and "*" in path:
        return RULE.deny(f"it deletes the files of {place}: `{shown}`")
    if place in (HOME_PART, ABOVE, OUTSIDE) and "*" in path.rpartition("/")[2]:
        everything = place != OUTSIDE and not path.rpartition("/")[2].strip("*.")
        return (RULE.deny if everything else RULE.ask)(f"it deletes files of {place}: `{shown}`")
    if is_startup_file(path) and "/.git/" not in path and UNKNOWN not in path:
        return RULE.ask(f"it deletes a file that shells and programs start from: `{shown}`")
    if place == PROJECT_ROOT and path.endswith("*") and "." not in path.rpartition("/")[2]:
        return RULE.ask(f"it deletes all files of {place}: `{shown}`")
    if place == GIT and not path.endswith(".lock") and UNKNOWN not in path:
        return RULE.ask(f"it deletes a file of {place}: `{shown}`")
    return None
