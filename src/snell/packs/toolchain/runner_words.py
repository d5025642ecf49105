"""Replace the words of a command that name its runner by those of the project; everything after them stays."""

import os
import shlex

from msgspec import Struct

from snell.packs.toolchain.command_intent import MANAGERS, CommandIntent
from snell.packs.toolchain.projects import Project
from snell.packs.toolchain.toolchains import ProjectCommand, Toolchain
from snell.shell.reader import Command

# What shows that a project uses a runner: its lockfile, its table in pyproject.toml.
_PYTHON_RUNNERS = {
    "uv": ("uv.lock", "[tool.uv"),
    "poetry": ("poetry.lock", "[tool.poetry"),
    "pdm": ("pdm.lock", "[tool.pdm"),
}
_ONE_TOOL = ("rust", "go", "elixir", "dotnet", "c")  # languages with one tool: the typed command is right
_BUILDERS = {"gradle": "gradle", "./gradlew": "gradle", "mvn": "maven", "./mvnw": "maven"}


class Replacement(Struct, frozen=True):
    """The new text for the first words of a command."""

    text: str
    words: int  # how many words of the command it replaces


def replacement_for(
    intent: CommandIntent, command: Command, found: ProjectCommand, project: Project
) -> Replacement | None:
    """Return what replaces a command; None when a selection would be lost."""
    chain, program = found.toolchain, command.words[0].lower()
    if not chain.runs_targets and chain.family == intent.family:
        if _keeps_its_runner(program, chain, project) or chain.family in _ONE_TOOL:
            return _keep_words(command, len(command.words))
        if chain.family == "python" and chain.runner:
            return _python(intent, command, chain)
        if program in MANAGERS and chain.name in MANAGERS:
            return _node(intent, command, chain.name)
        if _BUILDERS.get(program) == chain.name:
            return _with_wrapper(intent, command, found)
        if chain.name == "hatch" and intent.action == "test":
            return Replacement(found.command, intent.arguments_at)
    return Replacement(found.command, len(command.words)) if intent.is_whole else None


def from_folder(folder: str, text: str, chain: Toolchain, project: Project) -> str:
    """Return the same command as it must be typed in a folder below the project."""
    folder = os.path.normpath(folder)
    if project.folder == folder:
        return text
    if chain.name == "make":
        return text.replace("make", f"make -C {shlex.quote(os.path.relpath(project.folder, folder))}", 1)
    first, space, rest = text.partition(" ")
    if first.startswith("."):
        first = shlex.quote(os.path.relpath(os.path.join(project.folder, first), folder))
    return first + space + rest


def _keeps_its_runner(program: str, chain: Toolchain, project: Project) -> bool:
    """
    Whether the command names a runner that should not be replaced.

    `poetry run` becomes `uv run` only in a project that is locked by uv and shows no sign of poetry.
    """
    if program in ("deno", "hatch"):
        return chain.name != program
    if program not in _PYTHON_RUNNERS:
        return False
    lockfile, table = _PYTHON_RUNNERS[program]
    is_known = project.has(lockfile) or table in project.text("pyproject.toml")
    return is_known or chain.name not in _PYTHON_RUNNERS


def _keep_words(command: Command, words: int) -> Replacement:
    return Replacement(command.text[command.spans[0][0] : command.spans[words - 1][1]], words)  # with its quotes


def _python(intent: CommandIntent, command: Command, chain: Toolchain) -> Replacement:
    """Return the same tool with the same arguments, started the way this project starts its tools."""
    if chain.runner == "python -m":
        return _keep_words(command, intent.arguments_at)  # by name or as a module: no difference
    tool = " ".join(command.words[intent.tool_at : intent.arguments_at]).lower()
    return Replacement(f"{chain.runner} {tool}", intent.arguments_at)


def _node(intent: CommandIntent, command: Command, manager: str) -> Replacement | None:
    """Return the same script. Only npm needs `--` before the script's arguments, and takes others for itself."""
    old, script = command.words[0].lower(), command.words[intent.arguments_at - 1]
    if old == manager and command.words[1] != "run":
        return _keep_words(command, intent.arguments_at)
    is_short = intent.action == "test" and script in ("test", "t", "tst") and manager != "bun"
    text = f"{manager} {'test' if is_short else f'run {script}'}"
    separated = intent.arguments[:1] == ("--",)
    if not intent.arguments or old == manager:
        return Replacement(text, intent.arguments_at)
    if old == "npm":
        return Replacement(text, intent.arguments_at + 1) if separated else None
    return (
        Replacement(f"{text} --", intent.arguments_at + separated)
        if manager == "npm"
        else Replacement(text, intent.arguments_at)
    )


def _with_wrapper(intent: CommandIntent, command: Command, found: ProjectCommand) -> Replacement:
    """Return the same goals with the same arguments, run by the project's wrapper."""
    wrapper = found.command.split()[0]
    is_wrapped = command.words[0].startswith("./")
    return Replacement(
        " ".join((command.words[0] if is_wrapped else wrapper, *command.words[1 : intent.arguments_at])),
        intent.arguments_at,
    )
