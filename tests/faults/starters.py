"""
Daemons that race for one home: `python -m tests.faults.starters HOME ROUNDS STARTERS`.

They are forked from a process that has everything loaded, so that they really are at the lock at the same time.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from snell.daemon.client import DaemonError, ask
from snell.daemon.main import main
from tests.waiting import first_true


def race(home: Path, starters: int) -> tuple[int, list[int], float]:
    """How many serve, how the others ended, and how long the last of them took."""
    began = time.monotonic()
    children = [_started(home) for _ in range(starters)]
    codes: dict[int, int] = {}
    while len(codes) < starters - 1:
        pid, status = os.wait()
        codes[pid] = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - began
    (winner,) = set(children) - codes.keys()
    serving = int(_serving(home / "run") == winner)
    os.kill(winner, signal.SIGTERM)
    os.waitpid(winner, 0)
    return serving, list(codes.values()), seconds


def _started(home: Path) -> int:
    pid = os.fork()
    if pid == 0:
        os.environ["SNELL_HOME"] = str(home)
        os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
        code = 70
        try:
            code = main()
        finally:
            os._exit(code)
    return pid


def _serving(run: Path) -> int:
    def pid() -> int:
        try:
            return int(ask(run, "status")["pid"])
        except DaemonError:
            return 0

    return first_true(pid, 10)


if __name__ == "__main__":
    home, rounds, starters = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    results = [race(home, starters) for _ in range(rounds)]
    found = {
        "one_served": sum(serving for serving, _, _ in results),
        "losers_exit_codes": sorted({code for _, codes, _ in results for code in codes}),
        "slowest_loser_seconds": round(max(seconds for _, _, seconds in results), 2),
    }
    print(json.dumps(found))
