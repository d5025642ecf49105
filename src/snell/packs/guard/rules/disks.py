"""Stop commands that write to disks directly: `dd of=/dev/...`, `mkfs`, partition and volume tools."""

import re
from collections.abc import Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.arguments import Arguments, parse_arguments
from snell.packs.guard.known_values import Value, is_unset_variable
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import Finding, Rule
from snell.packs.guard.shell.shell_state import Step
from snell.packs.guard.triggers import WRITES, Trigger
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="disks",
    family="disks",
    instead="work on an image file; the user can write it to a disk",
    flagged=(
        "dd if=/dev/zero of=/dev/sda",
        "mkfs.ext4 /dev/sdb1",
        "echo x > /dev/sda",
        "wipefs -a /dev/sda",
        "lvremove vg/data",
        "fdisk /dev/sda",
        "diskutil eraseDisk JHFS+ x disk2",
        "dcfldd if=/dev/zero of=/dev/sdb",
        "ddrescue x.img /dev/sdb map",
        "mkfs.ext4 $DEV",
        "dd if=x.img of=$DISK",
    ),
    fine=(
        "dd if=/dev/zero of=disk.img bs=1M count=10",
        "lsblk",
        "fdisk -l",
        "echo x > /dev/null",
        "diskutil list",
        "df -h",
        'mkfs.ext4 "$IMG_FILE"',
        "dd if=/dev/zero of=$OUT_DIR/x.img count=1",
        "dd if=/dev/urandom of=/tmp/x count=1",
    ),
)

# Devices that may hold data: all except these.
_DEVICE = lazy_regex(
    r"^/dev/(?!(?:null|zero|full|u?random|stdin|stdout|stderr|tty\w*|console|ptmx|log|kmsg|kvm|fuse)$"
    r"|(?:fd|pts|shm|tcp|udp|net|dri|snd|input|bus|cpu|hugepages|mqueue|video\d*|cu\.\w+|tty\.\w+)(?:/|$)).+"
)
_TOOLS = name_set(
    "lvremove vgremove pvremove lvreduce vgreduce zpool zfs mdadm cryptsetup sgdisk gdisk sfdisk parted fdisk "
    "cfdisk hdparm blkdiscard nvme badblocks btrfs format diskpart gparted mkswap tune2fs resize2fs newfs"
)
_COPIERS = frozenset(("dd", "gdd", "dcfldd", "dc3dd", "sdd"))
_WRITERS = (
    _TOOLS
    | {"ddrescue", "flashcp", "mtd", "hdiutil", "debugfs", "flash_erase", "bmaptool", "asr"}
    | {"wipefs", "cp", "tee", "mv", "truncate", "shred", "diskutil"}
)
_DESTROYS = lazy_regex(
    r"^(?:lvremove|vgremove|pvremove|lvreduce|vgreduce|blkdiscard|mkswap .*/dev/|newfs|diskpart|cfdisk|gdisk|"
    r"zpool (?:destroy|labelclear|create)|zfs (?:destroy|rollback)"
    r"|mdadm .*(?:--zero-superblock|--stop|-S|--remove|--create)|cryptsetup (?:luksFormat|erase|"
    r"luksErase|format|luksKillSlot)|sgdisk .*(?:-Z|--zap|-z|-o|-d|--clear|--delete)"
    r"|sfdisk (?!.*(?:-l|--list|-d |--dump))|parted (?!.*(?:-l|--list|print))|parted .*(?:rm|mklabel|"
    r"mkpart)|fdisk (?!.*(?:-l|--list))"
    r"|hdparm .*--security-erase|nvme (?:format|sanitize)|badblocks .*-w|btrfs (?:subvolume|"
    r"device) delete|format [a-zA-Z]:|tune2fs|resize2fs)"
)


_MAKERS = ("mkfs", "mke2fs", "mkdosfs", "mkntfs", "mkswap")
_MAKES_FILE_SYSTEM = lazy_regex(r"(?:mkfs|mke2fs|mkdosfs|mkntfs)\b")
_ERASES = lazy_regex(r"mtd (?:erase|write)|hdiutil (?:erase|burn)|debugfs .*-w|flash_erase|asr .*--erase")
_ERASES_DISK = lazy_regex(
    r"(?:erase|partition|reformat|secureErase|zeroDisk|randomDisk|apfs delete|cs delete|unmountDisk force)",
    re.IGNORECASE,
)
TRIGGER = Trigger(programs=_COPIERS | _WRITERS, prefixes=_MAKERS, traits=WRITES)


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    yield from _unknown_device(step)
    outputs = [arg[3:] for arg in step.args if step.program in _COPIERS and arg.startswith("of=")]
    device = next(filter(_DEVICE.match, (*step.writes, *step.appends, *outputs)), "")
    if device:
        yield RULE.deny(f"it overwrites the device `{device}`")
    elif step.program in _WRITERS or step.program.startswith(_MAKERS):
        given = parse_arguments(step.args)
        if not given.has("--help", "--version", "-V"):
            yield from _disk_tool(step, given)


def _disk_tool(step: Step, given: Arguments) -> Iterator[Finding]:
    text = " ".join((step.program, *step.args))
    named = next(filter(_DEVICE.match, step.args), "")
    if _MAKES_FILE_SYSTEM.match(step.program) and named:
        yield RULE.deny(f"it makes a new file system on `{step.args[-1]}` and deletes what was there")
    elif step.program == "wipefs" and given.has("-a", "--all", "-o") and not given.has("-n", "--no-act"):
        yield RULE.deny("it wipes the signatures of a device")
    elif step.program in ("cp", "tee", "mv", "truncate", "shred") and named and step.args[-1] == named:
        yield RULE.deny(f"it overwrites the device `{named}`")
    elif step.program in _TOOLS and step.args and _DESTROYS.match(text):
        yield RULE.deny(f"`{step.program}` destroys or changes a volume or partition")
    elif step.program in ("ddrescue", "flashcp", "bmaptool") and any(map(_DEVICE.match, step.args[1:])):
        yield RULE.deny(f"it overwrites the device `{named}`")
    elif _ERASES.match(text):
        yield RULE.deny(f"`{step.program}` writes to or erases a device")
    elif step.program == "diskutil" and _ERASES_DISK.match(" ".join(step.args)):
        yield RULE.deny("it erases or partitions a disk")


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
