"""
The fault table: what happens to events while the daemon is killed, stopped, or kept from its database.

`python -m tests.faults.fault_table [TRIES]` prints it. Agents start the real `snell-hook` one event after the other,
with its retries and its way without the daemon, while a fault is brought about again and again. Then every answer is
compared with what is on record: lost (answered, and not in the journal or the ledger), double (there twice), wrong
(another verdict than without the fault), without a trace. The worst time is a multiple of the median time that the same
number of agents need for an event when each is decided in a process of its own, as `snell-hook` does without a daemon.
"""

import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import apsw
from msgspec import Struct

from snell.runtime.database_journal import StoreJournal
from snell.store.sqlite import SqliteDatabase
from tests.case_counts import cases
from tests.fork_server import run_snell
from tests.process.machine import CALL, Machine
from tests.seeds import draw_seed
from tests.waiting import first_true, wait_until

AGENTS = 4
BAD_EVERY = 5  # each fifth command is one that a hook denies
STAND_INS = cases(1, 2)  # events of each agent for the time of a decision without the daemon
BETWEEN = (0.05, 0.6)  # seconds between two tries
STOPPED = (0.2, 2.5)  # seconds
LOCKED = 1.5  # seconds
HANG_BOUND = 60.0
BETWEEN_LOOKS = 0.25  # seconds; each look takes the lock that the daemon needs to write


class Event(Struct, frozen=True):
    """One event and its answer."""

    name: str
    is_right: bool
    is_alone: bool  # it was decided without the daemon
    seconds: float


class Counted(Struct, frozen=True):
    """What a fault did."""

    fault: str
    tries: int
    events: int
    lost: int
    double: int
    wrong: int
    alone: int  # decided without the daemon
    alone_untraced: int  # of these
    untraced: int  # by a daemon that was killed in the half second after it
    worst: float  # as a multiple of the time without the daemon
    audit: str  # what `snell audit verify` says; empty if nothing is wrong

    def line(self) -> str:
        counts = (
            self.tries,
            self.events,
            self.alone,
            self.lost,
            self.double,
            self.wrong,
            self.alone_untraced,
            self.untraced,
        )
        return f"| {self.fault} | {' | '.join(map(str, counts))} | {self.worst:.1f} |"


HEAD = (
    "| fault | tries | events | decided without the daemon | lost | double | wrong | without trace, decided without it"
    " | without trace, decided by it | worst time / time without the daemon |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


class Agents:
    """Agents that start `snell-hook` for one event after the other, until they are told to end."""

    def __init__(self, machine: Machine) -> None:
        self._machine, self._over = machine, threading.Event()
        self.events: list[Event] = []
        self._threads = [threading.Thread(target=self._work, args=(number,)) for number in range(AGENTS)]
        for thread in self._threads:
            thread.start()

    def end(self) -> list[Event]:
        self._over.set()
        for thread in self._threads:
            thread.join()
        return self.events

    def _work(self, agent: int) -> None:
        number = 0
        while not self._over.is_set():
            self.events.append(fire(self._machine.hook, f"{agent}-{number}", number))
            number += 1


def fire(hook: Callable[[dict], tuple[int, str, str]], name: str, number: int) -> Event:
    """Send one event; a hook of the pack denies the command `bad`."""
    is_bad, began = number % BAD_EVERY == 0, time.monotonic()
    code, out, err = hook({"tool_use_id": name, "tool_input": {"command": "bad" if is_bad else "ls"}})
    verdict = json.loads(out).get("hookSpecificOutput", {}).get("permissionDecision", "") if out else ""
    is_right, is_alone = (code, verdict) == (0, "deny" if is_bad else ""), "without the daemon" in err
    return Event(name, is_right, is_alone, time.monotonic() - began)


def time_without_daemon(machine: Machine) -> float:
    """Return the median time of an event that is decided in a process of its own, by all agents at once."""
    machine.stop()
    command = [sys.executable, "-I", "-m", "snell", "hook", "--client", "claude-code"]

    def decide(payload: dict) -> tuple[int, str, str]:
        data = json.dumps({**CALL, "cwd": str(machine.project), "session_id": "alone", **payload}).encode()
        done = subprocess.run(command, input=data, env=machine.env(), capture_output=True, check=False)
        return done.returncode, done.stdout.decode(), ""

    times: list[float] = []

    def work() -> None:
        times.extend(fire(decide, f"alone-{os.urandom(4).hex()}", 1).seconds for _ in range(STAND_INS))

    threads = [threading.Thread(target=work) for _ in range(AGENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statistics.median(times)


def measure(machine: Machine, fault: str, tries: int, chosen: random.Random) -> Counted:
    """Bring a fault about, several times under load, and count."""
    alone = [time_without_daemon(machine)]
    machine.hook()
    agents = Agents(machine)
    for _ in range(tries):
        time.sleep(chosen.uniform(*BETWEEN))
        FAULTS[fault](machine, chosen)
    time.sleep(1)
    events = agents.end()
    alone.append(time_without_daemon(machine))
    machine.hook({"session_id": "last"})
    return count(machine, fault, tries, events, statistics.mean(alone))


def count(machine: Machine, fault: str, tries: int, events: list[Event], alone: float) -> Counted:
    """Compare the answers with what is on record."""
    names = [event.name for event in events]
    first_true(lambda: all(set(names) <= set(found) for found in stored(machine)[:2]), HANG_BOUND, BETWEEN_LOOKS)
    code, out, err = run_snell("audit", "verify", env=machine.env(), cwd=machine.project)
    decided, called, untraced = stored(machine)
    alone_names = {event.name for event in events if event.is_alone}
    return Counted(
        fault=fault,
        tries=tries,
        events=len(events),
        lost=len(set(names) - (set(decided) & set(called))),
        double=len(decided) + len(called) - len(set(decided)) - len(set(called)),
        wrong=sum(not event.is_right for event in events),
        alone=len(alone_names),
        alone_untraced=len(alone_names & untraced),
        untraced=len(untraced - alone_names),
        worst=max(event.seconds for event in events) / alone,
        audit="" if code == 0 else out + err,
    )


def stored(machine: Machine) -> tuple[list[str], list[str], set[str]]:
    """Return the calls in the journal and in the ledger, as often as they are there, and those without a trace."""
    database = SqliteDatabase(machine.home / "state/snell.db")
    try:
        StoreJournal(database).take_in()
        of_agents = "session_id = 's' AND tool_use_id <> ''"
        decided = f"SELECT tool_use_id FROM decisions WHERE {of_agents}"
        called = "SELECT substr(tool_call_id, 3) FROM tool_calls WHERE session_id = 's' AND tool_call_id LIKE 's/%-%'"
        untraced = f"SELECT tool_use_id FROM decisions WHERE {of_agents} AND id NOT IN (SELECT decision_id FROM traces)"
        found = [database.run(lambda tx, sql=sql: tx.rows(sql)) for sql in (decided, called, untraced)]
        names = [[name for (name,) in each] for each in found]
        return names[0], [name for name in names[1] if len(name) < 20], set(names[2])
    finally:
        database.close()


def kill(machine: Machine, _chosen: random.Random) -> None:
    for pid in machine.daemons():
        os.kill(pid, signal.SIGKILL)


def stop_for_good(machine: Machine, _chosen: random.Random) -> None:
    stopped = signal_all(machine, signal.SIGSTOP)
    wait_until(lambda: not set(stopped) & set(machine.daemons()))
    wait_until(machine.daemons)


def stop_for_a_while(machine: Machine, chosen: random.Random) -> None:
    stopped = signal_all(machine, signal.SIGSTOP)
    time.sleep(chosen.uniform(*STOPPED))
    for pid in stopped:
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            continue  # it was given up


def lock_database(machine: Machine, _chosen: random.Random) -> None:
    connection = apsw.Connection(str(machine.home / "state/snell.db"))
    connection.set_busy_timeout(20_000)
    connection.execute("BEGIN IMMEDIATE")
    time.sleep(LOCKED)
    connection.execute("ROLLBACK")
    connection.close()


def signal_all(machine: Machine, number: signal.Signals) -> list[int]:
    pids = wait_until(machine.daemons)
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
    return pids


FAULTS: dict[str, Callable[[Machine, random.Random], None]] = {
    "the daemon is killed (-9)": kill,
    "the daemon is stopped, and stays so": stop_for_good,
    "the daemon is stopped, and goes on": stop_for_a_while,
    "another program locks the database": lock_database,
}


def main(tries: int) -> int:
    chosen, found = random.Random(draw_seed()), []
    print(HEAD)
    for fault in FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            machine = Machine(Path(folder))
            try:
                found.append(measure(machine, fault, tries, chosen))
            finally:
                machine.kill()
                machine.end_hooks()
        print(found[-1].line(), flush=True)
    problems = [each.audit for each in found if each.audit]
    print("\n".join(problems) or "`snell audit verify` found nothing wrong after any of them.")
    return int(any(each.lost or each.double or each.wrong or each.audit for each in found))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
