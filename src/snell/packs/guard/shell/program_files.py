"""Files that a program names, reads and writes, redirections aside."""

import itertools
import re

from snell.packs.guard.known_values import NETWORK, PRIVATE, PROCESS, SECRET, UNKNOWN, UNKNOWN_VALUE, Value
from snell.packs.guard.sensitive_files import is_private, is_secret_folder, is_snell_file, secret_name
from snell.packs.guard.shell.network_transfers import saved_as
from snell.packs.guard.shell.shell_state import HERE, ShellState
from snell.packs.guard.shell.symlinks import leads_to
from snell.system.lazy_regex import lazy_regex

MOST_PATCH_LINES = 20_000
_PATCHED_FILE = lazy_regex(r"^(?:\*\*\* (?:Add File|Update File|Delete File|Move to): |\+\+\+ (?:b/)?)(\S.*?)\s*$")
_IN_PLACE = lazy_regex(r"-\w*i(?:\.\w+)?$|-i.*|--in-place.*")


def written_files(program: str, args: tuple[str, ...], given: str = "") -> list[str]:
    """The files, as they are named; `given` is what the program reads from its standard input."""
    plain = [arg for arg in args if not arg.startswith("-")]
    if program in ("tee", "sponge", "truncate", "touch"):
        return [arg for arg in plain if not re.fullmatch(r"[+-]?\d+[kKMGT]?", arg)] if program != "touch" else []
    if program in ("cp", "mv", "install", "ln", "rsync", "gcp", "gmv", "ditto"):
        return _target(args, plain)
    if program == "dd":
        return [arg[3:] for arg in args if arg.startswith("of=")]
    if program in ("sed", "gsed", "perl", "ruby", "yq") and any(_IN_PLACE.fullmatch(arg) for arg in args):
        return plain[1:] or plain
    if program in ("curl", "wget", "wget2", "aria2c"):
        return [name for name in (saved_as(program, list(args)),) if name]
    if program in ("tar", "bsdtar", "unzip", "git"):
        options = ("-C", "--directory", "-d") if program != "git" else ()
        packs = program != "git" and any(re.fullmatch(r"-?\w*c\w*f|--create", arg) for arg in args)
        named = [arg.partition("=")[2] for arg in args if not packs and arg.startswith("--directory=")]
        return named + [
            after
            for arg, after in itertools.pairwise(args)
            if (arg in options and not packs) or (packs and re.fullmatch(r"-?[a-zA-Z]*f|--file", arg) and after != "-")
        ]
    if program in ("awk", "gawk") and "inplace" in plain:
        return [arg for arg in plain if arg != "inplace"][1:]
    if program in ("7z", "7za", "7zz"):
        return [arg[2:] for arg in args if arg.startswith("-o") and args[0] in ("x", "e")]
    if program.startswith("python") and args[:2] in (("-m", "zipfile"), ("-m", "tarfile")):
        return list(args[-1:]) if {"-e", "--extract"} & set(args) else []
    if program == "sort":
        return [after for arg, after in itertools.pairwise(args) if arg in ("-o", "--output")]
    if program == "patch":
        return plain[:1]
    if program in ("apply_patch", "applypatch"):
        return list(text_by_file(given or "\n".join(args)))
    if program in ("ed", "ex", "fallocate"):
        return plain[-1:]
    if program in ("cpio", "pax") and any(re.fullmatch(r"-\w*[ir]\w*|--extract", arg) for arg in args):
        return [after for arg, after in itertools.pairwise(args) if arg in ("-D", "--directory")]
    return []


def _target(args: tuple[str, ...], plain: list[str]) -> list[str]:
    for arg, after in itertools.pairwise(args):
        if arg in ("-t", "--target-directory"):
            return [after]
    named = [arg.partition("=")[2] for arg in args if arg.startswith("--target-directory=")]
    return named or (plain[-1:] if len(plain) > 1 and ":" not in plain[-1] else [])


def text_by_file(text: str) -> dict[str, str]:
    """Of `*** Add File: name` patches and of unified ones; a text that is no patch names nothing."""
    if "*** " not in text and "+++ " not in text:
        return {}
    added, path = dict[str, list[str]](), ""
    for line in text.split("\n", MOST_PATCH_LINES)[:MOST_PATCH_LINES]:
        named = _PATCHED_FILE.match(line)
        if named:
            path = named[1].partition("\t")[0]
            added.setdefault(path, [])
        elif path and line.startswith("+"):
            added[path].append(line[1:])
    return {path: "\n".join(lines) for path, lines in added.items() if path != "/dev/null"}


def named_file(path: str, scene: ShellState) -> str:
    """What an open descriptor that is named as a file stands for."""
    found = re.fullmatch(r"/(?:dev|proc/self)/fd/(\w+)", path)
    return scene.fds.get(found[1], path) if found else path


def labels_of_named_files(args: tuple[str, ...], scene: ShellState) -> frozenset[str]:
    """The labels of the files that these words name."""
    labels = frozenset[str]()
    for arg in args:
        for name in {arg, arg.removesuffix("/*"), *(arg.rpartition(mark)[2] for mark in "@=:")}:
            content = scene.content(name) if name and len(name) < 1000 else None
            labels |= content.labels if content else frozenset()
    return labels


def file_value(path: str, scene: ShellState) -> Value:
    """What reading this file yields."""
    secret = secret_name(path, scene.home) or secret_name(_led_to(path, scene), scene.home)
    if secret:
        return Value(UNKNOWN, frozenset((f"{SECRET} {secret}",)))
    if is_secret_folder(path) or is_secret_folder(path.rpartition("/")[0]):
        return Value(UNKNOWN, frozenset((f"{SECRET} {path}",)))
    if is_snell_file(path) or path.startswith(scene.guarded):
        return Value(UNKNOWN, frozenset((f"{PROCESS} snell",)))
    if is_private(path):
        return Value(UNKNOWN, frozenset((f"{PRIVATE} {path}",)))
    if path.startswith(("/dev/tcp/", "/dev/udp/")):
        return Value(UNKNOWN, frozenset((NETWORK,)))
    return UNKNOWN_VALUE


def _led_to(path: str, scene: ShellState) -> str:
    return leads_to(path, scene.links, scene.home, scene.project) if scene.where == HERE else path
