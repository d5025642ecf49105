"""Follow files that are copied, moved, packed and unpacked: a copy has the content and labels of its source."""

import itertools
import posixpath
import re

from snell.packs.guard.known_values import (
    ARCHIVE,
    MOVED,
    NETWORK,
    ON_DISK,
    PROGRAM,
    SECRET,
    UNKNOWN,
    UNKNOWN_VALUE,
    Value,
)
from snell.packs.guard.path_classes import BUILD, TEMP, Workspace, classify_path
from snell.packs.guard.sensitive_files import is_secret_folder, secret_name
from snell.packs.guard.shell.network_transfers import is_local
from snell.packs.guard.shell.program_files import file_value
from snell.packs.guard.shell.shell_state import HERE, Call, ShellState
from snell.shell.arguments import arguments_of
from snell.system.lazy_regex import lazy_regex

MOST_LINKS = 32

_FETCHERS = frozenset(("rsync", "scp", "sftp", "aws", "gsutil", "gcloud", "rclone", "mc", "s3cmd", "s5cmd"))
_STDIN = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_PROGRAM = lazy_regex(r"(?:/usr)?(?:/local)?/s?bin/[\w.+-]+")
_ELSEWHERE = lazy_regex(r"(?:[\w.-]+@)?[\w.-]+:(?!\\)|\w+://")


def copy_files(program: str, args: list[str], scene: ShellState, stdin: Value | None = None) -> None:
    given = arguments_of(program, args)
    target, paths = given.value("-t", "--target-directory"), list(given.operands)
    if not target and len(paths) > 1:
        target = paths.pop()
    for source in paths:
        value = stdin if source in _STDIN and stdin is not None else _copy_of(program, source, scene)
        if program == "ln":
            scene.links[_link(target, source, scene)] = scene.absolute(source)
            for old in list(scene.links)[:-MOST_LINKS]:
                del scene.links[old]
        if target and ":" not in target:
            scene.write(target, value)
            if target.endswith("/") or target in (".", "..") or posixpath.dirname(scene.absolute(target)) == "/":
                scene.write(f"{target}/{posixpath.basename(source.rstrip('/')).rpartition(':')[2]}", value)


def _copy_of(program: str, source: str, scene: ShellState) -> Value:
    """Return what a copy of the file holds, and where it came from."""
    if program in _FETCHERS and _ELSEWHERE.match(source):
        return Value(UNKNOWN, frozenset((f"{NETWORK} {source}",)))
    value = scene.content(source) or file_value(scene.absolute(source), scene)
    if value is UNKNOWN_VALUE and scene.where == HERE and UNKNOWN not in source:
        value = value.with_labels(f"{ON_DISK} {scene.absolute(source)}")
    if _PROGRAM.fullmatch(source):
        value = value.with_labels(f"{PROGRAM} {source}")
    if is_secret_folder(source) and not value.labels:
        value = value.with_labels(f"{SECRET} {source}")
    workspace = Workspace(scene.cwd, scene.home, scene.project)
    if program == "mv" and classify_path(scene.absolute(source), workspace) not in (BUILD, TEMP):
        value = value.with_labels(f"{MOVED} {scene.absolute(source)}")
    return value


def _link(target: str, source: str, scene: ShellState) -> str:
    name = posixpath.basename(source.rstrip("/"))
    return scene.absolute(f"{target}/{name}" if not target or target.endswith(("/", ".")) else target)


def unpack_archive(program: str, call: Call, args: list[str], scene: ShellState) -> None:
    """Mark what an archive leaves as content from the network, if its address cannot be checked."""
    if program in ("tar", "bsdtar") and not re.search(r"^-?[a-zA-Z]*x|--extract", " ".join(args[:3])):
        return
    given = [scene.content(arg) for arg in args if "." in arg] if scene.files else []
    sources = [value.detail(NETWORK) for value in (call.stdin, *given) if value is not None and value.has(NETWORK)]
    unsafe = [source for source in sources if not source.startswith("https:") and not is_local(source)]
    if unsafe:
        folder = next((after for arg, after in itertools.pairwise(args) if arg in ("-C", "--directory", "-d")), ".")
        scene.write(f"{folder}/{UNKNOWN}", Value(UNKNOWN, frozenset((f"{NETWORK} {unsafe[0]}",))))


def pack_archive(call: Call, args: list[str], scene: ShellState) -> Value:
    """Return an archive with the labels of everything in it."""
    labels = {ARCHIVE}
    names = [arg for arg in args if not arg.startswith("-")]
    for name in names:
        path = scene.absolute(name)
        known = scene.content(path)
        labels |= known.labels if known else set()
        secret = secret_name(path, scene.home) or (name if is_secret_folder(name) else "")
        if secret:
            labels.add(f"{SECRET} {secret}")
        if (scene.project + "/").startswith(path.rstrip("/") + "/") or path == scene.home:
            labels = (labels - {ARCHIVE}) | {f"{ARCHIVE} {name}"}
    value = Value(UNKNOWN, frozenset(labels))
    for name in names:
        if re.search(r"\.(?:tar|tgz|tar\.\w+|zip|7z|cpio)$", name):
            scene.write(name, value)
    for before, name in itertools.pairwise(args):
        if re.fullmatch(r"-?\w*f|--file", before) and name != "-":
            scene.write(name, value)
    return value
