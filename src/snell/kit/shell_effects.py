"""
What does a command line create or change? Read from the line itself, without running it.

A guess to the safe side: what is listed is there; a program that is not known here is taken to change something near.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from snell.kit.shell import Command, read

Reach = Literal["external", "local", "read_only"]

_TO_NOWHERE = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd")
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
_INSTALLERS = frozenset(("apt", "apt-get", "apk", "brew", "dnf", "yum", "pacman", "zypper", "snap", "port"))
_LANGUAGE_INSTALLS = {
    "pip": ("install", "uninstall", "download"), "pip3": ("install", "uninstall", "download"),
    "uv": ("add", "remove", "sync", "lock", "pip", "tool"), "poetry": ("add", "remove", "install", "update"),
    "npm": ("install", "i", "ci", "add", "uninstall", "update"), "pnpm": ("install", "i", "add", "remove", "update"),
    "yarn": ("", "install", "add", "remove", "upgrade"), "bun": ("install", "add", "remove"),
    "cargo": ("install", "add", "remove", "update"), "go": ("get", "install", "mod"), "gem": ("install", "uninstall"),
    "composer": ("install", "require", "update"), "conda": ("install", "create", "remove", "update"),
}  # fmt: skip
# Words after which a program reaches beyond this machine.
_SENDING = {
    "git": ("push",), "npm": ("publish", "unpublish", "deprecate"), "pnpm": ("publish",), "yarn": ("publish",),
    "cargo": ("publish", "yank"), "twine": ("upload",), "gem": ("push",), "docker": ("push",), "podman": ("push",),
    "uv": ("publish",), "poetry": ("publish",), "terraform": ("apply", "destroy"), "pulumi": ("up", "destroy"),
    "kubectl": ("apply", "create", "delete", "patch", "replace", "scale", "rollout", "edit", "set", "annotate"),
    "helm": ("install", "upgrade", "uninstall", "rollback"),
}  # fmt: skip
_REMOTE = frozenset(("ssh", "sftp", "ftp", "mail", "mailx", "sendmail", "mutt", "msmtp", "nc", "ncat", "telnet"))
_GIT_LOOKING = _names(
    "blame branch cat-file describe diff for-each-ref grep help log ls-files ls-remote ls-tree merge-base "
    "name-rev reflog remote rev-list rev-parse shortlog show show-ref status tag version whatchanged "
    "config stash"
)
_GH_CHANGING = _names("create close comment delete edit merge reopen review run upload lock unlock transfer rerun set")
_CLOUD_LOOKING = ("list", "describe", "get", "ls", "show")
_VALUED = {
    "curl": ("-o", "-d", "-X", "-H", "-F", "-T", "-u", "-A", "-b", "-c", "--output", "--data", "--request"),
    "wget": ("-O", "-P", "-o", "-U", "--output-document", "--directory-prefix"),
    "tar": ("-f", "-C", "--file", "--directory"), "unzip": ("-d", "-x"), "install": ("-m", "-o", "-g", "-t"),
    "mkdir": ("-m",), "touch": ("-d", "-r", "-t"), "cp": ("-t", "-S"), "mv": ("-t", "-S"), "ln": ("-t", "-S"),
    "truncate": ("-s", "-r"), "git": ("-C", "-c", "--git-dir", "--work-tree"), "rsync": ("-e", "--exclude"),
    "scp": ("-i", "-P", "-o", "-F"), "sed": ("-e", "-f"),
}  # fmt: skip


class Effects(Struct, frozen=True):
    """What a line reaches, and the paths that it names as created or changed."""

    reach: Reach = "read_only"
    paths: tuple[str, ...] = ()
    why: tuple[str, ...] = ()  # the commands that are the reason


def effects_of(line: str) -> Effects:
    """Read the line. What cannot be read with certainty is taken to change something near."""
    known = read(line)
    reach: Reach = "read_only" if known.understood and not known.dynamic else "local"
    paths: dict[str, None] = {}
    why: dict[str, None] = {}
    for command in known.commands:
        inner = command.unwrapped
        own = [*_redirected(inner), *_changed(inner)]
        found = _reach(inner, own)
        paths.update(dict.fromkeys(path for path in own if path))
        if found != "read_only":
            why[inner.program or ">"] = None
        reach = max(reach, found, key=_ORDER.index)
    return Effects(reach, tuple(paths), tuple(why))


_ORDER: tuple[Reach, ...] = ("read_only", "local", "external")


def _redirected(command: Command) -> Iterator[str]:
    """Files that the command's output goes to; a copy of a descriptor and the null device are none."""
    for redirect in command.redirects:
        is_copy = (redirect.operator in (">&", "<&") and redirect.target.strip("-").isdigit()) or redirect.target == "-"
        writes = redirect.operator in _WRITING or (redirect.operator == ">&" and not is_copy)
        if writes and not redirect.target.startswith(_TO_NOWHERE):
            yield redirect.target


def _changed(command: Command) -> list[str]:
    """Paths that the program creates or changes, as far as its words tell."""
    program, operands = command.program, _operands(command)
    if program in _EVERY_OPERAND:
        return [path for path in operands if not path.startswith(_TO_NOWHERE)]
    if program in _LAST_OPERAND:
        folder = _value(command, "-t", "--target-directory")
        return [folder] if folder else operands[-1:] if len(operands) > 1 or program in ("ln", "install") else []
    if program in _AFTER_THE_FIRST:
        return operands[1:]
    if program == "dd":
        return [word[3:] for word in command.arguments if word.startswith("of=") and word[3:] not in _TO_NOWHERE]
    if program in ("sed", "perl"):
        return _edited_in_place(command, operands)
    special = _SPECIAL.get(program)
    return special(command, operands) if special else []


def _edited_in_place(command: Command, operands: list[str]) -> list[str]:
    in_place = any(word.startswith(("-i", "--in-place")) or _has_letter(word, "i") for word in command.arguments)
    has_script = any(word in ("-e", "-f", "--expression", "--file") for word in command.arguments)
    return (operands if has_script else operands[1:]) if in_place else []


def _curl(command: Command, operands: list[str]) -> list[str]:
    named = _value(command, "-o", "--output")
    if named:
        return [] if named == "-" or named.startswith(_TO_NOWHERE) else [named]
    remote = any(word in ("-O", "--remote-name") or _has_letter(word, "O") for word in command.arguments)
    return [_name_in(url) for url in operands] if remote else []


def _wget(command: Command, operands: list[str]) -> list[str]:
    named = _value(command, "-O", "--output-document")
    if named:
        return [] if named == "-" or named.startswith(_TO_NOWHERE) else [named]
    folder = _value(command, "-P", "--directory-prefix")
    return [f"{folder}/{_name_in(url)}" if folder else _name_in(url) for url in operands]


def _tar(command: Command, operands: list[str]) -> list[str]:
    flags = command.arguments[0] if command.arguments else ""
    letters = flags.lstrip("-") if not flags.startswith("--") else ""
    if "x" in letters or {"--extract", "--get"} & set(command.arguments):
        return [_value(command, "-C", "--directory") or "."]
    if "c" in letters or "r" in letters or "--create" in command.arguments:
        archive = _value(command, "-f", "--file") or next(
            (word for word in command.arguments[1:] if word[0:1] != "-"), ""
        )
        return [archive] if archive not in ("", "-") else []
    return []


def _unzip(command: Command, operands: list[str]) -> list[str]:
    looks = any(word in ("-l", "-t", "-v", "-p", "-Z") for word in command.arguments)
    return [] if looks else [_value(command, "-d") or "."]


def _git(command: Command, operands: list[str]) -> list[str]:
    if operands[:1] == ["clone"]:
        return (
            [operands[2] if len(operands) > 2 else _name_in(operands[1]).removesuffix(".git")] if operands[1:] else []
        )
    if operands[:1] == ["init"]:
        return operands[1:2] or ["."]
    if operands[:1] == ["worktree"] and operands[1:2] == ["add"]:
        return operands[2:3]
    return []


_SPECIAL = {"curl": _curl, "wget": _wget, "tar": _tar, "unzip": _unzip, "git": _git}


def _reach(command: Command, paths: Sequence[str]) -> Reach:
    """How far this command reaches; paths are what it is known to change."""
    if not command.words:
        return "local" if paths else "read_only"
    if not command.literal[0]:
        return "local"
    program, operands = command.program, _operands(command)
    if _sends(command, program, operands):
        return "external"
    if paths or program in _INSTALLERS:
        return "local"
    if program in _LANGUAGE_INSTALLS:
        return "local" if (operands or [""])[0] in _LANGUAGE_INSTALLS[program] else _of_unknown(program)
    if program == "find" and "-delete" in command.arguments:
        return "local"
    if program == "git":
        return "read_only" if not operands or _git_looks(operands) else "local"
    if program in ("aws", "gcloud", "az"):
        return "read_only"
    if program in ("curl", "wget", "dd", "tar", "unzip", "perl"):
        return "read_only" if program != "perl" else "local"
    return _of_unknown(program)


def _of_unknown(program: str) -> Reach:
    return "read_only" if program in _LOOKING else "local"


def _sends(command: Command, program: str, operands: list[str]) -> bool:
    if program in _REMOTE:
        return True
    if program in ("scp", "rsync"):
        return any(":" in word.split("/")[0] for word in operands[-1:])
    if program == "curl":
        return _curl_sends(command)
    if program == "wget":
        return any(word.startswith(("--post-", "--method=", "--body-")) for word in command.arguments)
    if program in ("gh", "glab"):
        return bool(set(operands[1:2]) & _GH_CHANGING) or (operands[:1] == ["api"] and _curl_sends(command))
    if program in ("aws", "gcloud", "az"):
        return not any(word.startswith(_CLOUD_LOOKING) for word in operands)
    return bool(operands) and operands[0] in _SENDING.get(program, ()) and "--dry-run" not in command.arguments


def _curl_sends(command: Command) -> bool:
    method = _value(command, "-X", "--request", "--method").upper()
    if method:
        return method not in ("GET", "HEAD", "OPTIONS")
    sends = ("-d", "-F", "-T", "-f", "--data", "--form", "--upload-file", "--json", "--field", "--raw-field")
    exact = ("-d", "-F", "-T") if command.program == "curl" else sends
    return any(
        word in exact or word.startswith(("--data", "--form", "--upload-file", "--json")) for word in command.words
    )


def _git_looks(operands: list[str]) -> bool:
    """`git branch` lists, `git branch new` creates; `git stash` takes away."""
    first, rest = operands[0], operands[1:]
    if first in ("branch", "tag", "remote", "stash", "config"):
        return (not rest and first != "stash") or bool(set(rest[:1]) & {"list", "show", "get-url"})
    return first in _GIT_LOOKING


def _operands(command: Command) -> list[str]:
    """The words that are neither options nor values of known options."""
    valued = _VALUED.get(command.program, ())
    found: list[str] = []
    words = iter(command.arguments)
    for word in words:
        if word == "--":
            found += words
        elif word.startswith("-") and len(word) > 1:
            if word in valued:
                next(words, None)
        else:
            found.append(word)
    return found


def _value(command: Command, *names: str) -> str:
    """The value of an option, in any of its spellings."""
    words = command.arguments
    for index, word in enumerate(words):
        for name in names:
            if word == name:
                return words[index + 1] if index + 1 < len(words) else ""
            if name.startswith("--") and word.startswith(f"{name}="):
                return word[len(name) + 1 :]
            if not name.startswith("--") and word.startswith("-") and not word.startswith("--") and name[1] in word[1:]:
                attached = word.partition(name[1])[2]
                return attached or (words[index + 1] if index + 1 < len(words) else "")
    return ""


def _has_letter(word: str, letter: str) -> bool:
    """Is this letter among the short options of a word? What follows `-X` in `-XPOST` is its value."""
    letters = "" if word.startswith("--") or not word.startswith("-") else word[1:]
    return letter in letters.partition("X")[0] and not letters.startswith(("d", "H", "o"))


def _name_in(url: str) -> str:
    return url.split("?", maxsplit=1)[0].rstrip("/").rpartition("/")[2] or "index.html"
