"""T08: hooks that hang, hide, flood, fork and kill. Each has its verdict in time and leaves nothing behind."""

import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.faults.counts import Figure, times
from tests.process.machine import Machine
from tests.process.sandbox import contents, is_alive
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="survivors are looked for in /proc")
pytest_plugins = ("tests.process.machine_fixtures",)

LIMIT = 1
FORKS = "import os,time\nfor _ in range(200):\n if os.fork()==0: time.sleep(60)\ntime.sleep(60)"
BOMB = "import os,time\nend=time.monotonic()+20\nwhile time.monotonic()<end:\n os.fork()"
HOSTILE = {
    "hangs": "sleep 60",
    "ignores TERM": "trap '' TERM HUP INT; while :; do sleep 60; done",
    "stops itself": "kill -STOP $$; sleep 60",
    "child holds stdout": "sleep 60 & sleep 60",
    "parent exits first": "(sleep 60 & sleep 60) & (trap '' TERM; sleep 60)",
    "setsid": "setsid sleep 60 & sleep 60",
    "setsid twice": "setsid sh -c 'setsid sleep 60 & sleep 60' & sleep 60",
    "200 forks": f"exec {sys.executable} -ISc '{FORKS}'",
    "fork bomb": f"exec {sys.executable} -ISc '{BOMB}'",
    "never reads stdin": "exec sleep 60",
    "closes stdin": "exec <&-; sleep 60",
    "1 GB of output": "head -c 1000000000 /dev/zero; sleep 60",
    "slow drip": "while :; do echo x; sleep 0.05; done",
    "stuck before its first line": "mkfifo p$$; exec /bin/sh p$$",
}


@times("rounds", 1, 3)
def test_a_hostile_hook_has_its_verdict_in_time_and_no_survivor(machine: Machine, rounds: int, figure: Figure) -> None:
    mark = os.urandom(8).hex()
    for number, command in enumerate(HOSTILE.values()):
        (machine.project / f"hook-{number}.sh").write_text(f"{command}\n", encoding="utf-8")
    machine.write(
        "snell.toml",
        "".join(
            f'[[hooks]]\nevent="PreToolUse"\nmatcher="H{number}"\ntimeout={LIMIT}\non_failure="block"\n'
            f'command="sh {machine.project}/hook-{number}.sh"\n'
            for number in range(len(HOSTILE))
        ),
    )
    machine.hook()
    memory = resident(machine.pid)
    runs = []
    for _ in range(rounds):
        # Not all at once: two bombs on two processors are a test of the scheduler.
        with ThreadPoolExecutor(4) as pool:
            runs += pool.map(lambda number: verdict(machine, f"H{number}", mark), range(len(HOSTILE)))
    ended = time.monotonic()
    wait_until(lambda: not survivors(mark), 10)
    slowest = max(seconds for _, seconds in runs)
    figure(
        test="T08",
        fault="hostile hooks",
        variants=len(HOSTILE),
        runs=len(runs),
        slowest_after_limit=round(slowest - LIMIT, 2),
        none_left_after=round(time.monotonic() - ended, 2),
        memory_growth_mb=round((resident(machine.pid) - memory) / 1e6, 1),
    )
    assert [said for said, _ in runs] == ["did not finish within 1 s"] * len(runs)
    assert slowest < LIMIT + 5  # promised is one second; this machine may be busy
    assert resident(machine.pid) - memory < 60e6


def verdict(machine: Machine, tool: str, mark: str) -> tuple[str, float]:
    began = time.monotonic()
    said = machine.reason({"tool_name": tool, "tool_input": {}}, SNELL_TEST_MARK=mark)
    return ("did not finish within 1 s" if "within 1 s" in said else said), time.monotonic() - began


def survivors(mark: str) -> list[int]:
    listed = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    return [pid for pid in listed if is_alive(pid) and mark.encode() in contents(f"/proc/{pid}/environ")]


def resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(("words", "code"), [((), 0), (("--fail-closed",), 2)])
def test_a_hook_that_kills_the_deciding_process_gets_the_failure_policy(
    machine: Machine, words: tuple[str, ...], code: int, figure: Figure
) -> None:
    machine.write("snell.toml", '[[hooks]]\nevent="PreToolUse"\nmatcher="Kill"\ncommand="kill -9 $PPID; sleep 60"\n')
    machine.hook()
    began = time.monotonic()
    got, _, said = machine.hook({"tool_name": "Kill", "tool_input": {}}, *words)
    seconds = time.monotonic() - began
    figure(test="T08", fault="kill -9 $PPID", exit_code=got, seconds=round(seconds, 2))
    assert (got, said.splitlines()[-1].startswith("snell-hook: ")) == (code, True)
    assert seconds < 20
    assert machine.hook()[:2] == (0, "")
    for pid in machine.daemons():
        os.kill(pid, signal.SIGTERM)
