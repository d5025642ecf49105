"""T04: the daemon is killed at random instants, and nothing that was answered is lost."""

import contextlib
import os
import random
import signal
import threading
import time

from snell.records import decisions
from snell.runtime.database_journal import StoreJournal
from snell.store.sqlite import SqliteDatabase
from tests.faults.counts import Figure, times
from tests.process.machine import Machine
from tests.seeds import draw_seed

pytest_plugins = ("tests.process.machine_fixtures",)

AGENTS = 4


@times("kills", 5, 100)
def test_no_answered_event_is_lost_when_the_daemon_is_killed(machine: Machine, kills: int, figure: Figure) -> None:
    seed = draw_seed()
    chosen, began = random.Random(seed), time.monotonic()
    answered: set[str] = set()
    for number in range(kills):
        machine.hook()
        agents = [Agent(machine, f"{number}-{agent}") for agent in range(AGENTS)]
        pid = machine.pid
        for agent in agents:
            agent.start()
        agents[0].join(chosen.uniform(0.01, 0.25))
        os.kill(pid, signal.SIGKILL)
        for agent in agents:
            agent.join(20)
            answered |= agent.answered
    database = SqliteDatabase(machine.home / "state" / "snell.db")
    StoreJournal(database).take_in()  # as a reader of the journal does
    stored = {row.tool_use_id for row in database.run(lambda tx: decisions.rows_after(tx, 0, 10**6))}
    counted = {"kills": kills, "acknowledged": len(answered), "lost": len(answered - stored)}
    figure(test="T04", fault="kill -9 of the daemon", **counted, seed=seed, seconds=round(time.monotonic() - began, 1))
    assert (database.check(), database.problems, answered - stored) == ([], [], set())
    assert len(answered) > kills
    database.close()


class Agent(threading.Thread):
    """Sends one event after the other until no daemon answers."""

    def __init__(self, machine: Machine, name: str) -> None:
        super().__init__()
        self._machine = machine
        self._prefix = name
        self.answered: set[str] = set()

    def run(self) -> None:
        with contextlib.suppress(OSError):
            for number in range(100_000):
                name = f"{self._prefix}-{number}"
                if self._machine.send({"tool_use_id": name}) is None:
                    return
                self.answered.add(name)
