"""
Stop commands that open files to all users, lock them, or let them run with more rights.

This covers `chmod 777`, `chmod -R` and `chown -R` on the system, a home folder or the disk, and set-user-id bits.
"""

import re
from collections.abc import Iterator

from snell.packs.guard.known_values import UNKNOWN
from snell.packs.guard.path_classes import ABOVE, DEVICE, GIT, HOME, ROOT, SYSTEM, Workspace, classify_path
from snell.packs.guard.rule import Finding, Rule, Trigger, given_to
from snell.packs.guard.sensitive_files import secret_name
from snell.packs.guard.shell.shell_state import CONTAINER, Step
from snell.shell.arguments import Arguments, arguments_of
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="permissions", family="system", instead="give only the permission that the file needs (`chmod u+x script.sh`)"
)

CHANGERS = frozenset(("chmod", "chown", "chgrp", "chattr", "setfacl", "icacls", "setcap"))

_SETUID = lazy_regex(r"^0?[4-7][0-7]{3}$|^[ugoa]*\+[rwx]*s")
_OPEN = lazy_regex(r"^0?777$|^0?000$|^0$|^a-rwx$|^0?666$|^(?:a|ugo|o)?\+rwx$|^(?:a|o)[+=]\w*w")
_SHOWS = lazy_regex(r"^0?[0-7](?:[4-7][0-7]|[0-7][4-7])$|^(?:[ugo]*[go][ugo]*|a)?\+[wx]*r")  # others may read
_ATTRIBUTES = lazy_regex(r"[-+=](?![RVf]+$)[A-Za-z]+")  # of `chattr`: `-i` lets a protected file be changed
_ACCOUNTS = lazy_regex(r"/etc/(?:g?shadow|passwd|sudoers)(?:$|[-/.])")
_WIDE = frozenset((ROOT, SYSTEM, HOME, ABOVE, DEVICE, GIT))

TRIGGER = Trigger(programs=CHANGERS | {"install", "mkdir"})


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    if step.program in ("install", "mkdir"):
        yield from _set_user_id(given_to(step).value("-m", "--mode"))
    elif step.where != CONTAINER:
        yield from _changed_permissions(step, workspace)


def _set_user_id(mode: str) -> Iterator[Finding]:
    if _SETUID.match(mode):
        yield RULE.deny(f"`{mode}` sets the set-user-id bit: the file then runs with its owner's rights")


def _changed_permissions(step: Step, workspace: Workspace) -> Iterator[Finding]:
    words = [arg for arg in step.args if not re.match(r"-[rwxst]+$", arg) or arg == "-R"]
    given = arguments_of("", words, "--reference")
    if not given.operands:
        return
    mode, targets = _mode_and_targets(step, given)
    recursive = given.has("-R", "--recursive") or (step.program == "chattr" and "i" in mode)
    if step.program == "setcap":
        yield RULE.deny(f"it gives a program capabilities that its user does not have: `{mode}`")
        return
    for target in targets:
        path = workspace.absolute(target)
        if step.program == "chmod" and _SHOWS.match(mode) and secret_name(path, workspace.home):
            verdict = RULE.ask if path.startswith(workspace.project + "/") else RULE.deny
            yield verdict(f"`chmod {mode}` lets others read `{target}`, which holds secrets")
        elif place := _wide_place(target, mode, step, workspace, recursive=recursive):
            yield RULE.deny(f"it changes the permissions of {place}: `{target}`")
            return
    if step.program == "chmod":
        yield from _set_user_id(mode)
        if recursive and _OPEN.match(mode) and "." in targets:
            yield RULE.ask(f"`chmod -R {mode}` lets every user of this machine change these files")


def _mode_and_targets(step: Step, given: Arguments) -> tuple[str, tuple[str, ...]]:
    if step.program == "chattr":
        mode = next(filter(_ATTRIBUTES.fullmatch, step.args), "")
        return mode, given.operands[given.operands[0] == mode :]
    has_mode = not given.has("--reference")
    return given.operands[0] if has_mode else "", given.operands[has_mode:]


def _wide_place(target: str, mode: str, step: Step, workspace: Workspace, *, recursive: bool) -> str:
    """Return the place whose permissions change as a whole; empty for a single file or a part of a project."""
    place = classify_path(workspace.absolute(target), workspace)
    if place not in _WIDE or target.startswith(("/usr/local/", "/dev/kvm")) or (UNKNOWN in target and not step.sweeps):
        return ""
    if recursive or _OPEN.match(mode) or place == ROOT or (place == HOME and step.sweeps):
        return place
    if step.program != "chmod" and _ACCOUNTS.match(target) and not mode.startswith(("root", "0", "+i")):
        return "the files that say who may log in"
    return ""
