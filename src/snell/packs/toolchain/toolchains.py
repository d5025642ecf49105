"""
The toolchains, in the order in which they are tried. A new one is one entry of `toolchains.toml`: a name, its language,
how it is recognised, and its commands.

A runner of targets (make, just, task) is used for a target that it has, for every typed language. Of the others the
first of the command's own language is used, even if it has no command for the job. None is used for another language:
`npm test` in a Go project is a mistake that only its author can correct. But end-to-end and smoke tests have the same
name in every language: where the typed one is not used at all, they are those of the project.
"""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from glob import has_magic
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from snell.packs.toolchain.projects import Project
from snell.shell.build_targets import JUSTFILES, MAKEFILES, TASKFILES, Targets, read_targets
from snell.system.lazy_regex import lazy_regex

PYTHON_JOBS = {"test": "pytest", "lint": "ruff check .", "e2e": "pytest tests/", "smoke": "pytest --smoke"}
ACTIONS = ("test", "build", "lint", "e2e", "smoke")
MOST_INCLUDES = 20  # files that a Makefile includes

Commands = Mapping[str, str]


class Toolchain(Struct, frozen=True):
    name: str
    family: str  # its language; empty = any
    is_here: Callable[[Project], bool]
    commands: Callable[[Project], Commands]  # by action
    runs_targets: bool = False  # used only for the targets that it has
    runner: str = ""  # what precedes a tool of the same language, such as `uv run`
    before: str = ""  # of a user's own: the built-in one that it is tried before; empty = before all of them


class ProjectCommand(Struct, frozen=True):
    """The command of a project for a job, and its toolchain."""

    toolchain: Toolchain
    command: str  # empty: this toolchain has none
    is_foreign: bool = False  # the toolchain is for another language


def command_for_job(
    action: str, family: str, project: Project, more: tuple[Toolchain, ...] = (), *, is_whole: bool = True
) -> ProjectCommand | None:
    """
    Return the command for a job in this folder, with its toolchain; None if there is no toolchain.

    A target is for the complete job; for a part of it the tools of the language are used, if there are any.
    """
    if not project.names:
        return None
    here = [chain for chain in all_toolchains(more) if chain.is_here(project)]
    if not is_whole and (own := _own(family, here)):
        return ProjectCommand(own, own.commands(project).get(action, ""))
    foreign = None
    for chain in here:
        if chain.runs_targets and (command := chain.commands(project).get(action)):
            if chain.family in ("", family):
                return ProjectCommand(chain, command)
            foreign = foreign or ProjectCommand(chain, command, is_foreign=True)
    if own := _own(family, here):
        return ProjectCommand(own, own.commands(project).get(action, ""))
    others = [chain for chain in here if not chain.runs_targets]
    if foreign or not others:
        return foreign
    command = _shared_job(action, family, others[0], project)
    return ProjectCommand(others[0], command, is_foreign=not command)


def _shared_job(action: str, family: str, chain: Toolchain, project: Project) -> str:
    """Return the command for end-to-end or smoke tests in a project that does not use the typed language, if it can."""
    is_used = any(each.family == family and each.is_here(around) for around in project.around for each in toolchains())
    has_tests = {
        "e2e": project.has_folder("tests", "test", "e2e"),
        "smoke": "--smoke" in project.text("conftest.py") + project.text("tests/conftest.py"),
    }
    is_possible = chain.family == "node" or has_tests.get(action)  # a script of Node exists
    return chain.commands(project).get(action, "") if action in has_tests and is_possible and not is_used else ""


def _own(family: str, here: list[Toolchain]) -> Toolchain | None:
    return next((chain for chain in here if chain.family == family and not chain.runs_targets), None)


def all_toolchains(more: tuple[Toolchain, ...]) -> Sequence[Toolchain]:
    """Return all toolchains in the order in which they are tried."""
    if not more:
        return toolchains()
    chains = [chain for chain in more if not chain.before]
    for built_in in toolchains():
        chains += [chain for chain in more if chain.before == built_in.name and chain not in chains]
        chains.append(built_in)
    return chains


def toolchains_from(written: Mapping[str, Any]) -> tuple[Toolchain, ...]:
    """Return the toolchains of a user's settings; an incomplete entry is ignored."""
    made = (_from_settings(name, each) for name, each in written.items() if isinstance(each, dict))
    return tuple(each for each in made if each)


def _from_settings(name: str, entry: Mapping[str, Any]) -> Toolchain | None:
    given, files, family = entry.get("commands"), entry.get("files"), entry.get("family", "")
    before = entry.get("before") if entry.get("before") in {chain.name for chain in toolchains()} else ""
    names = [each for each in (files if isinstance(files, list) else [files]) if isinstance(each, str) and each]
    commands = {key: value for key, value in given.items() if isinstance(value, str)} if isinstance(given, dict) else {}
    if not names or not isinstance(family, str):
        return None
    return Toolchain(name, family, _has_file(*names), lambda _: commands, runs_targets=True, before=before or "")


def _has_file(*names: str) -> Callable[[Project], bool]:
    return lambda project: project.has(*names)


class _Row(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of `toolchains.toml`."""

    name: str
    family: str
    files: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    lockfiles: tuple[str, ...] = ()
    table: str = ""
    runner: str = ""
    wrapper: str = ""
    commands: dict[str, str] = {}


class Table(Struct, frozen=True):
    """The content of `toolchains.toml`."""

    toolchain: tuple[_Row, ...]
    jobs: dict[str, dict[str, str]]
    seed: dict[str, str]


@cache
def table() -> Table:
    """Return the table of toolchains. Most command lines need none of it, so it is read when it is first needed."""
    return msgspec.toml.decode(Path(__file__).with_name("toolchains.toml").read_bytes(), type=Table)


@cache
def toolchains() -> tuple[Toolchain, ...]:
    """Return the built-in toolchains, in the order in which they are tried."""
    runners = (_target_runner("make", MAKEFILES), _target_runner("just", JUSTFILES), _target_runner("task", TASKFILES))
    return (*runners, *map(_toolchain, table().toolchain))


def _target_runner(name: str, files: tuple[str, ...]) -> Toolchain:
    def commands(project: Project) -> Commands:
        targets = project.targets.get(name)
        if targets is None:
            file = next(each for each in files if each in project.names)
            targets = project.targets[name] = targets_in(project, file)
        return {action: f"{name} {action}" for action in ACTIONS if action in targets}

    return Toolchain(name, "", _has_file(*files), commands, runs_targets=True)


def targets_in(project: Project, file: str) -> Targets:
    """Return the targets of a build file and of the files that it includes."""
    found: Targets = {}
    to_read = [file]
    for path in to_read:
        for included in islice(dict.fromkeys(read_targets(file, project.text(path), found)), MOST_INCLUDES):
            paths = project.matching(included) if has_magic(included) else [included]
            to_read += [each for each in paths if each not in to_read][: MOST_INCLUDES - len(to_read)]
    return found


def _toolchain(row: _Row) -> Toolchain:
    return Toolchain(row.name, row.family, partial(_is_here, row), partial(_commands, row), runner=row.runner)


def _is_here(row: _Row, project: Project) -> bool:
    if row.lockfiles:
        return _is_managed_by(row, project)
    if row.name == "uv":
        is_member = project.has("pyproject.toml") and not project.has("poetry.lock", "pdm.lock")
        return project.has("uv.lock") or (is_member and any(each.has("uv.lock") for each in project.around))
    if row.table and re.search(row.table, project.text("pyproject.toml"), re.MULTILINE):
        return True
    return project.has(*row.files) or any(name.endswith(row.suffixes) for name in project.names)


def _commands(row: _Row, project: Project) -> Commands:
    if row.lockfiles:
        short = f"{row.name} run test" if row.name == "bun" else f"{row.name} test"
        every = {"test": short, **{action: f"{row.name} run {action}" for action in ACTIONS[1:]}}
        scripts = scripts_of(project)
        return every if scripts is None else {action: every[action] for action in ACTIONS if action in scripts}
    if row.name == "deno":
        text = project.text("deno.json") or project.text("deno.jsonc")
        tasks = {action for action in ACTIONS if re.search(rf'"{action}"\s*:', text)}
        plain = {"test": "deno test", "lint": "deno lint"}
        return {**plain, **{action: f"deno task {action}" for action in tasks}}
    if row.runner:
        return {action: f"{row.runner} {command}" for action, command in PYTHON_JOBS.items()}
    wrapper = _wrapper(project, row.wrapper) if row.wrapper else ""
    if not wrapper:
        return row.commands
    return {action: f"{wrapper} {command.partition(' ')[2]}" for action, command in row.commands.items()}


def scripts_of(project: Project) -> frozenset[str] | None:
    """Return the scripts of the package.json; None when it cannot be parsed."""
    try:
        package = json.loads(project.text("package.json"))
    except (ValueError, RecursionError):
        if project.text("package.json"):
            project.add_unread("package.json", "is not JSON")
        return None
    scripts = package.get("scripts") if isinstance(package, dict) else None
    return frozenset(scripts) if isinstance(scripts, dict) else frozenset()


def _is_managed_by(row: _Row, project: Project) -> bool:
    """
    Tell whether this Node package manager is used: by lockfile; without any, by the `packageManager` in package.json;
    without that, by the same two in the parent folders; else it is npm.
    """
    if project.has(*row.lockfiles):
        return True
    lockfiles = [name for each in table().toolchain for name in each.lockfiles]
    if not project.has("package.json") or project.has(*lockfiles):
        return False
    for each in (project, *project.around):
        if each.has(*lockfiles):
            return each.has(*row.lockfiles)
        named = _PACKAGE_MANAGER.search(each.text("package.json"))
        if named:
            return named[1] == row.name
    return row.name == "npm"


_PACKAGE_MANAGER = lazy_regex(r'"packageManager"\s*:\s*"(pnpm|yarn|npm|bun)@')


def _wrapper(project: Project, name: str) -> str:
    """Return the relative path of a build tool's wrapper, in the project or in a parent folder."""
    folder = next((each.folder for each in (project, *project.around) if each.has(name)), None)
    return (folder and os.path.join(os.path.relpath(folder, project.folder), name)) or ""
