"""`snell statusline` and `snell suggest-files`, as Claude Code runs them."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from snell.cli.commands.display import default_suggestions, lines_of
from snell.daemon.client import ask
from tests.fork_server import ROOT, run_snell

Run = Callable[..., list[str]]
SESSION = {
    "session_id": "s-1",
    "model": {"display_name": "Opus"},
    "context_window": {"used_percentage": 42.4, "total_input_tokens": 84_000, "context_window_size": 200_000},
}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    for name in ("src/reader.py", "src/writer.py", "README.md"):
        (project / name).write_text("", encoding="utf-8")

    def called(*words: str, settings: str = "", **given: Any) -> list[str]:
        config = tmp_path / "h" / "config"
        config.mkdir(parents=True, exist_ok=True)
        (config / "snell.toml").write_text(settings, encoding="utf-8")
        payload = json.dumps({**SESSION, "cwd": str(project), **given}).encode()
        code, out, err = run_snell(*words, given=payload, env=_env(tmp_path), cwd=project)
        assert (code, err) == (0, "")
        return out.splitlines()

    return called


def _env(folder: Path) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "HOME": str(folder), "SNELL_HOME": str(folder / "h")}


@pytest.mark.proves("S1-108", "S1-152")
def test_the_status_line_is_what_the_configured_command_prints_or_our_own(run: Run) -> None:
    assert run("statusline") == ["Opus | project | context 42%"]
    assert run("statusline", "--then", "echo one; echo; echo two  ") == ["one", "two"]
    mine = """status_line = "python3 -c 'import json,sys; print(json.load(sys.stdin)[\\"session_id\\"])'"\n"""
    assert run("statusline", "--then", "echo theirs", settings=mine) == ["s-1"]
    assert run("statusline", "--then", "echo half; exit 3") == []
    assert run("statusline", "--then", "echo x", settings="disable_all_hooks = true\n") == []
    assert run("statusline", settings=f"disable_all_hooks = true\n{mine}") == []
    assert run("statusline", settings=f'status_line = "{sys.executable} -m snell statusline"\n') == [
        "Opus | project | context 42%"
    ]


@pytest.mark.proves("S1-152", "S1-153")
def test_a_command_that_takes_too_long_shows_nothing_and_is_ended(tmp_path: Path) -> None:
    assert signature(lines_of).parameters["limit"].default == 5.0
    begun = time.monotonic()
    assert lines_of("echo early; sleep 600", b"{}", str(tmp_path), os.environ, limit=0.3) == []
    assert time.monotonic() - begun < 60


# A command in a process whose clock runs ten times as fast; it tells how many of these seconds it took.
FAST = """
import selectors, sys, time
clock, select = time.monotonic, selectors.PollSelector.select
start = clock()
time.monotonic = lambda: start + (clock() - start) * 10
selectors.PollSelector.select = lambda self, wait=None: select(self, wait and wait / 10)
from snell.cli.commands import display
from snell.cli.main import main
start = clock()
main(sys.argv[1:])
print(time.monotonic() - start)
"""


@pytest.mark.proves("S1-152", "S1-153")
@pytest.mark.parametrize("word", ["statusline", "suggest-files"])
def test_a_display_command_has_five_seconds(tmp_path: Path, word: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FAST, word, "--then", "echo early; sleep 600"],
        input=b"{}",
        env={**_env(tmp_path), "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert 5 <= float(done.stdout) < 55


@pytest.mark.proves("S1-108", "S1-153")
def test_suggested_files_are_what_the_configured_command_prints_or_the_projects(run: Run) -> None:
    assert run("suggest-files", query="read") == ["README.md", "src/reader.py"]
    assert run("suggest-files", "--then", "echo a; echo; echo b", query="x") == ["a", "b"]
    (given,) = run("suggest-files", "--then", "cat; echo", query="src/x")
    assert json.loads(given)["query"] == "src/x"
    assert run("suggest-files", "--then", "echo a", settings='file_suggestion = "echo mine"\n') == ["mine"]
    assert run("suggest-files", "--then", "echo a; exit 1", query="x") == []
    for own in ("", "file_suggestion = 'echo mine'\n"):
        assert run("suggest-files", settings=f"disable_all_hooks = true\n{own}", query="read") == []
    assert run("suggest-files", query="no such thing") == []


def test_files_that_git_ignores_are_not_suggested(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True, timeout=30)
    for name, text in ((".gitignore", "built\n"), ("built", ""), ("build.py", "")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert default_suggestions("buil", str(tmp_path), os.environ) == ["build.py"]


def test_the_status_line_tells_the_daemon_how_full_the_context_is(run: Run, tmp_path: Path) -> None:
    control = [sys.executable, "-m", "snell", "daemon"]
    subprocess.run([*control, "start"], env=_env(tmp_path), check=True, capture_output=True, timeout=60)
    try:
        run("statusline")
        known = ask(tmp_path / "h" / "run", "context.usage", {"session_id": "s-1"})
        assert known == {"session_id": "s-1", "used_percent": 42.4, "tokens": 84_000.0, "window": 200_000.0}
    finally:
        subprocess.run([*control, "stop"], env=_env(tmp_path), check=True, capture_output=True, timeout=60)
