"""
Stop commands that replace or empty files outside the project that other programs need.

This covers redirections, `tee`, `cp`, `mv`, `truncate`, `dd` and `sed -i` that write to system files, and commands that
move or pack a folder away.
"""

import os.path
import re
from collections.abc import Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.file_lookups import MISSING, path_kind
from snell.packs.guard.known_names import pattern
from snell.packs.guard.known_values import UNKNOWN
from snell.packs.guard.path_classes import (
    ABOVE,
    BUILD,
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
    Workspace,
    classify_path,
    is_build_output,
    is_in_user_folder,
)
from snell.packs.guard.rule import DENY, WRITES, Finding, Rule, Trigger
from snell.packs.guard.shell.shell_state import HERE, Step
from snell.shell.arguments import arguments_of
from snell.system.lazy_regex import lazy_regex

RULE = Rule(name="overwrite", family="files", instead="write inside the project, and let the user change system files")

_SYSTEM = pattern("files_of_the_system")
_FINE = pattern("changeable_system_files")

TRIGGER = Trigger(programs=name_set("mv gmv tar gtar bsdtar unzip cpio pax zip 7z 7za 7zz rar rsync"), traits=WRITES)


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    if step.where != HERE:
        return
    findings = list(_system_files(step))
    yield from findings
    if not any(finding.verdict == DENY for finding in findings):
        yield from _emptied_files(step, workspace)
        yield from _deleting_transfers(step, workspace)


def _system_files(step: Step) -> Iterator[Finding]:
    for path in (*step.writes, *step.appends):
        if path == "/etc/hosts" and (path in step.appends or "-a" in step.args):
            if _PUBLIC_NAME.search(_added_text(step)):
                yield RULE.deny("it points a public host name at another address in `/etc/hosts`")
            continue  # a private host name is easy to see and to remove
        if _SYSTEM.match(path) and not _FINE.match(path) and UNKNOWN not in path:
            yield RULE.deny(f"it changes a system file: `{path}`")
            return


def _deleting_transfers(step: Step, workspace: Workspace) -> Iterator[Finding]:
    """Judge moving, packing and synchronising, which delete the source or what the target had."""
    if step.program in ("mv", "gmv"):
        yield from _moved_folders(step, workspace)
    elif (step.program in ("tar", "gtar") and "--remove-files" in step.args) or _packs_away(step):
        yield from _packed_away(step, workspace)
    elif step.program in ("tar", "bsdtar", "unzip", "cpio", "pax") and "/" in step.writes:
        yield RULE.deny(f"it unpacks over {ROOT}")
    elif (
        step.program == "rsync"
        and "--remove-source-files" in step.args
        and not arguments_of(step.program, step.args).has("-n")
    ):
        yield RULE.ask("it deletes the source files after copying them")
    elif step.program == "rsync" and any(arg.startswith("--delete") or arg == "--del" for arg in step.args):
        yield from _synced_folder(step, workspace)


_PUBLIC_NAME = pattern("public_hosts")


def _added_text(step: Step) -> str:
    return step.stdin.text if step.program in ("tee", "sponge") and step.stdin is not None else step.output.text


_NOTHING = lazy_regex(r"(?:if=)?/dev/(?:zero|u?random|null|full)$")


_SOURCE = lazy_regex(
    r"\.(?:py|[cm]?[jt]sx?|go|rs|java|kt|rb|php|cs|swift|cc?|cpp|hh?|vue|svelte|scala|ex|sql|sh|toml|json|ya?ml)$"
)
_DATA = lazy_regex(r"\.(?:csv|tsv|db|sqlite3?|parquet|xlsx?|sql|jsonl?|ya?ml)$", re.IGNORECASE)


def _prints_nothing(step: Step) -> bool:
    if step.program in (":", "true"):
        return not step.output.text and step.stdin is None  # also stands for tools, and for unknown output
    return (step.program == "echo" and not step.args) or (
        step.program in ("sed", "gsed") and any(re.fullmatch(r"(?:1,\$)?d", arg) for arg in step.args)
    )


def _emptied_files(step: Step, workspace: Workspace) -> Iterator[Finding]:
    """Judge writing nothing, or noise, over existing files, and writing without end."""
    noise = [arg for arg in (*step.args, *step.reads) if _NOTHING.match(arg)]
    empties = bool(noise) or step.program in ("truncate", "fallocate") or _prints_nothing(step)
    if empties and any(word.detail("found") == "all" for word in step.words[1:]):
        yield RULE.ask("it empties every file that a command lists")
    for path in step.writes:
        if path.startswith("/dev/"):
            continue
        if _is_endless(step, noise):
            yield RULE.ask(f"it writes to `{path.replace(UNKNOWN, '?')}` until the disk is full")
        place, name = classify_path(path, workspace), path.rpartition("/")[2]
        if place in (ROOT, HOME) and name == UNKNOWN and path.count(UNKNOWN) == 1:
            yield RULE.deny(f"it overwrites whatever a search of {place} finds")
            return
        if empties and (what := _loss_of(path, place, step)):
            is_certain = path.startswith(_STORED_DATA) or is_in_user_folder(path, workspace.home)
            is_certain |= place == HOME_PART and "*" in name
            yield (RULE.deny if is_certain else RULE.ask)(f"it empties {what}: `{path}`")


def _is_endless(step: Step, noise: list[str]) -> bool:
    if step.program == "dd" and any(arg.startswith("count=") for arg in step.args):
        return False
    return step.program == "yes" or (step.program in ("cat", "dd") and any("null" not in arg for arg in noise))


_STORED_DATA = ("/var/lib/", "/var/backups/", "/var/mail/", "/srv/")


def _loss_of(path: str, place: str, step: Step) -> str:
    """Return what is lost if this file is emptied; an empty text if it is nothing of worth."""
    name = path.rpartition("/")[2]
    if UNKNOWN not in path and (place == HOME_PART or path.startswith(_STORED_DATA)):
        return place
    if place not in (PROJECT, SOURCES, PROJECT_ROOT):
        return ""
    if "*" in name and not is_build_output(path):
        return place
    if step.program in ("truncate", "dd") and _DATA.search(name):
        return "a file of data"
    if step.program == ":":
        return ""
    is_new = path_kind(path) == MISSING and path_kind(os.path.dirname(path)) != MISSING
    return "a source file" if _SOURCE.search(name) and not (is_new or is_build_output(path)) else ""


def _moved_folders(step: Step, workspace: Workspace) -> Iterator[Finding]:
    given = arguments_of(step.program, step.args, "-t --target-directory")
    if given.operands[-1:] == ("/dev/null",):
        yield RULE.deny("it deletes files by moving them to `/dev/null`")
    sources = given.operands if given.has("-t", "--target-directory") else given.operands[:-1]
    for source in sources:
        place = classify_path(workspace.absolute(source), workspace)
        if place in (ROOT, HOME, ABOVE, GIT, PROJECT_ROOT) and not (place == GIT and UNKNOWN in source):
            if place == PROJECT_ROOT and "*" in source:
                continue
            yield RULE.deny(f"it moves {place}: `{source}`")
            return
        if place == SYSTEM and re.match(
            r"^/(?:etc|bin|sbin|boot|usr|lib\w*|var|System)(?:/[^/]*)?$|^/usr/s?bin/", source
        ):
            yield RULE.deny(f"it moves {place}: `{source}`")
            return


def _packs_away(step: Step) -> bool:
    return (step.program == "zip" and arguments_of(step.program, step.args, "-x -i -b -P").has("-m", "--move")) or (
        step.program in ("7z", "7za", "7zz", "rar") and bool({"-sdel", "-df", "-dw", "m"} & set(step.args))
    )


def _packed_away(step: Step, workspace: Workspace) -> Iterator[Finding]:
    places = [classify_path(workspace.absolute(arg), workspace) for arg in step.args if not arg.startswith("-")]
    gone = next((place for place in places if place in (ROOT, HOME, HOME_PART, ABOVE, GIT, PROJECT_ROOT, SYSTEM)), "")
    if gone or "/dev/null" in step.args:
        yield RULE.deny(f"it deletes {gone or 'the files'} after packing")


_EMPTY_FOLDER = lazy_regex(r"(?i)(?:^|/)(?:[\w-]+[_.-])?(?:empty|blank|nothing|void)\w*/?\.?$|made-here/?\.?$")


def _synced_folder(step: Step, workspace: Workspace) -> Iterator[Finding]:
    operands = arguments_of(step.program, step.args, "-e --rsh --exclude --include --filter -f --files-from").operands
    dry = arguments_of(step.program, step.args, "-e --rsh --exclude --include").has("-n", "--dry-run", "--list-only")
    if len(operands) < 2 or dry:
        return
    place = OUTSIDE if ":" in operands[-1] else classify_path(workspace.absolute(operands[-1]), workspace)
    if place == SOURCES and _EMPTY_FOLDER.search(operands[-2]):
        yield RULE.ask(f"it empties `{operands[-1]}`")
    elif place not in (PROJECT, BUILD, TEMP, SOURCES):
        is_emptied = _EMPTY_FOLDER.search(operands[-2]) is not None and place in (HOME_PART, OUTSIDE, GIT)
        verdict = RULE.deny if is_emptied or place in (ROOT, HOME, SYSTEM, PROJECT_ROOT, ABOVE) else RULE.ask
        yield verdict(f"it deletes files in `{operands[-1]}` that the source does not have")
