"""Background hooks that wake an agent which has ended its turn, through the real shim and daemon."""

import json
import subprocess

import pytest

from tests.process.machine import HOOK, Machine

SLOW = """
[[hooks]]
event = "Stop"
{key} = true
async_timeout = 20000
[hooks.command]
command = 'while [ ! -e {go} ]; do sleep 0.02; done; {end}'
"""


@pytest.fixture
def machine(tmp_path):
    if not HOOK.exists():
        pytest.skip("there is no snell-hook here")
    made = Machine(tmp_path, forks_daemon=True)
    yield made
    made.stop()


def called(machine: Machine, *words: str) -> "subprocess.Popen[bytes]":
    payload = {"hook_event_name": "Stop", "session_id": "s", "cwd": str(machine.project)}
    process = subprocess.Popen(
        [HOOK, "--client", "claude-code", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=machine.env(),
        cwd=machine.project,
    )
    assert process.stdin
    process.stdin.write(json.dumps(payload).encode())
    process.stdin.close()
    process.stdin = None
    return process


def answer(process: "subprocess.Popen[bytes]") -> tuple[int, bytes, bytes]:
    out, err = process.communicate(timeout=30)
    return process.returncode, out, err


@pytest.mark.parametrize(
    ("end", "expected"),
    [("echo the build is red >&2; exit 2", (2, b"", b"the build is red")), ("exit 0", (0, b"", b""))],
)
def test_a_late_refusal_wakes_the_agent_and_the_turn_did_not_wait_for_it(machine, end, expected):
    machine.write("snell.toml", SLOW.format(key="async_rewake", go=machine.project / "go", end=end))
    waiting = called(machine, "--rewake")
    assert answer(called(machine)) == (0, b"", b"")  # while the hook still runs
    (machine.project / "go").touch()
    assert answer(waiting) == expected


def test_without_a_hook_that_may_wake_the_second_call_ends_at_once(machine):
    machine.write("snell.toml", SLOW.format(key="async", go=machine.project / "go", end="exit 2"))
    assert answer(called(machine)) == (0, b"", b"")
    assert answer(called(machine, "--rewake")) == (0, b"", b"")
    (machine.project / "go").touch()
