"""Files that a program writes because its words say so, redirections aside."""

import itertools
import re

from snell.packs.guard.patch_files import text_by_file
from snell.packs.guard.shell.network_transfers import saved_as
from snell.system.lazy_regex import lazy_regex

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
