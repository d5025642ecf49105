"""Files of a repository that would keep a reader busy do not hold up a call, and git's index is read as git does."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.process.machine import Machine

pytest_plugins = ("tests.process.machine_fixtures",)


def _endless_link(repository: Path) -> None:
    (repository / ".git/index").symlink_to("/dev/zero")


def _pipe(repository: Path) -> None:
    os.mkfifo(repository / ".git/index")


def _repeated_name(repository: Path) -> None:
    (repository / ".git/index").write_bytes(b"DIRC\0\0\0\2" + b"docs/" * 6_000_000)


def _endless_number(repository: Path) -> None:
    (repository / ".git/index").write_bytes(b"DIRC\0\0\0\4\xff\xff\xff\xff" + b"\x80" * 30_000_000)


def _loops_of_links(repository: Path) -> None:
    for number in range(12):
        (repository / f"l{number}").symlink_to(".")
    (repository / "Makefile").write_text("include */*/*/*/*/*/*/*/x\ntest:\n\techo\n", encoding="utf-8")


def _many_includes(repository: Path) -> None:
    (repository / "Makefile").write_text("include *\n-include */* a*b*\n" * 3_000, encoding="utf-8")


@pytest.mark.parametrize(
    ("make", "command"),
    [
        (_endless_link, "rm -rf docs"),
        (_pipe, "rm -rf docs"),
        (_repeated_name, "rm -rf docs"),
        (_endless_number, "rm -rf docs"),
        (_loops_of_links, "npm test"),
        (_many_includes, "npm test"),
    ],
)
def test_a_call_is_answered_in_time(make: Callable[[Path], None], command: str, machine: Machine, tmp_path: Path):
    repository = tmp_path / "repository"
    (repository / "docs").mkdir(parents=True)
    (repository / ".git").mkdir()
    make(repository)
    before = time.monotonic()
    call = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": command}}
    code, _out, err = machine.hook({**call, "cwd": str(repository)})
    assert (code, err) == (0, "")
    assert time.monotonic() - before < 30


@pytest.mark.parametrize("version", [2, 4])
def test_a_folder_that_git_tracks_is_asked_about_however_long_the_names_are(
    version: int, machine: Machine, tmp_path: Path
):
    repository = tmp_path / "repository"
    for name in ("a" * 150, "docs"):
        (repository / name).mkdir(parents=True)
        (repository / name / "x").write_text("x\n", encoding="utf-8")
    for words in (("init", "-q"), ("config", "index.version", str(version)), ("add", ".")):
        subprocess.run(["git", *words], cwd=repository, check=True, capture_output=True)
    call = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash"}
    code, out, _err = machine.hook({**call, "tool_input": {"command": "rm -rf docs"}, "cwd": str(repository)})
    assert (code, "deletes a folder that git tracks" in out) == (0, True)


def test_an_edit_that_would_make_a_file_huge_is_answered_in_time(machine: Machine, tmp_path: Path):
    script = tmp_path / "run.sh"
    script.write_text("a" * 60_000, encoding="utf-8")
    given = {"file_path": str(script), "old_string": "a", "new_string": "b" * 50_000, "replace_all": True}
    call = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(tmp_path), "tool_name": "Edit"}
    before = time.monotonic()
    code, _out, err = machine.hook({**call, "tool_input": given})
    assert (code, err) == (0, "")
    assert time.monotonic() - before < 20
