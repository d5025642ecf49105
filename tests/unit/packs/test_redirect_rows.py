"""Redirects as a user of each kind of project would want them, over many projects and commands."""

import itertools
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.unit.packs.project_files import CARGO, GO, PNPM, UV, becomes

LANGUAGES = {
    "rust": (CARGO, "cargo test"),
    "go": (GO, "go test ./..."),
    "node": (PNPM, "npm test"),
    "python": (UV, "pytest"),
    "java": ({"pom.xml": ""}, "mvn test"),
    "elixir": ({"mix.exs": ""}, "mix test"),
    "dotnet": ({"app.csproj": ""}, "dotnet test"),
    "c": ({"CMakeLists.txt": ""}, "ctest"),
}


@pytest.mark.proves("S0-33")
@pytest.mark.parametrize(("typed", "there"), list(itertools.permutations(LANGUAGES, 2)))
def test_no_command_is_answered_in_another_language_except_by_a_target(tmp_path: Path, typed: str, there: str):
    (files, own), command = LANGUAGES[there], LANGUAGES[typed][1]
    for job in (command, command.replace("test", "build"), command.replace("test", "lint")):
        assert becomes(tmp_path, files, job) is None
    # where both are at home, the command stays in its language unless there is a target
    both = {**files, **LANGUAGES[typed][0]}
    expected = {"node": "pnpm test", "python": "uv run pytest"}.get(typed)
    assert becomes(tmp_path / "both", both, command) == expected
    makefile = {"Makefile": f"test build lint:\n\t{own}\n"}
    assert becomes(tmp_path / "one", {**files, **makefile}, command) == "make test"
    assert becomes(tmp_path / "all", {**both, **makefile}, command) == "make test"


def rows() -> list[Any]:
    said = tomllib.loads((Path(__file__).parent / "redirect_rows.toml").read_text(encoding="utf-8"))
    return [
        pytest.param(
            said["projects"][row["in"]], command, expected or None, row.get("cwd", ""), id=f"{row['in']}: {command}"
        )
        for row in said["rows"]
        for command, expected in row["commands"]
    ]


@pytest.mark.parametrize(("files", "command", "expected", "cwd"), rows())
def test_a_command_becomes_what_a_user_of_the_project_would_type(
    tmp_path: Path, files: dict[str, str], command: str, expected: str | None, cwd: str
):
    assert becomes(tmp_path, files, command, cwd) == expected
