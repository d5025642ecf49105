"""The project's own commands: which toolchain answers, and what becomes of a command line."""

from pathlib import Path
from typing import Any

import pytest

from snell.model.effects import Verdict
from snell.packs.toolchain.projects import Project
from snell.packs.toolchain.rewrite_line import Redirection, action_of, project_command, redirect_line
from snell.packs.toolchain.toolchains import (
    ACTIONS,
    Toolchain,
    command_for_job,
    table,
    targets_in,
    toolchains,
    toolchains_from,
)
from snell.runtime.app import Runtime
from snell.sdk.decorators import GATE_TIMEOUT
from snell.settings.packs import builtin_hooks, pack_hooks
from snell.shell.build_targets import read_justfile, read_taskfile, recipe_lines
from snell.testing import decide_with
from tests.unit.packs.project_files import (
    CARGO,
    GO,
    MAKE,
    NPM,
    PNPM,
    PYTHON,
    SCRIPTS,
    UV,
    YARN,
    becomes,
    lay_out,
)


def whose(folder: Path, files: dict[str, str], action: str, family: str = "") -> str | None:
    """The project's own command for a job, for a user who types in the language that the project is in."""
    project = Project(lay_out(folder, files))
    families = [family] if family else [each.family for each in toolchains() if each.family and each.is_here(project)]
    answer = command_for_job(action, families[0] if families else "python", project)
    return answer.command or None if answer and not answer.is_foreign else None


@pytest.mark.proves("S0-10", "S0-11", "S0-12", "S0-13", "S0-14")
@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (MAKE, "make test"),
        ({"Makefile": "build:\n\t./x\n", **CARGO}, "cargo test"),
        ({"Makefile": ".PHONY: latest\nlatest:\n\techo testing\n", **CARGO}, "cargo test"),
        ({"Makefile": "include more.mk\n", "more.mk": "test:\n\t./x\n"}, "make test"),
        ({"Makefile": "test := 3\nall:\n\techo $(test)\n", **GO}, "go test ./..."),
        ({"GNUmakefile": "test:\n\t./x\n", **CARGO}, "make test"),
        ({"makefile": "test:\n\t./x\n", "Makefile": "all:\n\t./x\n", **CARGO}, "make test"),
        ({**CARGO, **GO}, "cargo test"),
        ({**GO, **PNPM}, "go test ./..."),
        ({**PNPM, "yarn.lock": "", "package-lock.json": ""}, "pnpm test"),
        ({**YARN, "package-lock.json": ""}, "yarn test"),
        (NPM, "npm test"),
        (PYTHON, "python -m pytest"),
        (UV, "uv run pytest"),
        ({**PYTHON, "poetry.lock": ""}, "poetry run pytest"),
        ({**PYTHON, "hatch.toml": ""}, "hatch test"),
        ({"tox.ini": ""}, "tox"),
        ({"package.json": SCRIPTS, "bun.lock": ""}, "bun run test"),
        ({"package.json": '{"packageManager": "pnpm@9.1.0", "scripts": {"test": "x"}}'}, "pnpm test"),
        ({"deno.json": '{"tasks": {"test": "deno test -A"}}'}, "deno task test"),
        ({"justfile": "test *args:\n  ./x\n"}, "just test"),
        ({"Taskfile.yml": "version: '3'\ntasks:\n  test:\n    cmds: [x]\n"}, "task test"),
        ({"build.gradle.kts": "", "gradlew": ""}, "./gradlew test"),
        ({"pom.xml": ""}, "mvn test"),
        ({"mix.exs": ""}, "mix test"),
        ({"app.csproj": ""}, "dotnet test"),
        ({"CMakeLists.txt": ""}, "ctest --test-dir build"),
        ({}, None),
        ({"README.md": "run the tests with make test"}, None),
    ],
)
def test_the_first_toolchain_that_is_there_answers(tmp_path: Path, files: dict[str, str], expected: str | None):
    assert whose(tmp_path, files, "test") == expected


@pytest.mark.proves("S0-15", "S0-16", "S0-17", "S0-18", "S0-19", "S0-20")
@pytest.mark.parametrize(
    ("files", "commands"),
    [
        (MAKE, ["make test", "make build", "make lint", "make e2e", "make smoke"]),
        (CARGO, ["cargo test", "cargo build", "cargo clippy", "cargo test --test '*'", None]),
        (GO, ["go test ./...", "go build ./...", "go vet ./...", "go test -tags=e2e ./...", None]),
        (PNPM, ["pnpm test", "pnpm run build", "pnpm run lint", "pnpm run e2e", "pnpm run smoke"]),
        (YARN, ["yarn test", "yarn run build", "yarn run lint", "yarn run e2e", "yarn run smoke"]),
        (
            UV,
            ["uv run pytest", None, "uv run ruff check .", "uv run pytest tests/", "uv run pytest --smoke"],
        ),
    ],
)
def test_every_toolchain_has_its_own_command_for_a_job(
    tmp_path: Path, files: dict[str, str], commands: list[str | None]
):
    assert [whose(tmp_path, files, each) for each in ACTIONS] == commands


@pytest.mark.proves("S0-29", "S0-32", "S0-33")
@pytest.mark.parametrize(
    ("files", "command", "expected"),
    [
        (CARGO, "cargo test", None),
        (CARGO, "cargo test my_case -- --nocapture", None),
        (MAKE, "pytest -v", None),
        (MAKE, "go test ./pkg/a -run TestB", None),
        (MAKE, "go test ./...", "make test"),
        (MAKE, "cargo test --workspace", "make test"),
        (UV, "python -m pytest -x 'tests/a b.py'", "uv run pytest -x 'tests/a b.py'"),
        (UV, "ruff check src --fix", "uv run ruff check src --fix"),
        (PYTHON, "pytest -q", None),
        (PYTHON, "uv run pytest -q", None),
        (NPM, "pnpm test --watch=false", "npm test -- --watch=false"),
        (PNPM, "npm test --silent", None),
        (PNPM, "npm run lint", "pnpm run lint"),
        (NPM, "npm run lint", None),
        (PNPM, "npx tsc", "pnpm run build"),
        (PNPM, "tsc --noEmit", None),
        ({"package.json": '{"scripts": {"test": "x"}}', "yarn.lock": ""}, "cargo build", None),
        ({**NPM, **PYTHON}, "pytest", None),
        ({**GO, **NPM}, "npm test", None),
        (MAKE, "pytest --version", None),
        (MAKE, "pytest && ruff check .", "make test && make lint"),
        (MAKE, "FOO=1 sudo -E npm test 2>&1 | tee log; ls", "FOO=1 sudo -E make test 2>&1 | tee log; ls"),
        (MAKE, "timeout 60 pytest", "timeout 60 make test"),
        (MAKE, "echo $(pytest)", "echo $(make test)"),
        (MAKE, "bash -c 'pytest'", None),
        (MAKE, 'cd "$DIR" && pytest', None),
        (MAKE, "cd docs && pytest", None),
        (MAKE, "echo pytest; grep -r pytest .", None),
        (MAKE, "pytest 'unterminated", None),
        (MAKE, "   \n", None),
        (MAKE, "make test", None),
        (MAKE, "PYTEST", "make test"),
    ],
)
def test_only_the_runner_changes_or_nothing_does(
    tmp_path: Path, files: dict[str, str], command: str, expected: str | None
):
    assert becomes(tmp_path, files, command) == expected


def test_the_nearest_project_counts_and_make_is_told_where_its_file_is(tmp_path: Path):
    files = {**MAKE, "web/package.json": SCRIPTS, "web/pnpm-lock.yaml": "", "docs/x.md": "", ".git/HEAD": ""}
    assert becomes(tmp_path, files, "npm test", "web") == "pnpm test"
    assert becomes(tmp_path, files, "cd web && npm test") == "cd web && pnpm test"
    assert becomes(tmp_path, files, "pytest", "docs") == "make -C .. test"


@pytest.mark.proves("S0-13")
def test_a_member_of_a_workspace_uses_the_manager_of_the_whole(tmp_path: Path):
    files = {"packages/a/package.json": SCRIPTS, "package.json": "{}", "pnpm-lock.yaml": "", ".git/HEAD": ""}
    files |= {"libs/x/pyproject.toml": "", "uv.lock": ""}
    assert becomes(tmp_path, files, "npm test", "packages/a") == "pnpm test"
    assert becomes(tmp_path, files, "pnpm test", "packages/a") is None
    assert becomes(tmp_path, files, "pytest -q a.py", "libs/x") == "uv run pytest -q a.py"


@pytest.mark.parametrize(
    ("files", "command", "expected"),
    [
        ({"build.gradle": "", "gradlew": ""}, "gradle test --info", "./gradlew test --info"),
        ({"build.gradle": ""}, "gradle test", None),
        ({"pom.xml": "", "mvnw": ""}, "mvn test -Dtest=A", "./mvnw test -Dtest=A"),
        ({"build.gradle": "", "gradlew": ""}, "mvn test -Dtest=A", None),
    ],
)
def test_a_project_with_a_wrapper_is_built_by_it(
    tmp_path: Path, files: dict[str, str], command: str, expected: str | None
):
    assert becomes(tmp_path, files, command) == expected


@pytest.mark.proves("S0-10")
def test_targets_of_included_files_count_patterns_too(tmp_path: Path):
    files = {"Makefile": "include mk/*.mk\ninclude ../x/*.mk\n", "mk/a.mk": "test lint: deps\n\tx\n"}
    assert becomes(tmp_path, files, "pytest") == "make test"


@pytest.mark.proves("S0-22")
def test_what_cannot_be_read_is_passed_over_and_said(tmp_path: Path):
    lay_out(tmp_path, UV)
    (tmp_path / "Makefile").mkdir()
    unread = Redirection("uv run pytest", "test: uv (Makefile: is not a file)")
    assert redirect_line("pytest", str(tmp_path)) == unread
    (tmp_path / "Makefile").rmdir()
    (tmp_path / "Makefile").symlink_to("/dev/zero")
    assert redirect_line("pytest", str(tmp_path)) == unread
    lay_out(tmp_path / "web", {"package.json": '{"scripts": ', "pnpm-lock.yaml": ""})
    why = "test: pnpm (package.json: is not JSON)"
    assert redirect_line("npm test", str(tmp_path / "web")) == Redirection("pnpm test", why)


def test_a_project_in_no_repository_says_how_far_was_looked(tmp_path: Path):
    found = redirect_line("pytest", lay_out(tmp_path, {"notes.txt": ""}))
    assert found.command is None
    assert "no git repository: searched up to `/" in found.why
    (tmp_path / ".git").mkdir()
    assert "repository" not in redirect_line("pytest", str(tmp_path)).why


def test_a_file_in_a_folder_that_every_user_can_write_to_is_no_project(tmp_path: Path):
    lay_out(tmp_path, {"open/Makefile": "test:\n\t./trap\n", "open/mine/a.txt": "", "own/Makefile": "test:\n\t./x\n"})
    (tmp_path / "own/sub").mkdir()
    (tmp_path / "open").chmod(0o1777)
    assert redirect_line("pytest", str(tmp_path / "open/mine")).command is None
    (tmp_path / "open/mine").chmod(0o777)
    assert redirect_line("pytest", str(tmp_path / "open/mine")).command is None
    assert redirect_line("pytest", str(tmp_path / "own/sub")).command == "make -C .. test"


@pytest.mark.proves("S0-23")
def test_a_new_toolchain_is_one_entry_in_code_or_in_settings(tmp_path: Path):
    lay_out(tmp_path, {"WORKSPACE": "", **CARGO})
    written = toolchains_from({"bazel": {"files": ["WORKSPACE"], "commands": {"test": "bazel test //..."}}, "bad": 3})
    own = Toolchain(
        "bazel", "", lambda p: p.has("WORKSPACE"), lambda _: {"test": "bazel test //..."}, runs_targets=True
    )
    for more in (written, (own,)):
        assert redirect_line("npm test", str(tmp_path), more=more).command == "bazel test //..."
        assert redirect_line("npm run build", str(tmp_path), more=more).command is None
    lay_out(tmp_path, {"Makefile": "test:\n\t./x\n"})
    for before, expected in (("", "bazel test //..."), ("make", "bazel test //..."), ("just", "make test")):
        entry = {"files": ["WORKSPACE"], "commands": {"test": "bazel test //..."}, "before": before}
        assert redirect_line("cargo test", str(tmp_path), more=toolchains_from({"bazel": entry})).command == expected
    (tmp_path / "Makefile").unlink()
    options = {"toolchains": {"bazel": {"files": ["WORKSPACE"], "commands": {"test": "bazel test //..."}}}}
    assert decided(tmp_path, "pytest", options).event.tool_input == {"command": "bazel test //..."}


def decided(folder: Path, command: Any, options: dict[str, Any] | None = None, tool: str = "Bash") -> Any:
    hooks = pack_hooks("toolchain", options)
    return decide_with(*hooks, on="PreToolUse", tool=tool, input={"command": command}, cwd=folder)


@pytest.mark.proves("S0-02", "S0-24")
def test_a_redirect_concerns_shell_calls_and_approves_nothing(tmp_path: Path):
    lay_out(tmp_path, MAKE)
    shell, other = decided(tmp_path, "pytest"), decided(tmp_path, "pytest", tool="Grep")
    assert (shell.verdict, shell.event.tool_input) == (Verdict.NO_OPINION, {"command": "make test"})
    assert (other.verdict, other.event.tool_input) == (Verdict.NO_OPINION, {"command": "pytest"})


@pytest.mark.proves("S0-25")
@pytest.mark.parametrize("command", [None, 3, {}, [], ["pytest"], True, ""])
def test_a_command_that_is_no_text_is_left_alone(tmp_path: Path, command: object):
    lay_out(tmp_path, MAKE)
    came = decided(tmp_path, command)
    assert (came.verdict, came.failures, came.event.tool_input) == (Verdict.NO_OPINION, (), {"command": command})


@pytest.mark.proves("S0-26")
def test_the_escape_is_taken_off_and_judges_see_the_command(tmp_path: Path):
    lay_out(tmp_path, MAKE)
    assert decided(tmp_path, "!pytest -x").event.tool_input == {"command": "pytest -x"}
    assert decided(tmp_path, "! pytest").event.tool_input == {"command": "! pytest"}


@pytest.mark.proves("S0-21")
def test_a_folder_may_be_written_with_a_tilde_and_an_empty_one_is_that_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    lay_out(tmp_path / "p", MAKE)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path / "p")
    call = {"tool_name": "Bash", "tool_input": {"command": "pytest"}}
    with Runtime.embed(*pack_hooks("toolchain")) as runtime:
        came = [runtime.fire("PreToolUse", **call, **cwd) for cwd in ({"cwd": "~/p"}, {"cwd": ""}, {}, {"cwd": "~"})]
    assert [each.event.tool_input["command"] for each in came] == [*["make test"] * 3, "pytest"]


@pytest.mark.proves("S0-34")
def test_the_time_limit_is_five_seconds():
    assert GATE_TIMEOUT == 5.0
    assert {hook.timeout for hook in pack_hooks("toolchain")} == {5.0}


@pytest.mark.proves("S0-27", "S0-28")
def test_in_seed_mode_the_detectors_are_tried_in_order():
    assert len(table().seed) == 19
    asked = {
        "npm run test": "test",
        "PYTEST -k e2e": "test",
        "uv run pytest": "test",
        "yarn build": "build",
        "tsc -b": "build",
        "pnpm lint": "lint",
        "ruff check": "lint",
        "npx playwright test": "e2e",
        "vim integration.py": "e2e",
        "docker build -t smoke .": "smoke",
        "cd x && pytest": "",
        "!pytest": "",
        "ls": "",
    }
    assert {command: action_of(command) for command in asked} == asked
    typed = {
        "test": ("npm test", "yarn run test", "pnpm test", "pytest", "go test", "cargo test", "python -m pytest"),
        "build": ("npm run build", "yarn build", "pnpm build", "go build", "cargo build", "tsc"),
        "lint": ("npm lint", "yarn run lint", "pnpm lint", "cargo clippy", "go vet", "ruff check"),
        "e2e": ("x e2e", "x integration", "x playwright", "x cypress"),
    }
    for action, commands in typed.items():  # whatever a later detector would make of the same line
        later = (f"{command} e2e smoke" for command in commands)
        assert {command: action_of(command) for command in later} == {f"{each} e2e smoke": action for each in commands}


@pytest.mark.proves("S0-29", "S0-30", "S0-31")
def test_seed_mode_drops_arguments_crosses_languages_and_approves(tmp_path: Path):
    lay_out(tmp_path, CARGO)
    came = decided(tmp_path, "pytest -k foo", {"mode": "seed"})
    assert (came.verdict, came.event.tool_input) == (Verdict.ALLOW, {"command": "cargo test"})
    assert [reason.text for reason in came.reasons] == ["Redirected: test"]
    quiet = decided(tmp_path, "cargo test", {"mode": "seed"})
    assert (quiet.verdict, quiet.changes) == (Verdict.NO_OPINION, ())


def test_seed_mode_approves_what_it_redirected_and_not_the_same_command_typed_later(tmp_path: Path):
    lay_out(tmp_path, CARGO)
    call = {"tool_name": "Bash", "session_id": "s", "cwd": str(tmp_path)}
    with Runtime.embed(*pack_hooks("toolchain", {"mode": "seed"})) as runtime:
        redirected = runtime.fire("PreToolUse", **call, tool_use_id="1", tool_input={"command": "pytest"})
        typed = runtime.fire("PreToolUse", **call, tool_use_id="2", tool_input={"command": "cargo test"})
    assert (redirected.verdict, typed.verdict) == (Verdict.ALLOW, Verdict.NO_OPINION)


def test_mistyped_options_are_named_with_what_was_meant():
    said = {
        "mode": "sead",
        "toolchains": {
            "bazel": {
                "file": ["WORKSPACE"],
                "commands": {"tests": "bazel test", "build": 3},
                "family": "pyhton",
                "before": "mke",
            },
            "x": 3,
            "fine": {"files": "x.build", "commands": {"lint": "x lint"}},
        },
    }
    problems: list[str] = []
    builtin_hooks({"toolchain": said}, problems)
    families = "c, dotnet, elixir, go, java, node, python, rust"
    names = ", ".join(dict.fromkeys(each.name for each in toolchains()))
    start = "[pack.toolchain]: `toolchains`: `bazel`: "
    assert problems == [
        "[pack.toolchain]: `mode` must be one of seed, careful; `careful` is used",
        f"{start}`file` is an unknown key; did you mean `files`?",
        f"{start}`files` does not name files that identify the toolchain, so it is ignored",
        f"{start}`family` must be one of {families}, or empty for any language",
        f"{start}`before` must be one of {names}; the toolchain is tried before all of them",
        f"{start}`commands`: unknown job `tests`; did you mean `test`?",
        f"{start}`commands`: `build` is not a command",
        "[pack.toolchain]: `toolchains`: `x`: is not a table, so it is ignored; write `files` and `commands` under it",
    ]


def test_seed_mode_reads_a_makefile_as_text(tmp_path: Path):
    lay_out(tmp_path, {"Makefile": ".PHONY: latest\n", "package.json": "{}"})
    assert project_command("test", Project(str(tmp_path))) == "make test"
    assert project_command("build", Project(str(tmp_path))) == "pnpm run build"
    assert project_command("smoke", Project(lay_out(tmp_path / "c", CARGO))) == ""


@pytest.mark.proves("S0-10")
def test_targets_are_read_as_rules():
    class Text(Project):
        def __init__(self, name: str, text: str) -> None:
            super().__init__("/nowhere")
            self.names = frozenset({name})
            self._texts = {name: text}

    makefile = (
        "A = b:c\nexport X=1\nall: build \\\n  lint\n\t@echo deploy:\nbuild lint:: dep\n%.o: %.c\n$(X): y\n"
        "define help\nnot-a-target: x\nendef\n.PHONY: smoke\n# comment: no\nsub/dir.x: z ; echo\n"
    )
    expected = {"all", "build", "lint", "smoke", "sub/dir.x"}
    assert targets_in(Text("Makefile", makefile), "Makefile").keys() == expected
    assert recipe_lines(["all"], targets_in(Text("Makefile", makefile), "Makefile")) == ["\t@echo deploy:"]
    assert targets_in(Text("makefile", ""), "makefile") == {}
    just = "set shell := ['x']\nv := 'a'\nalias t := test\n@test a b='c': dep\n  echo hi: there\n_hidden:\n"
    assert read_justfile(just).keys() == {"t", "test", "_hidden"}
    assert recipe_lines(["t"], read_justfile(just)) == ["  echo hi: there"]
    tasks = "version: '3'\nvars:\n  NOT: x\ntasks:\n  test:\n    cmds:\n      - x\n  'build:all': y\nother:\n  z: 1\n"
    assert read_taskfile(tasks).keys() == {"test", "build:all"}
