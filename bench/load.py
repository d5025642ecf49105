"""Measure many agents at once, each sending its next event after its answer: events per second, errors, lost rows."""

import functools
import itertools
import os
import select
import socket
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import apsw
import msgspec

from bench.events import event_payloads
from bench.scene import OURS, PAYLOAD, Scene, scene
from bench.standing import children, resident
from snell.daemon.shim_connection import encode_request
from snell.daemon.wire import KEEPALIVE

SECONDS = 5.0
SCRIPTS_SECONDS = 6.0
TURNS, TURN_SECONDS = 6, 1.5  # of `/bin/true` and of ours


class Load(msgspec.Struct, frozen=True):
    per_second: float
    sent: int
    errors: int
    lost: int
    median: float


def events_of_20_agents() -> tuple[float, dict[str, float]]:
    return _per_second(20)


def events_of_200_agents() -> tuple[float, dict[str, float]]:
    return _per_second(200)


def repeated_of_200_agents_over_true() -> tuple[float, dict[str, float]]:
    """Events per second of 200 agents that repeat one command line, over how often 200 can spawn `/bin/true`."""
    return _over_true(200, is_new=False)


def new_of_200_agents_over_true() -> tuple[float, dict[str, float]]:
    """The same with a new command line each time."""
    return _over_true(200, is_new=True)


def errors_and_losses() -> tuple[float, dict[str, float]]:
    """Calls that did not answer as they should, and answered events without a row, of all loads together."""
    found = [_load(agents) for agents in (20, 64, 200)]
    counts = {"sent": sum(each.sent for each in found), "errors": sum(each.errors for each in found)}
    lost = sum(each.lost for each in found)
    return counts["errors"] + lost, {name: float(number) for name, number in {**counts, "lost": lost}.items()}


def events_of_64_agents_over_scripts() -> tuple[float, dict[str, float]]:
    """Events per second of 64 agents, over those of 64 agents with twenty Python scripts for each event."""
    from bench.peers import SCRIPT
    from bench.scene import NUMBER

    with scene() as here:
        (here.folder / "script.py").write_text(SCRIPT, encoding="utf-8")
        argv = [sys.executable, str(here.folder / "script.py"), str(here.folder / "log")]
        processes = _driven(argv, here, 64, SCRIPTS_SECONDS)
    theirs = processes.per_second / NUMBER
    ours = _load(64).per_second
    return ours / theirs, {"ours, events/s": ours, "scripts, events/s": theirs}


def memory_growth(events: int = 100_000, seconds: float = 75.0) -> tuple[float, dict[str, float]]:
    """
    Megabytes that the daemon and its child grow by over so many events, spoken to without `snell-hook`. A slow machine
    gets less far; how far is printed.
    """
    with scene() as here:
        _direct(here, 5_000)
        before, open_before = _memory(here.daemon), _descriptors(here.daemon)
        had = children(here.daemon)
        started = time.perf_counter()
        done = 0
        while done < events and time.perf_counter() - started < seconds:
            _direct(here, 1_000)
            done += 1_000
        grown = _memory(here.daemon) - before
        more = {
            "events": float(done),
            "events/s": done / (time.perf_counter() - started),
            "descriptors more": float(_descriptors(here.daemon) - open_before),
        }
        left = len(children(here.daemon)) - len(had)
    if more["descriptors more"] > 0 or left > 0:
        return float("inf"), {**more, "children more": float(left)}
    return grown, {**more, "children more": float(left)}


def _over_true(agents: int, *, is_new: bool) -> tuple[float, dict[str, float]]:
    candidates = {"ours, events/s": OURS, "/bin/true/s": ["/bin/true"]}
    found: dict[str, list[float]] = {name: [] for name in candidates}
    with scene(kind=None) as here:
        payloads = _files(here.folder / "payloads", event_payloads(here.folder, is_new=is_new))
        for _ in range(TURNS):
            for name, argv in candidates.items():
                found[name].append(_driven(argv, here, agents, TURN_SECONDS, payloads).per_second)
                here.wait_until_quiet()  # what the daemon does after its replies must not slow `/bin/true` down
    ours, theirs = map(statistics.median, found.values())
    return ours / theirs, {name: statistics.median(rates) for name, rates in found.items()}


def _files(folder: Path, payloads: Iterator[bytes]) -> Iterator[Path]:
    """Write each payload into a file of its own."""
    folder.mkdir()
    for number, payload in enumerate(payloads):
        path = folder / str(number)
        path.write_bytes(payload)
        yield path


def _per_second(agents: int) -> tuple[float, dict[str, float]]:
    found = _load(agents)
    return found.per_second, {"median ms": found.median * 1000, "events": float(found.sent)}


@functools.cache
def _load(agents: int) -> Load:
    with scene() as here:
        before = _rows(here)
        found = _driven(OURS, here, agents, SECONDS)
        here.stop()
        return msgspec.structs.replace(found, lost=found.sent - (_rows(here) - before))


def _driven(argv: list[str], here: Scene, agents: int, seconds: float, payloads: Iterator[Path] | None = None) -> Load:
    """One thread drives all agents: threads of their own would measure Python's lock."""
    if payloads is None:
        payloads = itertools.repeat(here.folder / "payload.json")
        next(payloads).write_bytes(PAYLOAD)
    waiting, running, times, errors = select.poll(), {}, [], 0
    until = time.perf_counter() + seconds
    for _ in range(agents):
        _start(argv, here.env, next(payloads), waiting, running)
    start = time.perf_counter()
    while running:
        for descriptor, _ in waiting.poll(10_000):
            child, began = running.pop(descriptor)
            waiting.unregister(descriptor)
            os.close(descriptor)
            _, status = os.waitpid(child, 0)
            errors += status != 0
            times.append(time.perf_counter() - began)
            if time.perf_counter() < until:
                _start(argv, here.env, next(payloads), waiting, running)
    spent = time.perf_counter() - start
    return Load(len(times) / spent, len(times), errors, 0, statistics.median(times))


def _start(
    argv: list[str], env: Mapping[str, str], payload: Path, waiting: select.poll, running: dict[int, tuple[int, float]]
) -> None:
    take, give = os.pipe()
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, str(payload), os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, give, 1),
    ]
    running[take] = (os.posix_spawn(argv[0], argv, env, file_actions=actions), time.perf_counter())
    os.close(give)
    waiting.register(take, select.POLLHUP)


def _direct(here: Scene, events: int, at_once: int = 16) -> None:
    address = str(here.folder / "run" / "snell.sock")
    for first in range(0, events, at_once):
        connections = [_sent(address) for _ in range(min(at_once, events - first))]
        for connection in connections:
            with connection:
                data = b"".join(iter(functools.partial(connection.recv, 1 << 16), b"")).lstrip(KEEPALIVE)
                if data[:8] != b"SNR1" + bytes(4):  # an exit code of 0
                    raise RuntimeError(f"an event was not answered: {data!r}")


def _sent(address: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(address)
    request_id = os.urandom(16).hex().encode()
    connection.sendall(encode_request(request_id, b"0.1.0", b"/", b"--client\0claude-code", b"", PAYLOAD))
    return connection


def _rows(here: Scene) -> int:
    from snell.runtime.database_journal import StoreJournal
    from snell.store.sqlite import SqliteDatabase

    database = SqliteDatabase(here.folder / "state" / "snell.db")
    StoreJournal(database).take_in()
    database.close()
    connection = apsw.Connection(str(here.folder / "state" / "snell.db"))
    try:
        return int(connection.execute("SELECT count(*) FROM decisions").fetchall()[0][0])
    finally:
        connection.close()


def _memory(daemon: int) -> float:
    """Megabytes of the daemon and of its children."""
    return sum(resident(process) for process in (daemon, *children(daemon)))


def _descriptors(process: int) -> int:
    """Return the smallest of several counts: a status request or a checkpoint of the database opens some."""
    found = []
    for _ in range(20):
        found.append(len(os.listdir(f"/proc/{process}/fd")))
        time.sleep(0.05)
    return min(found)
