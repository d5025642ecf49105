"""Input and output of any size, in any order, and none of it wanted."""

import signal
import sys

import pytest

from tests.process.sandbox import PYTHON, Sandbox, expected_outcome, outcome

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="survivors are looked for in /proc")


TEN_MEGABYTES = b"x" * 10_000_000


def test_a_program_that_never_reads_its_input_is_ended_at_its_limit(sandbox: Sandbox) -> None:
    assert outcome(sandbox.run("exec sleep 60", stdin=TEN_MEGABYTES)) == expected_outcome(
        None, timed_out=True, signal=signal.SIGTERM
    )


@pytest.mark.parametrize("command", ["exec <&-; sleep 0.1; echo done", "echo done", "head -c 5 >/dev/null; echo done"])
def test_a_program_may_leave_its_input_unread(sandbox: Sandbox, command: str) -> None:
    assert outcome(sandbox.run(command, stdin=TEN_MEGABYTES, timeout=30.0)) == expected_outcome(stdout=b"done\n")


def test_a_program_that_writes_much_before_it_reads_much_is_served(sandbox: Sandbox) -> None:
    script = "import sys; sys.stdout.write('y' * 10_000_000); sys.stdout.flush(); print(len(sys.stdin.read()))"
    finished = sandbox.run([*PYTHON, script], stdin=TEN_MEGABYTES, stdout_cap=20_000_000, timeout=30.0)
    assert finished.stdout == b"y" * 10_000_000 + b"10000000\n"
    assert finished.exit_code == 0


def test_input_arrives_whole_and_ends(sandbox: Sandbox) -> None:
    finished = sandbox.run("cat", stdin=TEN_MEGABYTES, stdout_cap=10_000_000, timeout=30.0)
    assert outcome(finished) == expected_outcome(stdout=TEN_MEGABYTES)


def test_output_over_its_cap_is_read_and_thrown_away(sandbox: Sandbox) -> None:
    finished = sandbox.run("head -c 50000000 /dev/zero; head -c 300000 /dev/zero >&2; exit 2", timeout=30.0)
    assert outcome(finished) == expected_outcome(2, stdout=bytes(1_000_000), stderr=bytes(256_000), truncated=True)


def test_a_flood_of_a_gigabyte_does_not_fill_our_memory(sandbox: Sandbox) -> None:
    script = """
import os, resource
from snell.system.run_program import run
def flood(size):
    argv = ["/bin/sh", "-c", f"head -c {size} /dev/zero"]
    run(argv, stdin=b"", cwd="/", env=os.environ, timeout=60.0)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(flood(2_000_000) + 20_000 > flood(1_000_000_000))
"""
    assert sandbox.run([sys.executable, "-c", script], timeout=60.0).stdout == b"True\n"


def test_a_slow_drip_is_kept_and_ended_at_its_limit(sandbox: Sandbox) -> None:
    finished = sandbox.run("while :; do printf x; sleep 0.02; done")
    assert outcome(finished) == expected_outcome(
        None, timed_out=True, signal=finished.signal, stdout=b"x" * len(finished.stdout)
    )
    assert finished.stdout != b""


def test_what_a_program_wrote_just_before_its_exit_is_not_lost(sandbox: Sandbox) -> None:
    script = "import os; os.write(1, b'a' * 60_000); os.write(2, b'b' * 60_000); os._exit(7)"
    assert outcome(sandbox.run([*PYTHON, script], timeout=30.0)) == expected_outcome(
        7, stdout=b"a" * 60_000, stderr=b"b" * 60_000
    )


def test_output_is_bytes_whatever_they_are(sandbox: Sandbox) -> None:
    assert outcome(sandbox.run(r"printf '\377\000\376'")) == expected_outcome(stdout=b"\xff\x00\xfe")
