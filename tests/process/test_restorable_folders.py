"""The real `snell-hook`: a folder that git can give back whole may be deleted without a question."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.process.machine import Machine

pytest_plugins = ("tests.process.machine_fixtures",)


def _git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@a.example", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", folder, *who, *words], check=True, capture_output=True)


@pytest.fixture
def project(machine: Machine) -> Path:
    """A repository with one committed folder of sources, and ignored files elsewhere."""
    for name in ("src/a.py", "src/deep/b.py", "docs/c.md"):
        path = machine.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    (machine.project / ".gitignore").write_text("*.local\n", encoding="utf-8")
    _git(machine.project, "init", "-q")
    _git(machine.project, "add", ".")
    _git(machine.project, "commit", "-qm", "a")
    return machine.project


def _is_asked(machine: Machine, command: str) -> bool:
    return "delete-tree" in machine.reason({"tool_input": {"command": command}})


def test_an_unchanged_folder_is_not_asked_about(machine: Machine, project: Path):
    assert not _is_asked(machine, "rm -rf src")
    assert not _is_asked(machine, "rm -r docs")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a changed file": lambda project: (project / "src/a.py").write_text("changed", encoding="utf-8"),
    "a staged change": lambda project: (
        (project / "src/a.py").write_text("changed", encoding="utf-8"),
        _git(project, "add", "src"),
    ),
    "an untracked file": lambda project: (project / "src/new.py").write_text("new", encoding="utf-8"),
    "an ignored file": lambda project: (project / "src/my.local").write_text("mine", encoding="utf-8"),
    "another repository": lambda project: _git(project / "src/deep", "init", "-q"),
    "a change that git was told not to look at": lambda project: (
        _git(project, "update-index", "--assume-unchanged", "src/a.py"),
        (project / "src/a.py").write_text("changed", encoding="utf-8"),
    ),
    "a file that was never committed": lambda project: (
        (project / "src/new.py").write_text("new", encoding="utf-8"),
        _git(project, "add", "src/new.py"),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_folder_with_something_that_git_does_not_have_is_asked_about(machine: Machine, project: Path, name: str):
    CHANGES[name](project)
    assert _is_asked(machine, "rm -rf src")


def test_the_whole_project_and_its_history_are_refused_as_before(machine: Machine, project: Path):
    assert _is_asked(machine, "rm -rf .git")
    assert _is_asked(machine, f"rm -rf {project}")


def test_a_git_that_does_not_answer_in_time_is_not_waited_for(machine: Machine, project: Path, tmp_path: Path):
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nsleep 30\n", encoding="utf-8")
    slow.chmod(0o755)
    path = f"{slow.parent}:/usr/bin:/bin"
    machine.reason(None, PATH=path)  # starts the daemon, which has this PATH from now on
    started = time.monotonic()
    reason = machine.reason({"tool_input": {"command": "rm -rf src"}}, PATH=path)
    assert ("delete-tree" in reason, time.monotonic() - started < 5) == (True, True)
