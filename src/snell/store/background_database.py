"""
A database for long background work: it pauses after each transaction so that other writers get their turn.

SQLite has no queue of writers; a waiting one only retries now and then, so a program that writes without pauses would
keep all others from writing. The pause is as long as the transaction was.
"""

import time
from collections.abc import Callable

from snell.model.protocols import Database, T, Transaction

SHORTEST_PAUSE = 0.002  # seconds


class BackgroundDatabase(Database):
    def __init__(self, database: Database) -> None:
        self._database = database

    def run(self, work: Callable[[Transaction], T], *, only_reads: bool = False) -> T:
        if only_reads:
            return self._database.run(work, only_reads=True)
        began_at = 0.0

        def work_with_start_time(tx: Transaction) -> T:
            nonlocal began_at  # without the time that it waited for other writers
            began_at = time.monotonic()
            return work(tx)

        try:
            return self._database.run(work_with_start_time)
        finally:
            if began_at:
                time.sleep(max(SHORTEST_PAUSE, time.monotonic() - began_at))

    def close(self) -> None:
        self._database.close()
