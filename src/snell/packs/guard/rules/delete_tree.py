"""
Stop commands that delete folders which no build makes again.

This covers `rm -r` and similar commands on the disk, the system, a home folder, the whole project, its `.git` folder,
or any place outside the project. Build output, dependencies and temporary files may be deleted, and so may a folder of
which git has every file unchanged. A path that is only known at run time is asked about.
"""

import re
from collections.abc import Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.git_index import git_gives_back, is_tracked
from snell.packs.guard.known_names import pattern
from snell.packs.guard.known_values import MOVED, UNKNOWN, is_unset_variable
from snell.packs.guard.path_classes import (
    ABOVE,
    BUILD,
    DATA_FOLDER,
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
from snell.packs.guard.rule import Finding, Rule, Trigger
from snell.packs.guard.sensitive_files import is_startup_file
from snell.packs.guard.shell.shell_state import CONTAINER, HERE, Step
from snell.shell.arguments import Arguments, arguments_of
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="delete-tree", family="files", instead="name the exact folder inside the project, or move it away first"
)

REMOVERS = name_set("rm grm rmdir unlink trash trash-put gio remove-item del rd erase rimraf srm ri del-cli trash-cli")
_HARMLESS = frozenset((BUILD, TEMP, PROJECT))
_DENIED = frozenset((ROOT, SYSTEM, HOME, HOME_PART, ABOVE, GIT, TEMP_ROOT, PROJECT_ROOT, DEVICE, OUTSIDE))
_ALL_SOURCES = pattern("all_sources")
_DATABASE_FILE = lazy_regex(r"\.(?:sqlite3?|db|mdb|rdb)$")
_SCRATCH = lazy_regex(
    r"(?i)test|te?mp|cache|e2e|fixture|example|sample|scratch|demo|coverage|thumbs|mock|playground|bench"
)
_WINDOWS = lazy_regex(r"^(?:[A-Za-z]:|/[A-Za-z]:|%\w+%|\$env:)", re.IGNORECASE)

TRIGGER = Trigger(programs=REMOVERS)


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    given = arguments_of("", step.args[1:] if step.program == "gio" else step.args)
    if not _deletes(step) or given.has("--help", "--version", "-WhatIf"):
        return
    if not step.sweeps:
        yield from _search_results(step, workspace)
    recursive = _is_recursive(step, given)
    before = [label.partition(" ")[2] for label in sorted(step.touched) if label.startswith(f"{MOVED} ")]
    for operand in (*given.operands, *before):  # a moved folder is judged by where it was before
        # Judge all of them: one that is asked about may come before one that is denied.
        if finding := _judge(operand, step, workspace, recursive=recursive, forced=given.has("-f", "--force")):
            yield finding
    if not recursive and any(map(is_unset_variable, step.words[1:])):
        yield from _with_unknown_options(given.operands, step, workspace)


def _deletes(step: Step) -> bool:
    if step.program == "gio":
        return step.args[:1] in (("trash",), ("remove",))
    return step.program != "rmdir" or _is_windows(step)


def _is_recursive(step: Step, given: Arguments) -> bool:
    return (
        given.has("-r", "-R", "--recursive", "-Recurse", "-recurse")
        or _is_windows(step)
        or step.program in ("rimraf", "trash", "trash-put", "gio", "del-cli", "trash-cli")
    )


def _search_results(step: Step, workspace: Workspace) -> Iterator[Finding]:
    """Judge `rm $(find ...)`, where the operands are what a search prints."""
    everything = next((word.text for word in step.words[1:] if word.detail("found") in ("all", "entries")), "")
    place = classify_path(workspace.absolute(everything.partition(UNKNOWN)[0] or "."), workspace)
    if everything and place not in (BUILD, TEMP):
        verdict = RULE.deny if place in _DENIED - {TEMP_ROOT, PROJECT_ROOT} else RULE.ask
        yield verdict(f"it deletes all results of an unfiltered search of {place}")
    found = next((word.text for word in step.words[1:] if word.detail("found") == "some"), "")
    if found and not _is_rebuilt_or_temporary(found, workspace):
        yield RULE.ask("it deletes the results of a search, whatever they are")


def _with_unknown_options(operands: tuple[str, ...], step: Step, workspace: Workspace) -> Iterator[Finding]:
    """Judge `rm $OPTS ~/work`: the unknown options may include `-rf`."""
    for operand in operands:
        if operand.strip(UNKNOWN) and _judge(operand, step, workspace, recursive=True, forced=True):
            yield RULE.ask(f"its options are only known at run time, and with `-rf` it deletes `{operand}`")
            return


def _is_rebuilt_or_temporary(found: str, workspace: Workspace) -> bool:
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
    if not operand or (operand.lower() in ("/s", "/q", "/f") and _is_windows(step)):
        return None
    if _WINDOWS.match(operand):
        return RULE.deny(f"it deletes `{operand}`") if recursive else None
    if operand.rstrip("/") == "~":
        return RULE.deny("it deletes `~`, which is the home folder when it is not quoted")
    path = workspace.absolute(operand)
    if recursive:
        return _judge_tree(path, operand.replace(UNKNOWN, "?"), step, workspace, forced=forced)
    return _judge_files(path, operand.replace(UNKNOWN, "?"), step, workspace)


def _judge_tree(path: str, shown: str, step: Step, workspace: Workspace, *, forced: bool) -> Finding | None:
    """Judge `rm -r` of one path."""
    place = classify_path(path, workspace)
    if place in _HARMLESS:
        return _judge_project_part(path, place, shown, workspace) if step.where == HERE else None
    if step.where == CONTAINER and place not in (ROOT, HOME, SYSTEM):
        return None
    if place == UNKNOWN_PLACE:
        return RULE.ask(f"recursive delete of a path that is only known at run time: `{shown}`")
    if UNKNOWN in path and place == TEMP_ROOT:
        return None
    is_elsewhere = step.where != HERE and place in (OUTSIDE, HOME_PART)
    if place in (SOURCES, OUTSIDE) and step.where == HERE and UNKNOWN not in path and git_gives_back(path):
        return None
    if place == SOURCES or UNKNOWN in path or is_elsewhere or (place == OUTSIDE and not forced):
        return RULE.ask(f"it deletes {place}: `{shown}`")
    return RULE.deny(f"it deletes {place}: `{shown}`") if place in _DENIED else None


def _judge_project_part(path: str, place: str, shown: str, workspace: Workspace) -> Finding | None:
    if place == PROJECT and _ALL_SOURCES.fullmatch(path.removeprefix(workspace.project)):
        return RULE.ask(f"it deletes all source files of one kind: `{shown}`")
    if _is_tracked_folder(path, workspace) and not git_gives_back(path):
        return RULE.ask(f"it deletes a folder that git tracks: `{shown}`")
    return None


def _is_tracked_folder(path: str, workspace: Workspace) -> bool:
    """Tell whether git tracks this top-level folder of the project: then no build makes it again."""
    below = path.removeprefix(f"{workspace.project}/")
    return below != path and "/" not in below and UNKNOWN not in below and is_tracked(path, workspace.project)


def _judge_files(path: str, shown: str, step: Step, workspace: Workspace) -> Finding | None:
    """Judge `rm` without `-r` of one path: files only."""
    place = classify_path(path, workspace)
    if (step.where != HERE and place != ROOT) or path.startswith("/etc/apt/sources.list.d/"):
        return None  # package sources, which build machines replace
    return (
        _judge_system_file(place, path, shown)
        or _judge_pattern(place, path, shown)
        or _judge_single_file(place, path, shown)
    )


def _judge_system_file(place: str, path: str, shown: str) -> Finding | None:
    if place != SYSTEM:
        return None
    if re.match(r"/(?:etc|bin|sbin|boot|usr|lib\w*|System)(?:/|$)", path) and UNKNOWN not in path:
        return RULE.deny(f"it deletes a system file: `{shown}`")
    if "*" in path and DATA_FOLDER.match(path):
        return RULE.deny(f"it deletes data files of the system: `{shown}`")
    return None


def _judge_pattern(place: str, path: str, shown: str) -> Finding | None:
    name = path.rpartition("/")[2]
    if place in (ROOT, HOME) and "*" in path:
        return RULE.deny(f"it deletes the files of {place}: `{shown}`")
    if place in (HOME_PART, ABOVE, OUTSIDE) and "*" in name:
        everything = place != OUTSIDE and not name.strip("*.")
        return (RULE.deny if everything else RULE.ask)(f"it deletes {place}: `{shown}`")
    if place == PROJECT_ROOT and path.endswith("*") and "." not in name:
        return RULE.ask(f"it deletes all files of {place}: `{shown}`")
    return None


def _judge_single_file(place: str, path: str, shown: str) -> Finding | None:
    if UNKNOWN in path:
        return None
    if is_startup_file(path) and "/.git/" not in path:
        return RULE.ask(f"it deletes a startup file: `{shown}`")
    if place == GIT and not path.endswith(".lock"):
        return RULE.ask(f"it deletes a part of {place}: `{shown}`")
    if place in (PROJECT, PROJECT_ROOT, SOURCES) and _DATABASE_FILE.search(path) and not _SCRATCH.search(path):
        return RULE.ask(f"it deletes the data of a database: `{shown}`")
    return None
