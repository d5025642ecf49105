"""Stop commands that write to disks directly: `dd of=/dev/...`, `mkfs`, partition and volume tools."""

import re
from collections.abc import Iterator

from snell.packs.guard.known_names import pattern
from snell.packs.guard.known_values import Value, is_unset_variable
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import WRITES_APART, Finding, Rule, Trigger, given_to
from snell.packs.guard.shell.shell_state import CONTAINER, Step
from snell.shell.arguments import matches_any
from snell.shell.programs import program_row
from snell.system.lazy_regex import lazy_regex

RULE = Rule(name="disks", family="disks", instead="work on an image file; the user can write it to a disk")

_DEVICE = pattern("devices_with_data")
_COPIERS = frozenset(("dd", "gdd", "dcfldd", "dc3dd", "sdd"))
_MAKERS = ("mkfs", "mke2fs", "mkdosfs", "mkntfs", "mkswap", "newfs")
_OVERWRITERS = frozenset(("cp", "tee", "mv", "truncate", "shred"))
_REACHING = frozenset(("mount", "debugfs", "fdisk", "parted", "dd", "cat", "strings", "losetup", "cryptsetup"))
_DISK = lazy_regex(r"(?:if=)?/dev/(?:sd|nvme|vd|xvd|hd|mmcblk|dm-|mapper/|md\d|disk/)")
_IMAGERS = frozenset(("ddrescue", "flashcp", "bmaptool"))

TRIGGER = Trigger(
    programs=_COPIERS | _OVERWRITERS | _IMAGERS | _REACHING, prefixes=_MAKERS, traits=WRITES_APART, rows=("erases",)
)


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    yield from _unknown_device(step)
    outputs = [arg[3:] for arg in step.args if step.program in _COPIERS and arg.startswith("of=")]
    device = next(filter(_DEVICE.match, (*step.writes, *step.appends, *outputs)), "")
    if device:
        yield RULE.deny(f"it overwrites the device `{device}`")
    elif step.where == CONTAINER and step.program in _REACHING and any(map(_DISK.match, step.args)):
        yield RULE.deny(f"`{step.text[:80]}` reaches the disk of the machine out of a container")
    elif step.args and not given_to(step).has("--help", "--version", "-V"):
        yield from _disk_tool(step)


def _disk_tool(step: Step) -> Iterator[Finding]:
    named = next(filter(_DEVICE.match, step.args), "")
    tries = step.program.startswith(("mkfs.ext", "mke2fs")) and given_to(step).has("-n")
    if step.program.startswith(_MAKERS) and named and not tries:
        yield RULE.deny(f"it makes a new file system on `{step.args[-1]}` and deletes what was there")
    elif (named and step.program in _OVERWRITERS and step.args[-1] == named) or (
        named and step.program in _IMAGERS and named in step.args[1:]
    ):
        yield RULE.deny(f"it overwrites the device `{named}`")
    elif matches_any(given_to(step), program_row(step.program).erases):
        yield RULE.deny(f"`{step.program}` destroys or changes a volume, partition or device")


_FILE = lazy_regex(r"FILE|IMG|IMAGE|ISO|OUT|PATH|TMP|TEMP|SWAP", re.IGNORECASE)  # by the name of the variable


def _unknown_device(step: Step) -> Iterator[Finding]:
    """Judge a device whose path is in a variable that the command does not set."""
    if step.program in _COPIERS:
        targets = [Value(word.text[3:], word.labels) for word in step.words[1:] if word.text.startswith("of=")]
    elif step.program.startswith(_MAKERS):
        targets = [word for word in step.words[1:] if not word.text.startswith("-")][-1:]
    else:
        return
    if any(is_unset_variable(target) and not _FILE.search(target.detail("variable")) for target in targets):
        yield RULE.ask("it writes to a device that is only known at run time")
