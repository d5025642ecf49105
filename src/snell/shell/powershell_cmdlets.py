"""The commands of a POSIX shell that do what the usual cmdlets and methods of PowerShell do."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from snell.model.tool_names import name_set
from snell.system.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from snell.shell.powershell import Element

_PATHS = ("-path", "-literalpath", "-lp", "-filepath", "-name")
_SWITCHES = name_set("-recurse -r -force -f -raw -usebasicparsing -confirm:$false -passthru -wait -nonewline")
_NO_VALUE = lazy_regex(r"-\w+:.*|-(?:rf|fr|R|Rf)")


def _is_switch(word: str) -> bool:
    """Tell whether a parameter takes no value: a switch, its beginning, or `-rf`, which other shells have."""
    name = word.lower()
    is_begun = len(name) > 2 and any(each.startswith(name) for each in ("-recurse", "-force", "-verbose", "-whatif"))
    return name in _SWITCHES or is_begun or _NO_VALUE.fullmatch(word) is not None


class _Given:
    """The words of a cmdlet: values by parameter, switches, and the rest in their order."""

    def __init__(self, words: Sequence[str]) -> None:
        self.named: dict[str, str] = {}
        self.operands: list[str] = []
        waiting = ""
        for word in words:
            if re.match(r"-[A-Za-z]", word) and not waiting:
                if _is_switch(word):
                    self.named[word.lower().partition(":")[0]] = ""
                else:
                    waiting = word.lower()
            elif waiting:
                self.named[waiting] = word
                waiting = ""
            else:
                self.operands.append(word)
        if waiting:
            self.named[waiting] = ""

    def has(self, *prefixes: str) -> bool:
        return any(name.startswith(prefixes) for name in self.named)

    def value(self, *names: str) -> str:
        return next((value for name, value in self.named.items() if name in names and value), "")

    @property
    def paths(self) -> str:
        named = [value for name, value in self.named.items() if name in _PATHS and value]
        return " ".join([*named, *self.operands])


def counterpart(elements: Sequence["Element"], *, is_first: bool) -> str:
    """Return the command of a POSIX shell for one command of PowerShell."""
    first = elements[0]
    if first.is_block:
        return first.text or ":"
    name = first.text.strip("'\"").lower()
    blocks = [each.text for each in elements[1:] if each.is_block]
    words = [each.text for each in elements[1:] if not each.is_block]
    if words[:1] == ["="]:
        return _assign(first.text, [each for each in elements[2:] if not each.is_block])
    kind = _ALIASES.get(name, "")
    if kind == "echo" and not is_first:
        kind = "cat -"
    if kind == "each":
        return "while read item; do\n" + ("\n".join(blocks) or ":") + "\ndone"
    if kind in _WRITERS:
        line = _WRITERS[kind](_Given(words), is_first)
    else:
        line = " ".join([kind or _program(first.text), *words])
    return "\n".join([line, *blocks])


def _program(text: str) -> str:
    """Return the name of a program or cmdlet; a value that is printed is an argument of `echo`."""
    return f"echo {text}" if text.startswith(("$", '"$')) and "/" not in text else text


def _assign(variable: str, value: Sequence["Element"]) -> str:
    """Return `$x = ...` as an assignment of a value, or of what a command prints."""
    if len(value) == 1 and value[0].text.startswith(("$", '"', "'")):
        return f"{variable}={value[0].text}"
    return f'{variable}="$({counterpart(value, is_first=True)})"' if value else f"{variable}="


def _list(given: _Given, _is_first: bool) -> str:
    if re.match(r"['\"]?env:", given.paths, re.IGNORECASE):
        return "env"
    return f"find {given.paths or '.'}" if given.has("-r") else f"ls {given.paths}"


def _read(given: _Given, _is_first: bool) -> str:
    env = re.match(r"(?i)['\"]?env:[/]?(\w*)", given.paths)
    return f"printenv {env[1]}" if env else f"cat {given.paths}"


def _remove(given: _Given, is_first: bool) -> str:
    if re.search(r"(?i)(?:^|[\s'\"])(?:hk(?:lm|cu|cr|u)|registry:|cert|wsman):", given.paths):
        return f"reg delete {given.paths} /f"
    flags = {word.lower() for word in given.operands if word.startswith("/") and len(word) == 2}  # as `cmd` has them
    given.operands = [word for word in given.operands if word.lower() not in flags]
    options = ("r" if given.has("-r", "-fr") or "/s" in flags else "") + ("f" if given.has("-f") or flags else "")
    command = f"rm {'-' + options + ' ' if options else ''}{given.paths}"
    return command if is_first or given.paths else f"xargs rm -r{options.replace('r', '')}"


def _copy(program: str) -> Callable[[_Given, bool], str]:
    def write(given: _Given, _is_first: bool) -> str:
        target = given.value("-destination", "-dest", "-newname")
        return f"{program} {'-r ' if given.has('-r') else ''}{given.paths} {target}".rstrip()

    return write


def _write(given: _Given, is_first: bool) -> str:
    value = given.value("-value")
    paths = given.paths.split(" ")
    if not value and len(paths) > 1 and is_first:
        value, paths = " ".join(paths[1:]), paths[:1]
    return f"printf %s {value} > {paths[0]}" if value else f"tee {' '.join(paths)}"


def _fetch(given: _Given, is_first: bool) -> str:
    method, body = given.value("-method"), given.value("-body")
    target, source = given.value("-outfile", "-o"), given.value("-infile")
    address = given.value("-uri", "-url") or " ".join(given.operands)
    piped = "@-" if method and not is_first else ""
    options = [("-X", method), ("-d", body or piped), ("-o", target), ("-T", source)]
    sent = " ".join(f"{option} {value}" for option, value in options if value)
    return f"curl {sent} {address}".replace("  ", " ")


def _evaluate(given: _Given, is_first: bool) -> str:
    code = given.value("-command") or " ".join(given.operands)
    return f"eval {code}" if code else "sh"


def _start(given: _Given, _is_first: bool) -> str:
    program = given.value("-filepath") or " ".join(given.operands[:1])
    rest = given.value("-argumentlist", "-args") or " ".join(given.operands[1:])
    elevates = "sudo " if given.value("-verb").lower() == "runas" else ""
    return f"{elevates}{program} {rest}".strip()


_WRITERS: dict[str, Callable[[_Given, bool], str]] = {
    "ls": _list,
    "cat": _read,
    "rm": _remove,
    "cp": _copy("cp"),
    "mv": _copy("mv"),
    "tee": _write,
    "curl": _fetch,
    "eval": _evaluate,
    "start": _start,
    "truncate": lambda given, _is_first: f"truncate -s 0 {given.paths}",
}


class Table(Struct, frozen=True):
    """The content of `powershell_cmdlets.toml`."""

    cmdlets: dict[str, str]
    methods: dict[str, str]
    statics: dict[str, dict[str, str]]


_TABLE = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=Table)
_ALIASES = {name: command for command, names in _TABLE.cmdlets.items() for name in names.split()}
METHODS = {name: command for command, names in _TABLE.methods.items() for name in names.split()}
STATICS = {
    (kind, name): command
    for kind, rows in _TABLE.statics.items()
    for command, names in rows.items()
    for name in names.split()
}


def method_text(command: str, given: str) -> str:
    """Return the text for a call of a method: what a command prints, with `{}` for its arguments, or a constant."""
    return f'"$({command.format(given)})"' if "{}" in command else command.removeprefix("=")
