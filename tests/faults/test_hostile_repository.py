"""Every event and every command in a repository full of canaries, with system calls traced: none of it runs."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from snell.cli.command_table import ROWS
from snell.clients import CLIENTS
from snell.model.catalogue import CATALOGUE
from tests.faults.counts import Figure
from tests.faults.hostile_canaries import make_repository
from tests.process.machine import HOOK, Machine

pytest_plugins = ("tests.process.machine_fixtures",)
pytestmark = [
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed"),
]

# `snell test` without a path runs a project's own cases, `run` and `loop` start an agent, `ui` and `watch` stay.
NOT_RUN = {"test", "run", "loop", "ui", "watch", "demo", "daemon", "hook", "worker"}
WORDS = {"new": ("new", "hook", "x", "--help"), "help": ("help",), "why": ("why", "last"), "fire": ("fire", "Stop")}
# Commands that need words, or that do more with some.
MORE = """
audit verify --all|ledger list|ledger stats|tools list|daemon status|record status|new case x|new pack y --help
setup --diff|setup claude-code --diff --scope project|setup claude-code --check --scope project|trust --list
trust --json|trust .snell|settings --effective|settings --json --cwd .|check skill x --folder .
check redirect pytest|check redirect npm test|check command 'git status' --cwd .|replay --transcripts .
replay --settings .snell/snell.toml|import claude-code|why last --json|fire --command 'pytest -q'
fire --command 'npm test'|fire --command 'git commit -m x'|fire --prompt 'use x'|fire SessionStart|test --help
test bin|doctor --all|clients --found|completion bash|memory map x.html|memory browse|phase|status --json
"""
# Runs commands one after the other, and shows what they say.
DRIVER = """
import json, subprocess, sys
for words, given in json.load(sys.stdin):
    try:
        done = subprocess.run(words, input=given.encode(), capture_output=True, timeout=120)
    except subprocess.TimeoutExpired:
        continue
    sys.stdout.write((done.stdout + done.stderr).decode("utf-8", "replace"))
"""
FEW = 12  # in the ordinary run, one of so many


def executed(trace: Path) -> list[str]:
    """The paths of the programs that were executed, in all traced processes."""
    text = "".join(path.read_text(errors="replace") for path in trace.parent.glob(f"{trace.name}*"))
    return [match[1] for match in re.finditer(r'execve(?:at)?\((?:[^,"]*, )?"((?:[^"\\]|\\.)*)".*\) = 0', text)]


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, Path, int]:
    told = tmp_path / "told"
    folder = tmp_path / "hostile"
    return folder, told, make_repository(folder, told)


def trace_all(trace: Path, commands: list[tuple[list[str], str]], env: dict[str, str], cwd: Path) -> list[str]:
    """Run the commands, each with its standard input, below one strace; return the programs that were executed."""
    words = [
        "strace",
        "-ff",
        "-qq",
        "-e",
        "trace=execve,execveat",
        "-o",
        str(trace),
        sys.executable,
        "-I",
        "-c",
        DRIVER,
    ]
    given = json.dumps(commands).encode()
    done = subprocess.run(words, input=given, env=env, cwd=cwd, capture_output=True, timeout=1700, check=False)
    assert (done.returncode, b"Traceback" in done.stdout) == (0, False), (done.stdout + done.stderr).decode()[-3000:]
    return executed(trace)


@pytest.mark.parametrize("is_full", [False, pytest.param(True, marks=pytest.mark.nightly)], ids=["a few", "all"])
def test_no_event_and_no_command_executes_anything_of_a_hostile_repository(
    machine: Machine, repository: tuple[Path, Path, int], tmp_path: Path, is_full: bool, figure: Figure
) -> None:
    folder, told, canaries = repository
    assert canaries >= 70
    # The working folder is in the search path, as careless people have it.
    env = machine.env(PATH="/usr/bin:/bin:.:", TERM="dumb", EDITOR="bin/sh", PAGER="bin/sh")
    # Every event of one client, and one event of every client.
    pairs = [("claude-code", event) for event in CATALOGUE] + [(client, "PreToolUse") for client in CLIENTS]
    more = {"tool_input": {"command": "git status"}, "prompt": "x", "source": "startup", "trigger": "auto"}
    payload = {"session_id": "s", "cwd": str(folder), "tool_name": "Bash", **more}
    commands = [
        ([str(HOOK), "--client", client], json.dumps({"hook_event_name": event, **payload}))
        for client, event in pairs[:: 1 if is_full else FEW]
    ]
    snell = [sys.executable, "-I", "-m", "snell"]
    lines = [WORDS.get(name, (name,)) for name in ROWS if name not in NOT_RUN]
    lines += [tuple(shlex.split(line)) for line in MORE.replace("\n", "|").split("|") if line]
    commands += [([*snell, *words], "") for words in lines[:: 1 if is_full else FEW]]
    programs = trace_all(tmp_path / "trace", [*commands, ([*snell, "daemon", "stop"], "")], env, folder)
    runs = len(commands)
    assert len(programs) >= runs, "what was started was traced"
    foreign = sorted({path for path in programs if not path.startswith("/") or Path(path).is_relative_to(folder)})
    figure(test="hostile repository", canaries=canaries, runs=runs, programs=len(set(programs)), foreign=len(foreign))
    assert (foreign, told.exists() and told.read_text(encoding="utf-8")) == ([], False)


def test_a_canary_would_be_seen(repository: tuple[Path, Path, int], tmp_path: Path) -> None:
    folder, told, _ = repository
    programs = trace_all(tmp_path / "trace", [(["sh", "-c", "./bin/git x"], "")], dict(os.environ), folder)
    assert any(path.endswith("bin/git") for path in programs)
    assert told.exists()
