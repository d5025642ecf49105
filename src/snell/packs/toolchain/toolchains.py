"""
The toolchains, in the order in which they are tried. A new one is one entry: a name, its language, how it is
recognised, and its commands.

A runner of targets (make, just, task) is used only for a target that it has, and that is not for another language. Of
the others the first of the command's own language is used, even if it has no command for the job. None is used for
another language: `npm test` in a Go project is a mistake that only its author can correct.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from snell.packs.toolchain.projects import Project
from snell.packs.toolchain.targets import (
    JUSTFILES,
    MAKEFILES,
    TASKFILES,
    Targets,
    just_recipes,
    make_targets,
    recipe_text,
    task_names,
)
from snell.system.lazy_regex import lazy_regex

ACTIONS = ("test", "build", "lint", "e2e", "smoke")

Commands = Mapping[str, str]


class Toolchain(Struct, frozen=True):
    name: str
    family: str  # its language; empty = any
    is_here: Callable[[Project], bool]
    commands: Callable[[Project], Commands]  # by action
    runs_targets: bool = False  # used only for the targets that it has
    runner: str = ""  # what precedes a tool of the same language, such as `uv run`
    targets: Callable[[Project], Targets] | None = None  # parses what a target runs
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
    here = [chain for chain in in_order(more) if chain.is_here(project)]
    if not is_whole and (own := _own(family, here)):
        return ProjectCommand(own, own.commands(project).get(action, ""))
    languages = {chain.family for chain in here if not chain.runs_targets}
    foreign = None
    for chain in here:
        if chain.runs_targets and (command := chain.commands(project).get(action)):
            if _is_for_language(family, chain, action, project, languages):
                return ProjectCommand(chain, command)
            foreign = foreign or ProjectCommand(chain, command, is_foreign=True)
    if own := _own(family, here):
        return ProjectCommand(own, own.commands(project).get(action, ""))
    others = [chain for chain in here if not chain.runs_targets]
    return foreign or (ProjectCommand(others[0], "", is_foreign=True) if others else None)


def _own(family: str, here: list[Toolchain]) -> Toolchain | None:
    return next((chain for chain in here if chain.family == family and not chain.runs_targets), None)


def in_order(more: tuple[Toolchain, ...]) -> list[Toolchain]:
    """Return all toolchains in the order in which they are tried."""
    chains = [chain for chain in more if not chain.before]
    for built_in in TOOLCHAINS:
        chains += [chain for chain in more if chain.before == built_in.name and chain not in chains]
        chains.append(built_in)
    return chains


# Interpreters are no evidence: `python dev.py test` may test anything.
_LANGUAGE_TOOLS = {
    "python": lazy_regex(r"\b(?:pytest|py\.test|unittest|tox|nox|hatch|ruff|mypy|pyright|flake8|pylint|black|twine)\b"),
    "node": lazy_regex(
        r"\b(?:npm|npx|yarn|pnpm|bunx?|deno|vitest|jest|mocha|tsc|eslint|biome|playwright|cypress|webpack|vite|turbo)\b"
    ),
    "rust": lazy_regex(r"\b(?:cargo|rustc)\b", re.IGNORECASE),
    "go": lazy_regex(
        r"\bgo[)}]?\s+(?:test|build|vet|run|tool|install|generate)\b|\b(?:golangci-lint|gotestsum|staticcheck)\b",
        re.IGNORECASE,
    ),
    "java": lazy_regex(r"\b(?:gradlew?|mvnw?)\b"),
    "elixir": lazy_regex(r"\bmix\s+\w"),
    "dotnet": lazy_regex(r"\bdotnet\b"),
    "c": lazy_regex(r"\b(?:ctest|cmake)\b|\$[({](?:CC|CXX)[)}]"),
}


def languages_in(text: str) -> frozenset[str]:
    """Return the languages whose tools a recipe runs; empty if it names none."""
    return frozenset(language for language, tools in _LANGUAGE_TOOLS.items() if tools.search(text))


def _is_for_language(family: str, chain: Toolchain, action: str, project: Project, languages: set[str]) -> bool:
    """Whether a target is for this language: by its recipe; if that does not tell, by the project."""
    if chain.targets is None:
        return chain.family in ("", family)  # its settings say so
    found = languages_in(recipe_text(action, chain.targets(project))) or languages
    return not found or family in found


def toolchains_from(written: Mapping[str, Any]) -> tuple[Toolchain, ...]:
    """Return the toolchains of a user's settings; an incomplete entry is ignored."""
    made = (_from_settings(name, each) for name, each in written.items() if isinstance(each, dict))
    return tuple(each for each in made if each)


def _from_settings(name: str, entry: Mapping[str, Any]) -> Toolchain | None:
    given, files, family = entry.get("commands"), entry.get("files"), entry.get("family", "")
    before = entry.get("before") if entry.get("before") in {chain.name for chain in TOOLCHAINS} else ""
    names = [each for each in (files if isinstance(files, list) else [files]) if isinstance(each, str) and each]
    commands = {key: value for key, value in given.items() if isinstance(value, str)} if isinstance(given, dict) else {}
    if not names or not isinstance(family, str):
        return None
    return Toolchain(name, family, _has_file(*names), lambda _: commands, runs_targets=True, before=before or "")


def _has_file(*names: str) -> Callable[[Project], bool]:
    return lambda project: project.has(*names)


def _has_suffix(*suffixes: str) -> Callable[[Project], bool]:
    return lambda project: any(name.endswith(suffixes) for name in project.names)


def _always(**commands: str) -> Callable[[Project], Commands]:
    return lambda _: commands


def _runner(name: str, files: tuple[str, ...], read: Callable[[Project], Targets]) -> Toolchain:
    def targets(project: Project) -> Targets:
        return project.get_or_compute(name, read)

    def commands(project: Project) -> Commands:
        return {action: f"{name} {action}" for action in ACTIONS if action in targets(project)}

    return Toolchain(name, "", _has_file(*files), commands, runs_targets=True, targets=targets)


def _node(manager: str) -> Callable[[Project], Commands]:
    """Return the commands of a Node package manager: scripts; `test` has a short form, except in bun."""

    def commands(project: Project) -> Commands:
        short = f"{manager} run test" if manager == "bun" else f"{manager} test"
        every = {"test": short, **{action: f"{manager} run {action}" for action in ACTIONS[1:]}}
        scripts = scripts_of(project)
        return every if scripts is None else {action: every[action] for action in ACTIONS if action in scripts}

    return commands


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


def _manager_is(name: str, *lockfiles: str) -> Callable[[Project], bool]:
    """
    Return a check by lockfile; without any, by the `packageManager` in package.json; without that, by the same two in
    the parent folders; else it is npm.
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
    """Whether the project or the workspace around it has a lockfile of uv."""
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
    """Return the relative path of a build tool's wrapper, in the project or in a parent folder."""
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
        _has_file("Cargo.toml"),
        _always(test="cargo test", build="cargo build", lint="cargo clippy", e2e="cargo test --test '*'"),
    ),
    Toolchain(
        "go",
        "go",
        _has_file("go.mod"),
        _always(test="go test ./...", build="go build ./...", lint="go vet ./...", e2e="go test -tags=e2e ./..."),
    ),
    Toolchain("pnpm", "node", _manager_is("pnpm", "pnpm-lock.yaml"), _node("pnpm")),
    Toolchain("yarn", "node", _manager_is("yarn", "yarn.lock"), _node("yarn")),
    Toolchain("npm", "node", _manager_is("npm", "package-lock.json", "npm-shrinkwrap.json"), _node("npm")),
    Toolchain("bun", "node", _manager_is("bun", "bun.lockb", "bun.lock"), _node("bun")),
    Toolchain("deno", "node", _has_file("deno.json", "deno.jsonc", "deno.lock"), _deno),
    Toolchain("uv", "python", _has_uv, _python("uv run"), runner="uv run"),
    Toolchain(
        "poetry",
        "python",
        _pyproject_with(r"^\[tool\.poetry\b", "poetry.lock"),
        _python("poetry run"),
        runner="poetry run",
    ),
    Toolchain("pdm", "python", _has_file("pdm.lock"), _python("pdm run"), runner="pdm run"),
    Toolchain(
        "hatch",
        "python",
        _pyproject_with(r"^\[tool\.hatch\.envs\b", "hatch.toml"),
        _always(test="hatch test", lint="hatch fmt --check", e2e="hatch test tests/"),
    ),
    Toolchain("python", "python", _has_file("pyproject.toml"), _python("python -m"), runner="python -m"),
    Toolchain("tox", "python", _has_file("tox.ini"), _always(test="tox")),
    Toolchain(
        "python",
        "python",
        _has_file("setup.py", "setup.cfg", "pytest.ini", "requirements.txt"),
        _python("python -m"),
        runner="python -m",
    ),
    Toolchain(
        "gradle",
        "java",
        _has_file("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"),
        lambda project: {
            action: f"{_wrapper(project, 'gradlew') or 'gradle'} {job}"
            for action, job in (("test", "test"), ("build", "assemble"), ("lint", "check"))
        },
    ),
    Toolchain(
        "maven",
        "java",
        _has_file("pom.xml"),
        lambda project: {
            action: f"{_wrapper(project, 'mvnw') or 'mvn'} {job}"
            for action, job in (("test", "test"), ("build", "package -DskipTests"), ("e2e", "verify"))
        },
    ),
    Toolchain(
        "mix",
        "elixir",
        _has_file("mix.exs"),
        _always(test="mix test", build="mix compile", lint="mix format --check-formatted"),
    ),
    Toolchain(
        "dotnet",
        "dotnet",
        _has_suffix(".sln", ".slnx", ".csproj", ".fsproj"),
        _always(test="dotnet test", build="dotnet build", lint="dotnet format --verify-no-changes"),
    ),
    Toolchain(
        "cmake",
        "c",
        _has_file("CMakeLists.txt"),
        _always(test="ctest --test-dir build", build="cmake --build build"),
    ),
)
