"""
A database for work that takes long and that nobody waits for.

Whoever writes without a pause keeps everybody else from writing: SQLite has no queue, and one that waits looks again
only now and then. So others get as long a turn after each transaction as it took itself.
"""

import time
from collections.abc import Callable
from typing import Any

from snell.model.protocols import Database, T, Transaction

LEAST = 0.002  # seconds


class BackgroundDatabase:
    def __init__(self, database: Database) -> None:
        self._database = database
        self.close = database.close

    def run(self, work: Callable[[Transaction], T], *, only_reads: bool = False) -> T:
        if only_reads:
            return self._database.run(work, only_reads=True)
        begun = 0.0

        def timed(tx: Transaction) -> T:
            nonlocal begun  # the time until it was our turn does not count
            begun = time.monotonic()
            return work(tx)

        try:
            return self._database.run(timed)
        finally:
            if begun:
                time.sleep(max(LEAST, time.monotonic() - begun))

    def do(self, sql: str, *values: Any) -> int:
        return self.run(lambda tx: tx.do(sql, *values))
