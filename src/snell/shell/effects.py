"""
What does a command line create or change? Read from the line itself, without running it.

A guess to the safe side: what is listed is there; a program that is not known here is taken to change something near.
"""

import shlex
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from snell.shell.arguments import Arguments, arguments_of
from snell.shell.nested_commands import (
    CARRIERS,
    is_code_that_sends,
    lines_in,
    may_have_nested_commands,
    nested_commands,
)
from snell.shell.reader import Command, read
from snell.shell.remote_effects import is_known_to_send, remote
from snell.shell.wrappers import program_of
from snell.system.lazy_regex import lazy_regex

Reach = Literal["external", "local", "read_only"]

SHORT = 2_000  # characters of a line that is worth remembering

_TO_NOWHERE = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"))
_TO_THE_NET = ("/dev/tcp/", "/dev/udp/")  # what bash makes of these names
_WRITING = frozenset((">", ">>", ">|", "&>", "&>>", "<>"))


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Programs that only look.
_LOOKING = _names(
    "[ test : true false awk base64 basename cal cat cd cmp column comm cut date df diff dirname du echo "
    "egrep env expr fd fgrep file find fold free grep groups head hexdump hostname id jq less locale ls "
    "lsblk lsof man md5sum more nl nproc od paste pgrep pr printenv printf ps pwd read readlink realpath "
    "rev rg sed seq sha1sum sha256sum sleep sort stat strings tac tail tr tree type uname uniq uptime w "
    "wc which who whoami xxd yes exit return export unset local declare set shift hash"
)
# Programs that create or change what they are given: all operands, or the last one.
_EVERY_OPERAND = frozenset(("touch", "mkdir", "tee", "rm", "rmdir", "truncate", "mkfifo", "unlink", "shred"))
_LAST_OPERAND = frozenset(("cp", "mv", "ln", "install", "rsync", "scp"))
_AFTER_THE_FIRST = frozenset(("chmod", "chown", "chgrp", "setfacl"))
_NAMED_BY_OPTION = {
    "sort": ("-o", "--output"), "tree": ("-o",), "less": ("-o", "-O", "--log-file", "--LOG-FILE"),
    "psql": ("-o", "--output", "-L", "--log-file"),
}  # fmt: skip
# Programs that look, unless they are told this.
_CHANGES_WITH = {
    "find": ("-delete",), "date": ("-s", "--set"), "fd": ("-x", "-X", "--exec", "--exec-batch"), "rg": ("--pre",),
    "file": ("-C", "--compile"), "base64": ("-o", "--output"),
}  # fmt: skip
_SCRIPTED = frozenset(("sed", "awk", "gawk", "mawk", "nawk"))
_FIND_WRITES = ("-fprint", "-fprint0", "-fprintf", "-fls")
# `s/a/b/w file` and, where a command may begin, `w file`; the same with `e`, which runs something.
_SED_S = lazy_regex(r"s([^\w\s])(?:\\.|(?!\1)[^\\])*\1(?:\\.|(?!\1)[^\\])*\1([gpIiMm0-9e]*)(?:w[ \t]*([^\n]+))?")
_SED_COMMAND = lazy_regex(r"(?:^|[;{}\n])\s*(?:(?:\d+|\$|/(?:\\.|[^/\\])*/I?)[,~+!\s]*)*([wWe])(?:[ \t]+([^\n]+)|\s*$)")
_LONGEST_SCRIPT = 4_000  # of awk or sed; a longer one is taken to change something
_AWK_WRITES = lazy_regex(r"print[^\n;}>|]*>{1,2}\s*\"([^\"]+)\"")
_AWK_RUNS = lazy_regex(r"\bsystem\s*\(|print[^\n;}]*[>|]|\"\s*\|\s*getline")
_INSTALLERS = frozenset(("apt", "apt-get", "apk", "brew", "dnf", "yum", "pacman", "zypper", "snap", "port"))
_LANGUAGE_INSTALLS = {
    "pip": ("install", "uninstall", "download"), "pip3": ("install", "uninstall", "download"),
    "uv": ("add", "remove", "sync", "lock", "pip", "tool"), "poetry": ("add", "remove", "install", "update"),
    "npm": ("install", "i", "ci", "add", "uninstall", "update"), "pnpm": ("install", "i", "add", "remove", "update"),
    "yarn": ("", "install", "add", "remove", "upgrade"), "bun": ("install", "add", "remove"),
    "cargo": ("install", "add", "remove", "update"), "go": ("get", "install", "mod"), "gem": ("install", "uninstall"),
    "composer": ("install", "require", "update"), "conda": ("install", "create", "remove", "update"),
}  # fmt: skip
_GIT_LOOKING = _names(
    "blame branch cat-file describe diff for-each-ref grep help log ls-files ls-remote ls-tree merge-base "
    "name-rev reflog remote rev-list rev-parse shortlog show show-ref status tag version whatchanged "
    "config stash"
)


# Of these everything that they do is said above.
_KNOWN = _LOOKING | _EVERY_OPERAND | _LAST_OPERAND | _AFTER_THE_FIRST | _INSTALLERS | {"dd", "tar", "unzip"}


class Effects(Struct, frozen=True):
    """What a line reaches, and the paths that it names as created or changed."""

    reach: Reach = "read_only"
    paths: tuple[str, ...] = ()
    why: tuple[str, ...] = ()  # the commands that are the reason


def effects_of(line: str) -> Effects:
    """Read the line. What cannot be read with certainty is taken to change something near."""
    return _remembered(line) if len(line) <= SHORT else _effects(line)


def _effects(line: str) -> Effects:
    known = read(line)
    reach: Reach = "read_only" if known.understood and not known.dynamic else "local"
    paths: dict[str, None] = {}
    why: dict[str, None] = {}
    for command in known.commands:
        inner = command.inner_command
        given = arguments_of(inner.program, inner.arguments)
        own = [*_redirect_targets(inner), *_changed_paths(inner, given)]
        found = _reach(inner, given, own)
        paths.update(dict.fromkeys(path for path in own if path))
        if found != "read_only":
            why[inner.program or ">"] = None
        reach = max(reach, found, key=_ORDER.index)
    return Effects(reach, tuple(paths), tuple(why))


_remembered = lru_cache(maxsize=512)(_effects)  # a call comes twice, before and after; many come again

_ORDER: tuple[Reach, ...] = ("read_only", "local", "external")


def _redirect_targets(command: Command) -> Iterator[str]:
    """Files that the command's output goes to; a copy of a descriptor and the null device are none."""
    for redirect in command.redirects:
        is_copy = (redirect.operator in (">&", "<&") and redirect.target.strip("-").isdigit()) or redirect.target == "-"
        writes = redirect.operator in _WRITING or (redirect.operator == ">&" and not is_copy)
        if writes and not _is_nowhere(redirect.target):
            yield redirect.target


def _changed_paths(command: Command, given: Arguments) -> list[str]:
    """Paths that the program creates or changes, as far as its words tell."""
    program, operands = command.program, given.operands
    if program in _EVERY_OPERAND:
        return _files(*operands)
    if program in _LAST_OPERAND:
        folder = given.value("-t", "--target-directory")
        return [folder] if folder else operands[-1:] if len(operands) > 1 or program in ("ln", "install") else []
    if program in _AFTER_THE_FIRST:
        return operands[1:]
    if program in _NAMED_BY_OPTION:
        return _files(*given.values(*_NAMED_BY_OPTION[program]))
    if program == "dd":
        return _files(*(word[3:] for word in command.arguments if word.startswith("of=")))
    special = _SPECIAL.get(program)
    return special(command, given) if special else []


def _files(*names: str) -> list[str]:
    """Those of the names that are files: not a stream, and not the null device."""
    return [name for name in names if name and name != "-" and not _is_nowhere(name)]


def _is_nowhere(path: str) -> bool:
    return path in _TO_NOWHERE or path.startswith("/dev/fd/")


def _sed_targets(command: Command, given: Arguments) -> list[str]:
    in_place = any(name == "-i" or name.startswith("--in-place") for name, _ in given.options)
    has_script = given.has("-e", "-f", "--expression", "--file")
    operands = given.operands if has_script else given.operands[1:]
    written = [name for script in _scripts(given) for name in _sed_writes(script)]
    return [*(operands if in_place else []), *_files(*written)]


def _scripts(given: Arguments) -> list[str]:
    """What sed or awk are told to do, where the line says it."""
    named = given.values("-e", "--expression")
    scripts = named or ([] if given.has("-f", "--file") else given.operands[:1])
    return [script[:_LONGEST_SCRIPT] for script in scripts]


def _sed_writes(script: str) -> list[str]:
    rest = _SED_S.sub("", script)
    return [
        *(found[2] for found in _SED_S.findall(script)),
        *(name for letter, name in _SED_COMMAND.findall(rest) if letter != "e"),
    ]


def _runs_something(command: Command, given: Arguments) -> bool:
    """A script may run programs, or write to a file whose name only run time knows."""
    scripts = _scripts(given)
    if any(len(script) == _LONGEST_SCRIPT for script in scripts) or (not scripts and given.has("-f", "--file")):
        return True
    if command.program != "sed":
        return any(_AWK_RUNS.search(script) for script in scripts)
    letters = [found[1] for script in scripts for found in _SED_S.findall(script)]
    return any("e" in each for each in letters) or any(
        found[0] == "e" for script in scripts for found in _SED_COMMAND.findall(_SED_S.sub("", script))
    )


def _perl(command: Command, given: Arguments) -> list[str]:
    files = given.operands if given.has("-e", "-E") else given.operands[1:]
    return files if given.has("-i") else []


def _awk(command: Command, given: Arguments) -> list[str]:
    return _files(*(name for script in _scripts(given) for name in _AWK_WRITES.findall(script)))


def _curl(command: Command, given: Arguments) -> list[str]:
    folder = given.value("--output-dir")
    named = given.values("-o", "--output")
    beside = given.values("-D", "--dump-header", "-c", "--cookie-jar", "--trace", "--trace-ascii", "--etag-save")
    if not named and given.has("-O", "--remote-name", "--remote-name-all"):
        named = [_name_in(url) for url in given.operands]
    return [*(f"{folder}/{name}" if folder else name for name in _files(*named)), *_files(*beside)]


def _wget(command: Command, given: Arguments) -> list[str]:
    if given.has("--spider"):
        return []
    named = given.values("-O", "--output-document")
    if named:
        return _files(*named)
    folder = given.value("-P", "--directory-prefix")
    return [f"{folder}/{_name_in(url)}" if folder else _name_in(url) for url in given.operands]


def _tar(command: Command, given: Arguments) -> list[str]:
    if given.has("-x", "--extract", "--get"):
        return [] if given.has("-O", "--to-stdout") else [given.value("-C", "--directory") or "."]
    if given.has("-c", "-r", "-u", "-A", "--create", "--append", "--update", "--delete", "--concatenate"):
        return _files(given.value("-f", "--file"))
    return []


def _unzip(command: Command, given: Arguments) -> list[str]:
    return [] if given.has("-l", "-t", "-v", "-p", "-Z", "-z") else [given.value("-d") or "."]


def _find(command: Command, given: Arguments) -> list[str]:
    words = command.arguments
    after = (words[index + 1] for index, word in enumerate(words[:-1]) if word in _FIND_WRITES)
    return _files(*after)


def _second_operand(command: Command, given: Arguments) -> list[str]:
    return _files(*given.operands[1:2])


def _git(command: Command, given: Arguments) -> list[str]:
    operands = given.operands
    if output := given.values("--output"):
        return _files(*output)
    if operands[:1] == ["clone"]:
        return (
            [operands[2] if len(operands) > 2 else _name_in(operands[1]).removesuffix(".git")] if operands[1:] else []
        )
    if operands[:1] == ["init"]:
        return operands[1:2] or ["."]
    if operands[:1] == ["worktree"] and operands[1:2] == ["add"]:
        return operands[2:3]
    return []


_SPECIAL = {
    "sed": _sed_targets, "perl": _perl, "awk": _awk, "gawk": _awk, "mawk": _awk, "nawk": _awk, "curl": _curl,
    "wget": _wget,
    "tar": _tar, "unzip": _unzip, "find": _find, "uniq": _second_operand, "xxd": _second_operand, "git": _git,
}  # fmt: skip


def _reach(command: Command, given: Arguments, paths: Sequence[str]) -> Reach:
    """How far this command reaches; paths are what it is known to change."""
    if any(path.startswith(_TO_THE_NET) for path in paths):
        return "external"
    if not command.words:
        return "local" if paths else "read_only"
    if not command.literal[0]:
        return "local"
    program, operands = command.program, given.operands
    far = remote(program, given)
    if far == "sends" or (program not in _KNOWN and _carries_away(command)):
        return "external"
    if paths or program in _INSTALLERS:
        return "local"
    if far == "looks":
        return "read_only"
    if program in _LANGUAGE_INSTALLS:
        return "local" if (operands or [""])[0] in _LANGUAGE_INSTALLS[program] else _of_unknown(program)
    if program == "git":
        return "read_only" if not operands or _git_looks(given) else "local"
    if program in _CHANGES_WITH and given.has(*_CHANGES_WITH[program]):
        return _handed_on(command)
    if (program == "hostname" and operands) or (program in _SCRIPTED and _runs_something(command, given)):
        return "local"
    if program in ("dd", "tar", "unzip"):
        return "read_only"
    return _of_unknown(program)


def _carries_away(command: Command) -> bool:
    """Does something behind a program that is not known look like a command that sends?"""
    is_certain = command.program in CARRIERS
    if is_code_that_sends(command) or any(effects_of(line).reach == "external" for line in lines_in(command)):
        return True
    return may_have_nested_commands(command) and any(
        is_known_to_send(name := program_of(words[0]).partition("@")[0], is_certain=is_certain)
        and remote(name, arguments_of(name, words[1:])) == "sends"
        for words in nested_commands(command)
    )


def _handed_on(command: Command) -> Reach:
    """`fd -x PROGRAM ...`: as far as what it runs, and no less than near."""
    words = command.arguments
    starts = [index for index, word in enumerate(words) if word in ("-x", "-X", "--exec", "--exec-batch")]
    inner = effects_of(shlex.join(words[starts[0] + 1 :])).reach if starts and command.program == "fd" else "local"
    return max(inner, "local", key=_ORDER.index)


def _of_unknown(program: str) -> Reach:
    return "read_only" if program in _LOOKING else "local"


def _git_looks(given: Arguments) -> bool:
    """`git branch` lists, `git branch new` creates; `git stash` takes away."""
    first, rest = given.operands[0], given.operands[1:]
    if first == "config" and given.has("--get", "--get-all", "--get-regexp", "--list", "-l"):
        return True
    if first in ("branch", "tag") and given.has("-l", "--list", "--contains", "--merged", "--no-merged", "--points-at"):
        return not given.has("-d", "-D", "-m", "-M", "-c", "-C", "-f", "--delete", "--move", "--copy", "--force")
    if first in ("branch", "tag", "remote", "stash", "config", "reflog", "worktree", "submodule", "notes", "bisect"):
        lists = first not in ("stash", "worktree", "notes", "bisect")
        return (not rest and lists) or bool(set(rest[:1]) & {"list", "show", "get-url", "get", "status", "log"})
    return first in _GIT_LOOKING


def _name_in(url: str) -> str:
    return url.split("?", maxsplit=1)[0].rstrip("/").rpartition("/")[2] or "index.html"
