"""
Return what a command such as `make lint` or `npm run lint` runs: the text of the target, not the whole file.

An approval of such a command covers that text, with the targets and scripts that it needs in turn.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from snell.shell import build_targets
from snell.shell.arguments import arguments_of
from snell.shell.command_line import Command
from snell.shell.reader import read
from snell.shell.working_folders import with_folders
from snell.system.files import text_or_nothing

LONGEST = 512 * 1024
_OTHER_SCRIPT = re.compile(
    rf"\b(?:{'|'.join(build_targets.SCRIPT_RUNNERS)})\s+(?:(?:-[\w=-]+|run(?:-script)?)\s+)*([\w:.-]+)"
)


class TargetText(Struct, frozen=True):
    command: str  # `make lint`
    text: str
    files: tuple[str, ...]  # that the text is from, or would be from if they were added


def target_texts(line: str, root: Path) -> list[TargetText]:
    """Return the texts behind all targets and scripts that a command line runs from the project's root."""
    parsed = read(line)
    folders = {command.start: folder for command, folder in with_folders(parsed, str(root)) if folder}
    return [
        text
        for command in parsed.commands
        for layer in command.layers
        for text in _texts(layer, Path(folders.get(command.start, root)))
    ]


_CALLS_MAKE = re.compile(r"\$[({]MAKE[)}]|\bmake\s+-\w*C")
_INCLUDES_PATTERN = re.compile(r"^[ \t]*-?s?include\s.*[*?$]", re.MULTILINE)


def not_read(target: TargetText) -> Iterator[str]:
    """Yield what a target may run and an approval does not cover."""
    if target.files[0].endswith("package.json"):
        yield "programs in `node_modules/.bin`"
    if _CALLS_MAKE.search(target.text):
        yield "Makefiles that the target calls"
    if _INCLUDES_PATTERN.search(target.text):
        yield "files that it includes by a pattern or variable"


# Options with which a build tool runs in another folder: `make -C sub lint`, `npm --prefix sub run lint`.
_FOLDERS = ("-C", "-d", "--directory", "--dir", "--prefix", "--cwd", "--working-directory")


def _texts(command: Command, start: Path) -> Iterator[TargetText]:
    given = arguments_of(command.program, command.arguments)
    names = [word for word in given.operands if "=" not in word]
    folders = [folder for folder in given.values(*_FOLDERS) if folder]
    root = start.joinpath(*folders)
    label = " ".join([command.program, *(f"-C {folder}" for folder in folders), *names])
    if usual := build_targets.BUILD_FILES.get(command.program):
        named = given.values("-f", "--file", "--makefile", "--justfile", "-t", "--taskfile")
        places = [root / name for name in (*named, *usual)]
        if file := next(filter(Path.is_file, places), None):
            yield _target_text(label, names, file, places)
    elif command.program in build_targets.SCRIPT_RUNNERS and (root / "package.json").is_file():
        wanted = names[1:2] if names[:1] and names[0] in ("run", "run-script") else names[:1]
        if text := _script_text(wanted, root / "package.json"):
            settings = text_or_nothing(root / ".npmrc", LONGEST).splitlines()  # they may name the shell that runs it
            text = "\n".join([text, *(line for line in settings if "shell" in line)])
            yield TargetText(label, text, (str(root / "package.json"), str(root / ".npmrc")))


def _target_text(label: str, names: list[str], file: Path, places: list[Path]) -> TargetText:
    """Return the recipes that run, and every line that is no recipe: it may set a variable that a recipe uses."""
    files, targets, common = [str(file)], build_targets.Targets(), list[str]()
    for path in files:
        text = text_or_nothing(Path(path), LONGEST)
        common += [each for each in text.splitlines() if each[:1] not in ("\t", " ", "", "#")]
        included = (os.path.join(file.parent, name) for name in build_targets.read_targets(file.name, text, targets))
        files += [each for each in included if each not in files][: 20 - len(files)]
    lines = build_targets.recipe_lines(names or list(targets)[:1], targets)
    return TargetText(label, "\n".join([*common, *lines]), (*files, *map(str, places)))


def _script_text(names: list[str], file: Path) -> str:
    try:
        scripts = msgspec.json.decode(text_or_nothing(file, LONGEST), type=dict[str, msgspec.Raw]).get("scripts", b"{}")
        known = msgspec.json.decode(scripts, type=dict[str, str])
    except (msgspec.DecodeError, msgspec.ValidationError):
        return ""
    to_do, found = list(names), dict[str, str]()
    while to_do and len(found) < 50:
        name = to_do.pop(0)
        for each in (f"pre{name}", name, f"post{name}"):
            if each in known and each not in found:
                found[each] = known[each]
                to_do += _OTHER_SCRIPT.findall(known[each])
    return "\n".join(f"{name}: {text}" for name, text in found.items())
