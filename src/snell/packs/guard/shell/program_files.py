"""Find the files that a program names, reads and writes, apart from redirections."""

import re
from functools import lru_cache

from snell.model.call_contents import patched_text
from snell.packs.guard.file_lookups import LONG_PATH
from snell.packs.guard.known_values import NETWORK, PRIVATE, PROCESS, SECRET, UNKNOWN, UNKNOWN_VALUE, Value
from snell.packs.guard.sensitive_files import is_private, is_secret_folder, is_snell_file, secret_name
from snell.packs.guard.shell.shell_state import HERE, ShellState
from snell.packs.guard.shell.symlinks import leads_to
from snell.shell.arguments import arguments_of
from snell.shell.written_files import written_files
from snell.system.lazy_regex import lazy_regex


def files_written(program: str, args: tuple[str, ...], given: str = "") -> list[str]:
    """Return the files as they are named; `given` is what the program reads from its standard input."""
    if program in ("apply_patch", "applypatch"):
        return list(patched_text(given or "\n".join(args)))
    if program == "patch":
        patched = arguments_of(program, args)
        return patched.values("-d", "--directory") or list(patched.operands[:1])
    found = [path for path in written_files(program, args) if path != "." and not _ELSEWHERE.match(path)]
    if program in ("sed", "gsed"):  # in a script a path such as `packages/snell/x` looks like `s/snell/x`
        found += [name for arg in args for name in _BEHIND_W.findall(arg) if "snell" in name]
    return found


_BEHIND_W = lazy_regex(r"(?<![A-Za-z_.-])[wW][ \t]+([^\n]+)")
_ELSEWHERE = lazy_regex(r"(?:[\w.-]+@)?[\w.-]+:(?!\\)")  # on another machine


def named_file(path: str, scene: ShellState) -> str:
    """Return the file behind an open descriptor that is named as a file; any other path unchanged."""
    found = re.fullmatch(r"/(?:dev|proc/self)/fd/(\w+)", path) if "/fd/" in path else None
    return scene.fds.get(found[1], path) if found else path


def labels_of_named_files(args: tuple[str, ...], scene: ShellState) -> frozenset[str]:
    """Return the labels of the files that these words name."""
    labels = frozenset[str]()
    if not any([value.labels for value in scene.files.values()]):  # noqa: C419 - few, and asked for every command
        return labels
    for arg in args:
        names = {arg, arg.removesuffix("/*"), *[arg.rpartition(mark)[2] for mark in "@=:" if mark in arg]}
        for name in names:
            content = scene.content(name) if name and len(name) < 1000 else None
            labels |= content.labels if content else frozenset()
    return labels


def file_value(path: str, scene: ShellState) -> Value:
    """Return what reading this file yields."""
    real = leads_to(path, scene.links, scene.home, scene.project) if scene.where == HERE else path
    read = _value_by_name if len(path) < LONG_PATH else _value_by_name.__wrapped__
    return read(path, real, scene.home, scene.guarded)


@lru_cache(maxsize=1024)
def _value_by_name(path: str, real: str, home: str, guarded: tuple[str, ...]) -> Value:
    secret = secret_name(path, home) or secret_name(real, home)
    if secret:
        return Value(UNKNOWN, frozenset((f"{SECRET} {secret}",)))
    if is_secret_folder(path) or is_secret_folder(path.rpartition("/")[0]):
        return Value(UNKNOWN, frozenset((f"{SECRET} {path}",)))
    if is_snell_file(path) or path.startswith(guarded):
        return Value(UNKNOWN, frozenset((f"{PROCESS} snell",)))
    if is_private(path):
        return Value(UNKNOWN, frozenset((f"{PRIVATE} {path}",)))
    if path.startswith(("/dev/tcp/", "/dev/udp/")):
        return Value(UNKNOWN, frozenset((NETWORK,)))
    return UNKNOWN_VALUE
