"""Programs that hang, flood, fork, hide or cannot be started: each ends in time and leaves nothing behind."""

import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.process.sandbox import HANG_BOUND, PYTHON, Sandbox, expected_outcome, outcome
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="survivors are looked for in /proc")


# Each of these would run for a minute.
HOSTILE = {
    "hangs": "sleep 60",
    "spins": "while :; do :; done",
    "ignores TERM": "trap '' TERM HUP INT; while :; do sleep 60; done",
    "stops itself": "kill -STOP $$; sleep 60",
    "never gets to its first line": 'mkfifo pipe; exec /bin/sh pipe',
    "closes its outputs": "exec >&- 2>&-; sleep 60",
    "has a child that holds the pipes": "sleep 60 & sleep 60",
    "has a child in the background that ignores TERM": "(trap '' TERM; sleep 60; sleep 60) & sleep 60",
    "has orphans in its group": "(sleep 60 &); (sleep 60 &); sleep 60",
    "has a child in another session": "setsid sleep 60 & sleep 60",
    "has a child in another session that ignores TERM and its pipes": (
        "setsid sh -c 'trap \"\" TERM; sleep 60; sleep 60' </dev/null >/dev/null 2>&1 & sleep 60"
    ),
    "has a stopped child in another session": "setsid sh -c 'kill -STOP $$; sleep 60' & sleep 60",
    "has a session in a session": "setsid sh -c 'setsid sleep 60 & sleep 60' & sleep 60",
    "has a daemon": "(setsid sh -c 'sleep 60 &' </dev/null >/dev/null 2>&1 &); sleep 60",
    "has a daemon of a daemon": (
        "(setsid sh -c '(setsid sh -c \"sleep 60 & sleep 60\" &) &' </dev/null >/dev/null 2>&1 &); sleep 60"
    ),
    "has a child without environment": 'env -i setsid ./sleeper "$PIDS" & sleep 60',
    "has an orphan without environment that holds a pipe": (
        '(env -i setsid ./sleeper "$PIDS" &); sleep 60'
    ),
    "starts something else when it is asked to end": (
        "trap 'setsid sleep 60 </dev/null >/dev/null 2>&1 & exit' TERM; while :; do sleep 0.02; done"
    ),
}  # fmt: skip


@pytest.mark.parametrize("command", HOSTILE.values(), ids=HOSTILE)
def test_at_its_limit_a_program_ends_with_everything_it_started(sandbox: Sandbox, command: str) -> None:
    finished = sandbox.run(command)
    # Some shells remark on the death of a child.
    assert outcome(finished) == expected_outcome(None, timed_out=True, signal=finished.signal, stderr=finished.stderr)
    assert finished.seconds < HANG_BOUND
    assert wait_until(lambda: not sandbox.survivors())


def test_all_of_them_at_once_and_twice_end_as_if_each_were_alone(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(2 * len(HOSTILE)) as pool:
        runs = list(pool.map(sandbox.run, [*HOSTILE.values()] * 2))
    assert [finished.timed_out for finished in runs] == [True] * len(runs)
    assert max(finished.seconds for finished in runs) < HANG_BOUND
    assert wait_until(lambda: not sandbox.survivors())


# Both give up by themselves, should we fail to end them.
FORKS = """
import os, sys, time
counter, most, way = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_APPEND), int(sys.argv[2]), sys.argv[3]
end = time.monotonic() + 15
while time.monotonic() < end:
    if os.fstat(counter).st_size >= most:
        time.sleep(0.2)
        continue
    os.write(counter, b".")
    if os.fork() == 0:
        if way == "apart":
            os.setsid()
        if way == "flat":
            time.sleep(15)
            os._exit(0)
"""

HARE = """
import os, sys, time
end = time.monotonic() + 15
if os.fork():
    time.sleep(15)
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
    if sys.argv[1] == "apart":
        os.setsid()
"""


@pytest.mark.parametrize(("most", "way"), [("200", "flat"), ("300", "bomb"), ("300", "apart")])
def test_at_its_limit_a_program_ends_with_hundreds_of_forks(sandbox: Sandbox, most: str, way: str) -> None:
    finished = sandbox.run([*PYTHON, FORKS, str(sandbox.folder / "counter"), most, way], timeout=1.0)
    assert outcome(finished) == expected_outcome(None, timed_out=True, signal=finished.signal)
    assert (sandbox.folder / "counter").stat().st_size > 20
    assert wait_until(lambda: not sandbox.survivors())


@pytest.mark.parametrize("way", ["together", "apart"])
def test_a_process_that_forks_and_leaves_again_and_again_is_caught(sandbox: Sandbox, way: str) -> None:
    finished = sandbox.run([*PYTHON, HARE, way])
    assert outcome(finished) == expected_outcome(None, timed_out=True, signal=finished.signal)
    assert wait_until(lambda: not sandbox.survivors())


def test_a_program_that_ends_by_itself_is_told_apart_by_exit_code_and_signal(sandbox: Sandbox) -> None:
    spoke = sandbox.run("echo out; echo err >&2; exit 3")
    assert outcome(spoke) == expected_outcome(3, stdout=b"out\n", stderr=b"err\n")
    assert outcome(sandbox.run("kill -USR1 $$")) == expected_outcome(128 + signal.SIGUSR1, signal=signal.SIGUSR1)


def test_a_child_left_in_the_background_delays_no_caller_and_is_left_alone(sandbox: Sandbox) -> None:
    finished = sandbox.run('./sleeper "$PIDS" & echo started', timeout=30.0)
    assert outcome(finished) == expected_outcome(stdout=b"started\n")
    assert finished.seconds < HANG_BOUND
    assert len(sandbox.survivors()) == 1
    sandbox.end_survivors()
    assert wait_until(lambda: not sandbox.survivors())


def test_a_child_left_in_the_background_that_floods_the_pipe_delays_no_caller(sandbox: Sandbox) -> None:
    finished = sandbox.run("yes & exit 0", timeout=30.0)
    assert (finished.exit_code, finished.timed_out, finished.seconds < HANG_BOUND) == (0, False, True)
    assert wait_until(lambda: not sandbox.survivors())  # by the broken pipe


def test_a_run_can_be_cancelled_from_another_thread(sandbox: Sandbox) -> None:
    cancel = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(sandbox.run, 'setsid ./sleeper "$PIDS" & sleep 60', timeout=60.0, cancel=cancel)
        assert wait_until(lambda: any(sandbox.pids.iterdir()))
        cancel.set()
        finished = running.result(timeout=10)
    assert outcome(finished) == expected_outcome(None, cancelled=True, signal=finished.signal)
    assert wait_until(lambda: not sandbox.survivors())


def test_a_run_that_was_cancelled_before_it_began_starts_nothing(sandbox: Sandbox) -> None:
    cancel = threading.Event()
    cancel.set()
    assert outcome(sandbox.run("touch started", cancel=cancel)) == expected_outcome(None, cancelled=True)
    assert not (sandbox.folder / "started").exists()


def test_twenty_runs_at_once_do_not_touch_each_other(sandbox: Sandbox) -> None:
    def one(number: int) -> dict[str, Any]:
        if number % 4 == 0:
            return outcome(sandbox.run(f"printf {number}; exec sleep 60", timeout=1.5))
        return outcome(sandbox.run(f"cat; printf {number}; exit {number}", stdin=b"in ", timeout=30.0))

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(one, range(20)))
    assert answers == [
        expected_outcome(None, timed_out=True, signal=signal.SIGTERM, stdout=b"%d" % number)
        if number % 4 == 0
        else expected_outcome(number, stdout=b"in %d" % number)
        for number in range(20)
    ]
    assert wait_until(lambda: not sandbox.survivors())


def test_an_error_while_waiting_ends_the_processes_and_is_raised(sandbox: Sandbox) -> None:
    def stumble(said: bytes) -> bool:
        raise KeyboardInterrupt(said)

    with pytest.raises(KeyboardInterrupt):
        sandbox.run("setsid sleep 60 & echo hello; sleep 60", timeout=60.0, watch_stdout=stumble)
    assert wait_until(lambda: not sandbox.survivors())


def test_a_run_inside_a_run_ends_with_the_outer_one(sandbox: Sandbox) -> None:
    inner = """
import os
from snell.system.run_program import run
run(["/bin/sh", "-c", "(setsid ./sleeper $PIDS </dev/null >/dev/null 2>&1 &); sleep 60"],
    stdin=b"", cwd=os.getcwd(), env=os.environ, timeout=60.0)
"""
    finished = sandbox.run([sys.executable, "-c", inner], timeout=2.0)
    assert finished.timed_out
    assert len(list(sandbox.pids.iterdir())) == 1
    assert wait_until(lambda: not sandbox.survivors())


def test_no_descriptor_is_left_open_however_a_run_ends(sandbox: Sandbox) -> None:
    def each_way() -> None:
        sandbox.run("exit 1")
        sandbox.run("exec sleep 60", timeout=0.1)
        sandbox.run(["no-such-program"])

    each_way()
    before = os.listdir("/proc/self/fd")
    each_way()
    assert len(os.listdir("/proc/self/fd")) == len(before)
