"""What a daemon costs that stands by: CPU time while nothing happens, and memory after sixty events."""

import functools
import itertools
import time
from pathlib import Path

import msgspec

from bench.events import event_payloads
from bench.measure import Measured, process_cpu
from bench.scene import OURS, scene
from bench.shim import spawned

EVENTS, SECONDS = 60, 25.0


class Standing(msgspec.Struct, frozen=True):
    idle_ms: float  # CPU milliseconds a second
    daemon_mb: float
    worker_mb: float


def idle_cpu() -> Measured:
    return standing().idle_ms, {"seconds": SECONDS}


def memory_of_daemon() -> Measured:
    return standing().daemon_mb, {"events": float(EVENTS)}


def memory_of_worker() -> Measured:
    """The process of Python hooks; without such hooks there is none."""
    return standing().worker_mb, {"events": float(EVENTS)}


@functools.cache
def standing() -> Standing:
    with scene() as here:
        for payload in itertools.islice(event_payloads(here.folder, is_new=True), EVENTS):
            spawned(OURS, here.env, payload)
        daemon = here.daemon
        here.wait_until_quiet(12.0)  # some rounds of housekeeping follow the last event, ten seconds apart
        worker = max(map(resident, children(daemon)), default=0.0)
        memory = resident(daemon)
        before = process_cpu(daemon)
        time.sleep(SECONDS)
        return Standing((process_cpu(daemon) - before) * 1000 / SECONDS, memory, worker)


def resident(process: int) -> float:
    """Return the megabytes of a process that are in memory."""
    for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def children(process: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text("ascii").split()]
