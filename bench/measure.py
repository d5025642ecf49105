"""Measure candidates in turns, so that a busy moment of the machine affects all of them."""

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence

Measured = tuple[float, dict[str, float]]  # the figure, and what it was made of


def interleaved(
    candidates: Mapping[str, Callable[[], object]],
    *,
    rounds: int,
    calls: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Seconds per call, the best of all rounds, for each candidate."""
    best = dict.fromkeys(candidates, float("inf"))
    for _ in range(rounds):
        for name, call in candidates.items():
            start = clock()
            for _ in range(calls):
                call()
            best[name] = min(best[name], (clock() - start) / calls)
    return best


def interleaved_processes(candidates: Mapping[str, Sequence[str]], *, rounds: int) -> dict[str, float]:
    """CPU seconds of a process, the best of all rounds, for each command line."""
    best = dict.fromkeys(candidates, float("inf"))
    for _ in range(rounds):
        for name, argv in candidates.items():
            best[name] = min(best[name], _cpu_seconds(argv))
    return best


def process_cpu(process: int) -> float:
    """Return the CPU seconds of a process so far, with all its threads, also those that have ended."""
    return time.clock_gettime((~process << 3) | 2)  # the kernel's id for that clock


def python(*code: str) -> list[str]:
    return [sys.executable, "-c", *code]


def _cpu_seconds(argv: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


class NotHere(Exception):  # noqa: N818 - not an error: what would be measured is not on this machine
    """Why a figure cannot be measured on this machine."""
