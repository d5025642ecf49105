"""A call that no hook has an opinion on is decided by the client's own rules, with Snell and without it."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from snell.setup.config_formats import Programs
from snell.setup.plan import Options, Site, find_install, plan
from tests.golden.reading import golden, golden_files
from tests.process.machine import HOOK, Machine

pytestmark = pytest.mark.skipif(not HOOK.exists(), reason="snell-hook is not beside this Python")


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path, forks_daemon=True)
    yield machine
    machine.stop()


def antigravity(machine: Machine, program: str) -> str:
    """What the command that set-up writes for Antigravity prints before a harmless call."""
    site = Site(machine.home, machine.project, Programs(program, program))
    (file,) = plan(find_install("antigravity"), Options(), site)
    command = file.edits[0].value["PreToolUse"][0]["hooks"][0]["command"]
    payload = golden(next(path for path in golden_files("antigravity") if path.stem == "PreToolUse"))["payload"]
    given = {**payload, "toolCall": {"name": "run_command", "args": {"CommandLine": "ls", "Cwd": "/"}}}
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        input=json.dumps(given).encode(),
        env=machine.env(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    return done.stdout.decode().strip()


def test_in_antigravity_no_opinion_is_not_an_approval(machine: Machine) -> None:
    assert antigravity(machine, str(HOOK)) == '{"decision":"ask"}'
    assert antigravity(machine, "/not/here/snell-hook") == '{"decision":"ask"}'
