"""
The toolchains, in the order in which they are asked. A new one is one entry: a name, the language it is for, how it is
recognised, and its commands.

A runner of targets (make, just, task) answers only for a target that it has, and that is not about another language.
Of the others the first of the command's own language answers, even if it has no command for the job. Nobody answers
for another language: `npm test` in a project of Go is a mistake that only its author can mend.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from snell.packs.toolchain.languages import languages_in
from snell.packs.toolchain.projects import Project
from snell.packs.toolchain.targets import (
    JUSTFILES,
    MAKEFILES,
    TASKFILES,
    Targets,
    just_recipes,
    make_targets,
    task_names,
    what_runs,
)
from snell.system.lazy_regex import lazy_regex

ACTIONS = ("test", "build", "lint", "e2e", "smoke")

Commands = Mapping[str, str]


class Toolchain(Struct, frozen=True):
    name: str
    family: str  # the language it is for; empty = any
    is_here: Callable[[Project], bool]
    commands: Callable[[Project], Commands]  # by action
    runs_targets: bool = False  # answers only for the targets that it has
    runner: str = ""  # what stands before a tool of the same language, such as `uv run`
    targets: Callable[[Project], Targets] | None = None  # where it can be seen what a target runs
    before: str = ""  # of a user's own: the built-in one that it is asked before; empty = before all of them


class Answer(Struct, frozen=True):
    """The command of a project for a job, and whose it is."""

    toolchain: Toolchain
    command: str  # empty: this toolchain has none
    is_foreign: bool = False  # what is here is for another language


def answer_for(
    action: str, family: str, project: Project, more: tuple[Toolchain, ...] = (), *, is_whole: bool = True
) -> Answer | None:
    """
    Who answers for a job in this folder; None where no toolchain is.

    A target is for the whole of a job; for a part of it the tools of the language are asked, where there are any.
    """
    here = [chain for chain in in_order(more) if chain.is_here(project)]
    if not is_whole and (own := _own(family, here)):
        return Answer(own, own.commands(project).get(action, ""))
    languages = {chain.family for chain in here if not chain.runs_targets}
    foreign = None
    for chain in here:
        if chain.runs_targets and (command := chain.commands(project).get(action)):
            if _is_about(family, chain, action, project, languages):
                return Answer(chain, command)
            foreign = foreign or Answer(chain, command, is_foreign=True)
    if own := _own(family, here):
        return Answer(own, own.commands(project).get(action, ""))
    others = [chain for chain in here if not chain.runs_targets]
    return foreign or (Answer(others[0], "", is_foreign=True) if others else None)


def _own(family: str, here: list[Toolchain]) -> Toolchain | None:
    return next((chain for chain in here if chain.family == family and not chain.runs_targets), None)


def in_order(more: tuple[Toolchain, ...]) -> list[Toolchain]:
    """All toolchains in the order in which they are asked."""
    chains = [chain for chain in more if not chain.before]
    for built_in in TOOLCHAINS:
        chains += [chain for chain in more if chain.before == built_in.name and chain not in chains]
        chains.append(built_in)
    return chains


def _is_about(family: str, chain: Toolchain, action: str, project: Project, languages: set[str]) -> bool:
    """Is a target about this language? Its recipe tells; where that does not, the project it is in."""
    if chain.targets is None:
        return chain.family in ("", family)  # its author says so
    said = languages_in(what_runs(action, chain.targets(project))) or languages
    return not said or family in said


def toolchains_from(written: Mapping[str, Any]) -> tuple[Toolchain, ...]:
    """Toolchains that a user's settings describe; what is not complete is left out."""
    made = (_written(name, each) for name, each in written.items() if isinstance(each, dict))
    return tuple(each for each in made if each)


def _written(name: str, entry: Mapping[str, Any]) -> Toolchain | None:
    said, files, family = entry.get("commands"), entry.get("files"), entry.get("family", "")
    before = entry.get("before") if entry.get("before") in {chain.name for chain in TOOLCHAINS} else ""
    names = [each for each in (files if isinstance(files, list) else [files]) if isinstance(each, str) and each]
    commands = {key: value for key, value in (said if isinstance(said, dict) else {}).items() if isinstance(value, str)}
    if not names or not isinstance(family, str):
        return None
    return Toolchain(name, family, _having(*names), lambda _: commands, runs_targets=True, before=before or "")


def _having(*names: str) -> Callable[[Project], bool]:
    return lambda project: project.has(*names)


def _ending(*suffixes: str) -> Callable[[Project], bool]:
    return lambda project: any(name.endswith(suffixes) for name in project.names)


def _always(**commands: str) -> Callable[[Project], Commands]:
    return lambda _: commands


def _runner(name: str, files: tuple[str, ...], read: Callable[[Project], Targets]) -> Toolchain:
    def found(project: Project) -> Targets:
        return project.once(name, read)

    def commands(project: Project) -> Commands:
        return {action: f"{name} {action}" for action in ACTIONS if action in found(project)}

    return Toolchain(name, "", _having(*files), commands, runs_targets=True, targets=found)


def _node(manager: str) -> Callable[[Project], Commands]:
    """Node's package managers run scripts; `test` has a short form everywhere but in bun, where it means another."""

    def commands(project: Project) -> Commands:
        short = f"{manager} run test" if manager == "bun" else f"{manager} test"
        every = {"test": short, **{action: f"{manager} run {action}" for action in ACTIONS[1:]}}
        scripts = scripts_of(project)
        return every if scripts is None else {action: every[action] for action in ACTIONS if action in scripts}

    return commands


def scripts_of(project: Project) -> frozenset[str] | None:
    """The scripts of the package.json; None when it cannot be read."""
    try:
        package = json.loads(project.text("package.json"))
    except (ValueError, RecursionError):
        if project.text("package.json"):
            project.cannot_use("package.json", "is not JSON")
        return None
    scripts = package.get("scripts") if isinstance(package, dict) else None
    return frozenset(scripts) if isinstance(scripts, dict) else frozenset()


def _manager_is(name: str, *lockfiles: str) -> Callable[[Project], bool]:
    """
    By its lockfile; without any, by the `packageManager` that the package.json names; without that, by the same two in
    the workspace around it; else it is npm.
    """

    def is_here(project: Project) -> bool:
        if project.has(*lockfiles):
            return True
        if project.has(*_LOCKFILES) or not project.has("package.json"):
            return False
        for each in (project, *project.around):
            if each.has(*_LOCKFILES):
                return each.has(*lockfiles)
            named = _PACKAGE_MANAGER.search(each.text("package.json"))
            if named:
                return named[1] == name
        return name == "npm"

    return is_here


def _has_uv(project: Project) -> bool:
    """Its own lockfile, or that of the workspace around it."""
    is_member = project.has("pyproject.toml") and not project.has("poetry.lock", "pdm.lock")
    return project.has("uv.lock") or (is_member and any(each.has("uv.lock") for each in project.around))


def _deno(project: Project) -> Commands:
    text = project.text("deno.json") or project.text("deno.jsonc")
    tasks = {action for action in ACTIONS if re.search(rf'"{action}"\s*:', text)}
    plain = {"test": "deno test", "lint": "deno lint"}
    return {**plain, **{action: f"deno task {action}" for action in tasks}}


def _python(runner: str) -> Callable[[Project], Commands]:
    return _always(
        test=f"{runner} pytest",
        lint=f"{runner} ruff check .",
        e2e=f"{runner} pytest tests/",
        smoke=f"{runner} pytest --smoke",
    )


def _pyproject_with(pattern: str, *names: str) -> Callable[[Project], bool]:
    return lambda project: project.has(*names) or bool(re.search(pattern, project.text("pyproject.toml"), re.MULTILINE))


def _wrapper(project: Project, name: str) -> str:
    """Where the wrapper of a build tool is, seen from the project: in it, or in the whole that it is a part of."""
    folder = next((each.folder for each in (project, *project.around) if each.has(name)), None)
    return (folder and os.path.join(os.path.relpath(folder, project.folder), name)) or ""


_LOCKFILES = ("pnpm-lock.yaml", "yarn.lock", "package-lock.json", "npm-shrinkwrap.json", "bun.lockb", "bun.lock")
_PACKAGE_MANAGER = lazy_regex(r'"packageManager"\s*:\s*"(pnpm|yarn|npm|bun)@')

TOOLCHAINS: tuple[Toolchain, ...] = (
    _runner("make", MAKEFILES, make_targets),
    _runner("just", JUSTFILES, just_recipes),
    _runner("task", TASKFILES, task_names),
    Toolchain(
        "cargo",
        "rust",
        _having("Cargo.toml"),
        _always(test="cargo test", build="cargo build", lint="cargo clippy", e2e="cargo test --test '*'"),
    ),
    Toolchain(
        "go",
        "go",
        _having("go.mod"),
        _always(test="go test ./...", build="go build ./...", lint="go vet ./...", e2e="go test -tags=e2e ./..."),
    ),
    Toolchain("pnpm", "node", _manager_is("pnpm", "pnpm-lock.yaml"), _node("pnpm")),
    Toolchain("yarn", "node", _manager_is("yarn", "yarn.lock"), _node("yarn")),
    Toolchain("npm", "node", _manager_is("npm", "package-lock.json", "npm-shrinkwrap.json"), _node("npm")),
    Toolchain("bun", "node", _manager_is("bun", "bun.lockb", "bun.lock"), _node("bun")),
    Toolchain("deno", "node", _having("deno.json", "deno.jsonc", "deno.lock"), _deno),
    Toolchain("uv", "python", _has_uv, _python("uv run"), runner="uv run"),
    Toolchain(
        "poetry",
        "python",
        _pyproject_with(r"^\[tool\.poetry\b", "poetry.lock"),
        _python("poetry run"),
        runner="poetry run",
    ),
    Toolchain("pdm", "python", _having("pdm.lock"), _python("pdm run"), runner="pdm run"),
    Toolchain(
        "hatch",
        "python",
        _pyproject_with(r"^\[tool\.hatch\.envs\b", "hatch.toml"),
        _always(test="hatch test", lint="hatch fmt --check", e2e="hatch test tests/"),
    ),
    Toolchain("python", "python", _having("pyproject.toml"), _python("python -m"), runner="python -m"),
    Toolchain("tox", "python", _having("tox.ini"), _always(test="tox")),
    Toolchain(
        "python",
        "python",
        _having("setup.py", "setup.cfg", "pytest.ini", "requirements.txt"),
        _python("python -m"),
        runner="python -m",
    ),
    Toolchain(
        "gradle",
        "java",
        _having("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"),
        lambda project: {
            action: f"{_wrapper(project, 'gradlew') or 'gradle'} {job}"
            for action, job in (("test", "test"), ("build", "assemble"), ("lint", "check"))
        },
    ),
    Toolchain(
        "maven",
        "java",
        _having("pom.xml"),
        lambda project: {
            action: f"{_wrapper(project, 'mvnw') or 'mvn'} {job}"
            for action, job in (("test", "test"), ("build", "package -DskipTests"), ("e2e", "verify"))
        },
    ),
    Toolchain(
        "mix",
        "elixir",
        _having("mix.exs"),
        _always(test="mix test", build="mix compile", lint="mix format --check-formatted"),
    ),
    Toolchain(
        "dotnet",
        "dotnet",
        _ending(".sln", ".slnx", ".csproj", ".fsproj"),
        _always(test="dotnet test", build="dotnet build", lint="dotnet format --verify-no-changes"),
    ),
    Toolchain(
        "cmake",
        "c",
        _having("CMakeLists.txt"),
        _always(test="ctest --test-dir build", build="cmake --build build"),
    ),
)
