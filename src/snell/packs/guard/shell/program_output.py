"""What a plain program prints and which files it leaves, as far as later commands may use it."""

import itertools
import posixpath
from collections.abc import Callable

from snell.model.tool_names import name_set
from snell.packs.guard.known_names import names
from snell.packs.guard.known_values import (
    ARCHIVE,
    DECODED,
    EMPTY,
    ENVIRONMENT,
    INIT,
    NETWORK,
    PRIVATE,
    PROCESS,
    SECRET,
    UNKNOWN,
    UNKNOWN_VALUE,
    Value,
)
from snell.packs.guard.output_kinds import prints_personal, prints_secret, prints_shell_code
from snell.packs.guard.path_classes import NO_PROJECT
from snell.packs.guard.sensitive_files import is_secret_folder
from snell.packs.guard.shell.file_copies import copy_files, pack_archive, unpack_archive
from snell.packs.guard.shell.network_transfers import DOWNLOADERS, download_output
from snell.packs.guard.shell.process_signals import finds_snell, listed_processes, passed_labels
from snell.packs.guard.shell.program_files import file_value
from snell.packs.guard.shell.shell_state import Call, ShellState, program_of
from snell.packs.guard.shell.text_filters import decode_output, filter_text, unescape
from snell.shell.programs import program_row
from snell.system.lazy_regex import lazy_regex

_SPECIFIER = lazy_regex(r"%(?:%|[-+ #0]*\d*(?:\.\d+)?[bqsdiouxXcfeg])")
_FILTERS = names("filters")
_LISTERS = frozenset(("ps", "ss", "lsof", "netstat", "top", "pgrep", "pstree", "systemctl"))
_COPIERS = frozenset(("cp", "mv", "ln", "install", "rsync", "ditto", "scp", "sftp"))
_CLOUDS = frozenset(("aws", "gsutil", "gcloud", "rclone", "mc", "s3cmd", "s5cmd"))
_HIDES = lazy_regex(r"\\(?:x[2-7][0-9a-fA-F]|0?(?:0[4-7]|1[0-7])[0-7]|u00[2-7][0-9a-fA-F])")
_PACKERS = name_set("tar bsdtar zip 7z 7za cpio pax jar shar pg_dump pg_dumpall mysqldump mongodump")
_SQUEEZERS = {"gzip": ".gz", "xz": ".xz", "bzip2": ".bz2", "zstd": ".zst", "lz4": ".lz4", "gpg": ".gpg"}


def output_of(program: str, args: list[str], call: Call, scene: ShellState) -> Value:
    if program in _CLOUDS and {"cp", "copy", "copyto", "mv", "sync"} & set(args[:4]):
        return _copy(call, args, scene)
    if program == "openssl" and "s_client" in args:
        return Value(UNKNOWN, frozenset((f"{NETWORK} openssl",)))
    if program in ("tar", "bsdtar", "unzip", "7z", "cpio"):
        unpack_archive(program, call, args, scene)
    if program in _FIXED:
        return _FIXED[program]
    printer = _PRINTERS.get(program)
    return printer(call, args, scene) if printer else _other_output(program, call, args, scene)


_SELECTS = lazy_regex(r"select\(|^--?(?:search|author|label|head|assignee|filter|selector|l|L|S|milestone|app)\b")

# What these print, whatever their words are.
_FIXED = {
    **dict.fromkeys(("locate", "plocate", "mlocate", "mdfind"), Value(f"/{UNKNOWN}", frozenset(("found some",)))),
    "true": EMPTY,
    ":": EMPTY,
    "mktemp": Value("/tmp/tmp.made-here"),
    "date": Value("2026-01-01"),
}


def _copy(call: Call, args: list[str], scene: ShellState) -> Value:
    copy_files(program_of(call.words[0].text), args, scene, call.stdin)
    return Value(UNKNOWN, frozenset((NETWORK,))) if args[-1:] == ["-"] else EMPTY


def _other_output(program: str, call: Call, args: list[str], scene: ShellState) -> Value:
    labels = _carried_labels(program, call, scene) | {f"output {program}"}
    if program_row(program).ends and not any(map(_SELECTS.search, args)):
        labels |= {"every one"}
    if prints_secret(program, args):
        labels |= {f"{SECRET} {program}"}
    elif prints_personal(program, args):
        labels |= {f"{PRIVATE} {program}"}
        for name in args:
            if name.startswith(("/", "./", "~")) or name.endswith((".png", ".jpg", ".wav", ".mp4")):
                scene.write(name, Value(UNKNOWN, labels))
    if program in ("pgrep", "pidof", "lsof", "fuser") and finds_snell(args):
        labels |= {f"{PROCESS} snell"}
    labels |= {listed} if (listed := listed_processes(program, args)) else set()
    return Value(UNKNOWN, labels | {INIT} if prints_shell_code(program, args) else labels)


def leave_files(program: str, args: list[str], call: Call, scene: ShellState, output: Value) -> None:
    """Give files named by `-o` and the like the labels of what the program read."""
    if program in DOWNLOADERS:
        return
    text, names = " ".join(args), list[str]()
    if "=" in text:
        names += [arg.partition("=")[2] for arg in args if _OUTPUT.match(arg)]
    if not _OUTPUT_OPTIONS.isdisjoint(args):
        names += [after for arg, after in itertools.pairwise(args) if arg in _OUTPUT_OPTIONS]
    if program in ("sed", "awk", "gawk") and ("w " in text or ">" in text):
        names += _SED_WRITES.findall(text)
    labels = _carried_labels(program, call, scene) | output.labels if names else frozenset[str]()
    for name in names if labels else ():
        scene.write(name, Value(UNKNOWN, labels))


_OUTPUT_OPTIONS = frozenset(("-o", "--output", "-out", "-O"))
_OUTPUT = lazy_regex(r"(?:--output|--out|of|--outfile)=.")
_SED_WRITES = lazy_regex(r"(?:\bw |> ?\"?)([\w./-]+)")
_REDUCERS = names("programs_that_print_figures")
_CARRIED = (SECRET, ENVIRONMENT, PRIVATE, DECODED, NETWORK)


def _carried_labels(program: str, call: Call, scene: ShellState) -> frozenset[str]:
    """Return the labels that go from what a program reads into what it prints."""
    if program in _REDUCERS:
        return frozenset()
    labels = call.stdin.labels if call.stdin is not None else frozenset[str]()
    if not labels and not scene.files:
        return labels
    if scene.files:
        for word in call.words[1:]:
            content = scene.content(word.text) if word.text and len(word.text) < 1000 else None
            labels |= content.labels if content is not None else frozenset()
    return frozenset(label for label in labels if label.partition(" ")[0] in _CARRIED)


def printf_output(words: tuple[Value, ...]) -> Value:
    """Return what `printf` makes of its words."""
    words = words[1:] if words and words[0].text == "--" else words
    if not words:
        return EMPTY
    labels = frozenset(label for word in words for label in word.labels)
    if any(not word.is_known for word in words):
        return Value(UNKNOWN, labels)
    template, rest = words[0].text, [word.text for word in words[1:]]
    if any(_HIDES.search(word.text) for word in words):
        labels |= {DECODED}
    text = ""
    while True:
        before = len(rest)
        text += _SPECIFIER.sub(lambda found: _argument(found[0], rest), unescape(template))
        if not rest or len(rest) == before or len(text) > 20_000:
            return Value(text, labels)


def _argument(specifier: str, rest: list[str]) -> str:
    if specifier == "%%":
        return "%"
    text = rest.pop(0) if rest else ""
    if specifier[-1] == "b":
        return unescape(text)
    if specifier[-1] == "c":
        return text[:1]
    return text


_ECHO_OPTION = lazy_regex("-[neE]+")


def _echo(call: Call, args: list[str], _scene: ShellState) -> Value:
    words, escapes, newline = list(call.words[1:]), False, True
    while words and words[0].text[:1] == "-" and _ECHO_OPTION.fullmatch(words[0].text):
        option = words.pop(0).text
        escapes = escapes or "e" in option
        newline = newline and "n" not in option
    labels = frozenset(label for word in words for label in word.labels)
    text = " ".join(word.text for word in words)
    if escapes and _HIDES.search(text):
        labels |= {DECODED}
    return Value((unescape(text) if escapes else text) + ("\n" if newline else ""), labels)


def _environment(call: Call, args: list[str], scene: ShellState) -> Value:
    names = [arg for arg in args if not arg.startswith("-")]
    if names:
        return Value(UNKNOWN, frozenset((f"{ENVIRONMENT} {names[0]}",)))
    return Value(UNKNOWN, frozenset((f"{ENVIRONMENT} all variables",)))


def _names(call: Call, args: list[str], scene: ShellState) -> Value:
    program = program_of(call.words[0].text)
    paths = [arg for arg in args if not arg.startswith("-")]
    if not paths:
        return UNKNOWN_VALUE
    if program == "basename":
        return Value(posixpath.basename(paths[0]))
    if program == "dirname":
        return Value(posixpath.dirname(paths[0]) or ".")
    return Value(scene.absolute(paths[0]))


def _git(call: Call, args: list[str], scene: ShellState) -> Value:
    if args[:1] == ["rev-parse"] and "--show-toplevel" in args:
        return Value(scene.cwd if scene.project == NO_PROJECT else scene.project)
    if args[:1] in (["archive"], ["bundle"]):
        return Value(UNKNOWN, frozenset((ARCHIVE,)))
    if args[:1] == ["ls-files"]:  # all that is kept, or a part of it
        found = "found some" if any("*" in arg or arg in ("-o", "--others", "-i") for arg in args) else "found all"
        return Value(UNKNOWN, frozenset(("output git", found)))
    return Value(UNKNOWN, frozenset(("output git",)))


def _which(_call: Call, args: list[str], _scene: ShellState) -> Value:
    names = [arg for arg in args if not arg.startswith("-")]
    return Value(f"/usr/bin/{names[0]}" if names and "/" not in names[0] else (names[0] if names else UNKNOWN))


_ENTRIES = "found entries"  # all that is in a folder


def _ls(call: Call, args: list[str], scene: ShellState) -> Value:
    """Return the names that `ls` lists, if a pattern says which they are."""
    named = [arg for arg in args if "*" in arg.rstrip("/").rpartition("/")[2]]
    labels = _carried_labels("ls", call, scene) | {"output ls"}
    if not named and not any(arg.startswith("-") and "d" in arg for arg in args):
        labels |= {_ENTRIES}
    if is_secret_folder(scene.cwd) and all(arg.startswith("-") for arg in args):
        return Value(f"{scene.cwd}/{UNKNOWN}", labels)
    return Value(named[0] if len(named) == 1 == len([arg for arg in args if arg[:1] != "-"]) else UNKNOWN, labels)


# Programs whose output is the text that goes in, one way or another.
_SAME_TEXT = name_set("cat less more bat pv buffer head tail tee sponge")
_DECODERS = name_set("base64 base32 openssl xxd uudecode")
_UNPACKERS = name_set("gunzip zcat unxz bunzip2")
_PATTERN_FIRST = name_set("grep egrep fgrep rg sed awk gawk mawk jq yq cut")


def _filter(call: Call, args: list[str], scene: ShellState) -> Value:
    program = program_of(call.words[0].text)
    given = _filter_input(program, call, args, scene)
    if given.labels:
        given = Value(given.text, passed_labels(program, args, given.labels) - {_ENTRIES})
    if program in _DECODERS:
        return decode_output(program, args, given)
    if program in _UNPACKERS or (program in _SQUEEZERS and set(args) & {"-d", "-dc", "-cd"}):
        return Value(UNKNOWN, given.labels | {DECODED})
    if program == "tee" or (program in _SQUEEZERS and "-c" not in args):
        for path in (arg for arg in args if not arg.startswith("-")):
            scene.write(path + _SQUEEZERS.get(program, ""), given)
    if program in _SAME_TEXT:
        return given
    return Value(filter_text(program, args, given.text) if given.is_known else UNKNOWN, given.labels)


def _filter_input(program: str, call: Call, args: list[str], scene: ShellState) -> Value:
    """Return what goes into a filter: its files, or its standard input."""
    paths = _filtered_paths(program, args)
    if program in _PATTERN_FIRST and paths:
        if call.stdin is not None and call.stdin.detail("output") in _LISTERS and finds_snell(paths[:1]):
            return Value(UNKNOWN, frozenset((f"{PROCESS} snell",)))
        paths = paths[1:]
    if not paths:
        return call.stdin or UNKNOWN_VALUE
    values = [scene.content(path) or file_value(scene.absolute(path), scene) for path in paths]
    if "-" in args:
        values.append(call.stdin or UNKNOWN_VALUE)
    total = values[0]
    for value in values[1:]:
        total = total.concat(value)
    return total


def _filtered_paths(program: str, args: list[str]) -> list[str]:
    if program == "dd":
        return [arg[3:] for arg in args if arg.startswith("if=")]
    if program in ("openssl", "tee", "sponge", "tr"):
        return [arg for before, arg in itertools.pairwise(args) if before == "-in"]
    paths = [arg for arg in args if arg and arg != "-" and not arg.startswith("-")]
    return [path for path in paths if not path.lstrip("+").isdigit()] if program in ("head", "tail") else paths


_PRINTERS: dict[str, Callable[[Call, list[str], ShellState], Value]] = {
    **dict.fromkeys(_FILTERS, _filter),
    **dict.fromkeys(_PACKERS, pack_archive),
    **dict.fromkeys(
        DOWNLOADERS, lambda call, args, scene: download_output(program_of(call.words[0].text), args, scene)
    ),
    **dict.fromkeys(_COPIERS, _copy),
    **dict.fromkeys(("basename", "dirname", "realpath", "readlink"), _names),
    **dict.fromkeys(("which", "command"), _which),
    "echo": _echo,
    "printf": lambda call, _args, _scene: printf_output(call.words[1:]),
    "printenv": _environment,
    "pwd": lambda _call, _args, scene: Value(scene.cwd),
    "git": _git,
    "ls": _ls,
    "yes": lambda _call, args, _scene: Value((" ".join(args) or "y") + "\n"),
}
