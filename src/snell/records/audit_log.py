"""
Keep the audit log of a runtime: extend the chain in the background, and seal the rows of earlier versions.

The key and the anchors are files beside the database that only their owner can read. No client waits for any of this.
`snell.audit` verifies it.
"""

import time
from collections.abc import Callable
from pathlib import Path

from snell.model.errors import SnellError, StoreError
from snell.model.protocols import Database, Transaction
from snell.records import audit_chain, crash_points, orphaned_calls
from snell.records.audit_anchors import AnchorFile
from snell.records.audit_key import KEY_FILE, make_key, read_key
from snell.records.decisions import Row
from snell.records.old_rows import OldRows
from snell.records.retention import DAY_MS, TRACE_DAYS, expire_bodies, take_calls, take_decisions
from snell.system.files import LockedError
from snell.system.wall_clock import now_ms

AT_ONCE = 10  # records in a transaction, since other writers wait for it
MOST_ROUNDS = 500
LONGEST_ROUND = 2.0  # seconds in which a daemon catches up before it does other work
PAUSES = 3  # times as long as the transaction before, so that events get their turn
LOCK_SECONDS = 1.0  # how long an ending process waits for another one that extends the chain
CALLS_SHOWN = 10
BODIES_EVERY = 3_600.0


class AuditLog:
    """
    `problem` says why the chain cannot be extended; clients get their replies all the same. `is_behind`: there is more
    to do than was done in this round.
    """

    def __init__(self, database: Database, folder: Path) -> None:
        self.problem = ""
        self.is_behind = False
        self._old_rows = OldRows()
        self._database = database
        self._folder = folder
        self._anchors = AnchorFile(folder)
        self._key = b""
        self._bodies_at = 0.0

    def keep_up(self, *, at_once: bool = False, is_busy: Callable[[], bool] | None = None) -> None:
        """
        Chain new records; `at_once`: also if that means to wait for another process.

        A daemon gives `is_busy`: then it pauses after each transaction, and stops soon when there are events.
        """
        self.is_behind = False
        try:
            self._extend(LOCK_SECONDS if at_once else 0.0, is_busy)
        except LockedError:
            self.problem = ""  # another process extends the chain, with the records of this one too
        except (SnellError, OSError) as error:
            self.problem = f"the audit chain cannot be extended: {error}"
        else:
            self.problem = ""

    def missing_calls(self, deadline: float = 0.0) -> str:
        """
        Return a message about tool calls that were decided and are not in the ledger; empty if there are none.

        A daemon writes the call a moment after the decision; `deadline` is how many seconds to wait for recent ones.
        """
        until = time.monotonic() + deadline
        while True:
            missing = self._database.run(lambda tx: orphaned_calls.find_orphans(tx, now_ms()), only_reads=True)
            compared = self._database.run(orphaned_calls.last_compared, only_reads=True)
            if all(row.seq <= compared for row in missing) or time.monotonic() >= until:
                return _missing_calls_message(missing)
            time.sleep(0.1)

    def note_release(self, tx: Transaction, tool_call_id: str) -> None:
        """Chain that the user released the claim of a call, so that it is not reported as missing."""
        if key := self._known_key(make=False):
            audit_chain.note_expired(tx, key, "claim", [tool_call_id])

    def forget(self, tx: Transaction, now: int, days: int, sent: tuple[int, int] | None = None) -> bool:
        """Delete a few old records, up to those that were `sent`, chain that, and return whether there were any."""
        key, has_deleted = self._key, False
        if not key:
            return False  # nothing is chained yet, so there are no old records
        head = audit_chain.read_head(tx, key)
        seals = key if audit_chain.are_rows_sealed(tx) else b""
        chained, chained_calls = head.decision, head.revision
        if sent is not None:
            chained, chained_calls = min(chained, sent[0]), min(chained_calls, sent[1])
        for kind, taken in (
            ("decision", take_decisions(tx, now=now, days=days, up_to=chained, key=seals)),
            ("opened", take_calls(tx, now=now, days=days, up_to=chained_calls, key=seals)),
        ):
            if taken:
                audit_chain.note_expired(tx, key, kind, taken)
                has_deleted = True
        if time.monotonic() - self._bodies_at > BODIES_EVERY:
            if expire_bodies(tx, now=now):
                audit_chain.note_expired(tx, key, audit_chain.BODIES, [str(now - TRACE_DAYS * DAY_MS)])
                return True
            self._bodies_at = time.monotonic()
        return has_deleted

    def note_deleted(self, tx: Transaction, kind: str, before: int) -> None:
        """Chain that rows before a time were deleted because of the size limit."""
        if key := self._known_key(make=False):
            audit_chain.note_expired(tx, key, kind, [str(before)])

    def _extend(self, wait: float, is_busy: Callable[[], bool] | None) -> None:
        """Chain new records and write an anchor; one process at a time."""
        key = self._known_key(make=True)
        with self._anchors.hold_lock(wait):
            last = self._anchors.read(key).last
            self._anchors.begin(key, last)
            head = self._database.run(lambda tx: audit_chain.read_head(tx, key))
            is_new = not head.count

            def extend() -> bool:
                nonlocal head
                before, head = head, self._database.run(lambda tx: audit_chain.extend(tx, key, AT_ONCE))
                return head != before

            def seal() -> bool:
                return self._database.run(lambda tx: self._old_rows.step(tx, key, AT_ONCE))

            is_behind = self._repeat(extend, is_busy)
            # An ending process leaves the rows of earlier versions to the daemon: an earlier one may still be writing.
            if not is_behind and not self._old_rows.is_done and (is_busy or is_new):
                is_behind = self._repeat(seal, is_busy)
                head = self._database.run(lambda tx: audit_chain.read_head(tx, key))
            self.is_behind = is_behind
            crash_points.notify("before note")
            if head.count > last:
                self._anchors.add(key, head)
            self._anchors.end()

    def _repeat(self, step: Callable[[], bool], is_busy: Callable[[], bool] | None) -> bool:
        """Call `step` until there is no more to do; returns whether there is, when it had to stop."""
        until = time.monotonic() + LONGEST_ROUND
        for _ in range(MOST_ROUNDS):
            began_at = time.monotonic()
            if not step():
                return False
            if is_busy:
                ended_at = time.monotonic()
                if is_busy() or ended_at > until:
                    return True
                time.sleep(PAUSES * (ended_at - began_at))
        return True

    def _known_key(self, *, make: bool) -> bytes:
        if self._key and (self._folder / KEY_FILE).exists():
            return self._key
        self._key = read_key(self._folder)
        if make and not self._key:
            if self._database.run(audit_chain.has_links):
                problem = "the audit key is missing, so the chain cannot be extended"
                raise StoreError(problem, where=f"`{self._folder / KEY_FILE}`", advice="restore it from a backup")
            self._key = make_key(self._folder)
        return self._key


def _missing_calls_message(missing: list[Row]) -> str:
    if not missing:
        return ""
    which = [f"`{orphaned_calls.call_id(row)}` (`snell why {row.id}`)" for row in missing[:CALLS_SHOWN]]
    more = [f"and {len(missing) - CALLS_SHOWN} more"] if len(missing) > CALLS_SHOWN else []
    number = "1 tool call has" if len(missing) == 1 else f"{len(missing):,} tool calls have"
    return f"{number} a decision but no ledger row: {', '.join((*which, *more))}"
