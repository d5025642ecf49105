"""
Completes the ledger: writes rows that heavy load, a locked database or a killed process kept from being written.

The rows of the decisions show which calls the ledger must have, so nothing is kept in memory for this. Calls are
compared with decisions only when some may be missing, starting at the last point where they were complete.
"""

import time
from contextlib import suppress

from snell.model.errors import StoreError
from snell.model.protocols import Database
from snell.records import decisions, orphaned_calls

# Seconds after which a call that is not known to be missing is taken as written. Other processes write calls, too.
CERTAIN_AFTER = 60.0


class LedgerRepair:
    """Compares decisions with the ledger, and writes the rows that are missing there."""

    def __init__(self, database: Database | None) -> None:
        self._database = database
        self._may_miss = True  # an earlier process may have been killed
        self._has_missed = False
        self._up_to = 0  # the last decision of the comparison in progress
        self._seen_at, self._seen = 0.0, 0  # the newest decision, and when it was read

    @property
    def is_behind(self) -> bool:
        """Return whether decisions and calls have still to be compared."""
        return self._database is not None and (self._may_miss or self._up_to > 0)

    def note_missing(self) -> None:
        """Note that a call was decided whose row could not be written."""
        self._may_miss = self._has_missed = True

    def catch_up(self) -> bool:
        """Write a few missing rows; returns whether there may be more. Raises `StoreError`."""
        if self._database is None or not (self._may_miss or self._up_to):
            return False
        if not self._up_to:
            self._up_to = self._database.run(decisions.newest_seq, only_reads=True)
            self._may_miss = False  # rows that are missed from now on come after that
        is_more = self._database.run(lambda tx: orphaned_calls.catch_up(tx, self._up_to))
        if not is_more:
            self._up_to, self._has_missed = 0, self._may_miss
        return is_more

    def catch_up_at_end(self) -> None:
        """Write all missing rows at the end of the process, if it missed one."""
        with suppress(StoreError):  # then the next process does it
            while self._has_missed and (self.catch_up() or self._may_miss):
                pass

    def store_progress(self) -> None:
        """Store up to which decision all rows are written, so that these need not be compared after a crash."""
        now = time.monotonic()
        if self._database is None or self._may_miss or self._up_to or now - self._seen_at < CERTAIN_AFTER:
            return
        newest, seen = self._database.run(decisions.newest_seq, only_reads=True), self._seen
        if seen:
            self._database.run(lambda tx: orphaned_calls.store_compared(tx, seen))
        self._seen_at, self._seen = now, newest if newest > seen else 0
