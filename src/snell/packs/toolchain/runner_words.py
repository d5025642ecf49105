"""The words of a command that name its runner, in the way of this project; everything after them stays."""

import os
import shlex

from msgspec import Struct

from snell.packs.toolchain.command_intent import MANAGERS, CommandIntent
from snell.packs.toolchain.projects import Project
from snell.packs.toolchain.toolchains import Answer, Toolchain
from snell.shell.reader import Command

# Of which a project of a runner's shows signs: its lockfile, its part of pyproject.toml.
_PYTHON_RUNNERS = {
    "uv": ("uv.lock", "[tool.uv"),
    "poetry": ("poetry.lock", "[tool.poetry"),
    "pdm": ("pdm.lock", "[tool.pdm"),
}
_ONE_TOOL = ("rust", "go", "elixir", "dotnet", "c")  # languages with one tool for it: what was typed is right
_BUILDERS = {"gradle": "gradle", "./gradlew": "gradle", "mvn": "maven", "./mvnw": "maven"}


class Made(Struct, frozen=True):
    text: str
    words: int  # how many words of the command it takes the place of


def command_for(asked: CommandIntent, command: Command, answer: Answer, project: Project) -> Made | None:
    """What takes the place of a command; None when something that was asked for would be lost."""
    chain, program = answer.toolchain, command.words[0].lower()
    if not chain.runs_targets:
        if _names_its_runner(program, chain, project) or chain.family in _ONE_TOOL:
            return _as_it_is(command, len(command.words))
        if chain.family == "python" and chain.runner:
            return _python(asked, command, chain)
        if program in MANAGERS and chain.name in MANAGERS:
            return _node(asked, command, chain.name)
        if _BUILDERS.get(program) == chain.name:
            return _wrapped(asked, command, answer)
        if chain.name == "hatch" and asked.action == "test":
            return Made(answer.command, asked.arguments_at)
    return Made(answer.command, len(command.words)) if asked.is_whole else None


def seen_from(folder: str, text: str, chain: Toolchain, project: Project) -> str:
    """The same command for somebody who is in a folder below the project."""
    folder = os.path.normpath(folder)
    if project.folder == folder:
        return text
    if chain.name == "make":
        return text.replace("make", f"make -C {shlex.quote(os.path.relpath(project.folder, folder))}", 1)
    first, space, rest = text.partition(" ")
    if first.startswith("."):
        first = shlex.quote(os.path.relpath(os.path.join(project.folder, first), folder))
    return first + space + rest


def _names_its_runner(program: str, chain: Toolchain, project: Project) -> bool:
    """
    Was a way to run it chosen that is not to be chosen again?

    `poetry run` is taken for `uv run` only in a project that is locked by uv and shows no sign of poetry.
    """
    if program in ("deno", "hatch"):
        return chain.name != program
    if program not in _PYTHON_RUNNERS:
        return False
    lockfile, table = _PYTHON_RUNNERS[program]
    is_known = project.has(lockfile) or table in project.text("pyproject.toml")
    return is_known or chain.name not in _PYTHON_RUNNERS


def _as_it_is(command: Command, words: int) -> Made:
    return Made(" ".join(command.words[:words]), words)


def _python(asked: CommandIntent, command: Command, chain: Toolchain) -> Made:
    """The same tool with the same arguments, started the way this project starts its tools."""
    if chain.runner == "python -m":
        return _as_it_is(command, asked.arguments_at)  # by name or as a module: nothing to be gained
    tool = " ".join(command.words[asked.tool_at : asked.arguments_at]).lower()
    return Made(f"{chain.runner} {tool}", asked.arguments_at)


def _node(asked: CommandIntent, command: Command, manager: str) -> Made | None:
    """The same script. Only npm wants `--` before the script's arguments, and keeps others for itself."""
    old, script = command.words[0].lower(), command.words[asked.arguments_at - 1]
    if old == manager and command.words[1] != "run":
        return _as_it_is(command, asked.arguments_at)
    is_short = asked.action == "test" and script in ("test", "t", "tst") and manager != "bun"
    text = f"{manager} {'test' if is_short else f'run {script}'}"
    separated = asked.arguments[:1] == ("--",)
    if not asked.arguments or old == manager:
        return Made(text, asked.arguments_at)
    if old == "npm":
        return Made(text, asked.arguments_at + 1) if separated else None
    return Made(f"{text} --", asked.arguments_at + separated) if manager == "npm" else Made(text, asked.arguments_at)


def _wrapped(asked: CommandIntent, command: Command, answer: Answer) -> Made:
    """The same goals with the same arguments, by the project's wrapper."""
    wrapper = answer.command.split()[0]
    is_wrapped = command.words[0].startswith("./")
    return Made(
        " ".join((command.words[0] if is_wrapped else wrapper, *command.words[1 : asked.arguments_at])),
        asked.arguments_at,
    )
