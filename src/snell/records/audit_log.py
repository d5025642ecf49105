"""
Keep the audit log of a runtime: extend the chain in the background, hold its key, and verify it.

The key and the anchors are files beside the database that only their owner can read. No client waits for any of this.
"""

import os
import time
from pathlib import Path

from msgspec.structs import replace

from snell.model.errors import SnellError, StoreError
from snell.model.protocols import Database, Transaction
from snell.records import audit_chain, audit_check, crash_points, orphaned_calls
from snell.records.audit_anchors import ANCHOR_FILE, AnchorFile
from snell.records.audit_check import Findings
from snell.records.decisions import Row
from snell.records.retention import DAY_MS, TRACE_DAYS, expire_bodies, take_calls, take_decisions
from snell.system.files import FileError, LockedError, file_lock, read_capped, write_atomically
from snell.system.paths import make_private
from snell.system.wall_clock import now_ms

KEY_FILE = "audit.key"
EVERY = 10.0  # seconds between two extensions of the chain
AT_ONCE = 20  # records in a transaction, since other writers wait for it
MOST_ROUNDS = 500
KEY_BYTES = 32
LARGEST_KEY = 1_000
LOCK_SECONDS = 1.0  # how long an ending process waits for another one that extends the chain
ROW_SECONDS = 5.0  # how long to wait for rows that a daemon writes after its reply
CALLS_SHOWN = 10
BODIES_EVERY = 3_600.0


class AuditLog:
    """`problem` says why the chain cannot be extended; clients get their replies all the same."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.problem = ""
        self._database = database
        self._folder = folder
        self._anchors = AnchorFile(folder)
        self._key = b""
        self._last = 0.0
        self._bodies_at = 0.0

    def keep_up(self, *, at_once: bool = False) -> None:
        """Chain new records, every ten seconds or now."""
        now = time.monotonic()
        if not at_once and now - self._last < EVERY:
            return
        self._last = now
        try:
            self._extend(LOCK_SECONDS if at_once else 0.0)
        except LockedError:
            self.problem = ""  # another process extends the chain, with the records of this one too
        except (SnellError, OSError) as error:
            self.problem = f"the audit chain cannot be extended: {error}"
        else:
            self.problem = ""

    def verify(self, deadline: float = 0.0) -> Findings:
        """
        Check the records against the chain, and the chain against its anchors. Raises SnellError if that fails.

        A process writes the anchor a moment after it has extended the chain; `deadline` is how many seconds to wait for
        an anchor that is behind.
        """
        unchained = self._wait_for_chain(0.0 if self._lost_chain() else deadline)
        # In this order: the key is written before the first link, and that before the first anchor.
        lost, has_links = self._lost_chain(), self._database.run(_has_links)
        key = self._known_key(make=False)
        if not key:
            if has_links:
                problem = f"the key `{self._folder / KEY_FILE}` is missing, so no link can be checked"
                return Findings(integrity=(problem,))
            return Findings(completeness=(*lost, *unchained))
        anchors = self._anchors.read(key)
        # The chain must match the anchors read before it, and must not be longer than the anchors read after it.
        check = self._database.run
        found = check(lambda tx: audit_check.verify(tx, key, anchors.anchors, now=now_ms()), only_reads=True)
        behind, interrupted = self._wait_for_anchors(key, found.links, deadline)
        missing = self.missing_calls(min(deadline, ROW_SECONDS))
        completeness = (*unchained, *behind, *([missing] if missing else ()), *found.completeness)
        integrity = (*anchors.problems, *found.integrity)
        return replace(found, integrity=integrity, completeness=completeness, interrupted=interrupted)

    def _wait_for_chain(self, deadline: float) -> tuple[str, ...]:
        """Report rows without a chain. The daemon begins the chain of a new database within seconds, so wait first."""
        until = time.monotonic() + deadline
        while rows := self._database.run(_rows_without_chain, only_reads=True):
            key = self._known_key(make=False)
            if key and self._anchors.unfinished_extension(key) >= 0:
                return ()  # a process is extending it, or was killed while it did
            if time.monotonic() >= until:
                return (f"{rows} decisions and tool calls have no audit chain: it was deleted or never written",)
            time.sleep(0.1)
        return ()

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

    def _wait_for_anchors(self, key: bytes, links: int, deadline: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return links without an anchor: as a finding, or as an interruption if a process was killed."""
        until = time.monotonic() + deadline
        while True:
            begun = self._anchors.unfinished_extension(key)  # read before the anchors: removed after the last one
            found = self._anchors.read(key)
            behind = audit_check.missing_anchors(links, found.anchors)
            if not behind or found.is_cut_short or 0 <= begun <= found.last:
                cut = (f"the last line of `{found.path}` is incomplete",) if found.is_cut_short else ()
                return (), (*cut, *(f"{each}: the next daemon adds the rest" for each in behind))
            if time.monotonic() >= until:
                return behind, ()
            time.sleep(0.1)

    def note_release(self, tx: Transaction, tool_call_id: str) -> None:
        """Chain that the user released the claim of a call, so that it is not reported as missing."""
        if key := self._known_key(make=False):
            audit_chain.note_expired(tx, key, "claim", [tool_call_id])

    def forget(self, tx: Transaction, now: int, days: int, up_to: int | None = None) -> None:
        """Delete old records, and chain that they were deleted."""
        key = self._key
        if not key:
            return  # nothing is chained yet, so there are no old records
        head = audit_chain.read_head(tx, key)
        chained = head.decision if up_to is None else min(head.decision, up_to)
        for kind, taken in (
            ("decision", take_decisions(tx, now=now, days=days, up_to=chained)),
            ("opened", take_calls(tx, now=now, days=days, up_to=head.revision)),
        ):
            if taken:
                audit_chain.note_expired(tx, key, kind, taken)
        if time.monotonic() - self._bodies_at > BODIES_EVERY:
            if expire_bodies(tx, now=now):
                audit_chain.note_expired(tx, key, audit_chain.BODIES, [str(now - TRACE_DAYS * DAY_MS)])
            else:
                self._bodies_at = time.monotonic()

    def _extend(self, wait: float) -> None:
        """Chain new records and write an anchor; one process at a time."""
        key = self._known_key(make=True)
        with self._anchors.hold_lock(wait):
            last = self._anchors.read(key).last
            self._anchors.begin(key, last)
            head = self._database.run(lambda tx: audit_chain.read_head(tx, key))
            for _ in range(MOST_ROUNDS):
                reached = self._database.run(lambda tx: audit_chain.extend(tx, key, most=AT_ONCE))
                if reached == head:
                    break
                head = reached
            crash_points.notify("before note")
            if head.count > last:
                self._anchors.add(key, head)
            self._anchors.end()

    def _known_key(self, *, make: bool) -> bytes:
        path = self._folder / KEY_FILE
        if self._key and path.exists():
            return self._key
        self._key = _read_key(path)
        if make and not self._key:
            self._key = self._make_key(path)
        return self._key

    def _make_key(self, path: Path) -> bytes:
        if self._database.run(_has_links):
            problem = "the audit key is missing, so the chain cannot be extended"
            raise StoreError(problem, where=f"`{path}`", advice="restore it from a backup")
        make_private(self._folder)
        with file_lock(path.with_name(f"{path.name}.lock")):
            if not _read_key(path):  # else another process has written it
                write_atomically(path, os.urandom(KEY_BYTES).hex().encode())
            return _read_key(path)

    def _lost_chain(self) -> tuple[str, ...]:
        return ("the chain and its key are missing",) if (self._folder / ANCHOR_FILE).exists() else ()


def _read_key(path: Path) -> bytes:
    """Return the key; empty if there is none. INVARIANT: an incomplete key counts as none and is never used."""
    try:
        key = bytes.fromhex(read_capped(path, LARGEST_KEY, follow_links=False).decode().strip())
    except FileNotFoundError:
        return b""
    except (OSError, ValueError, FileError) as error:
        raise StoreError(f"the audit key cannot be read: {error}", where=f"`{path}`") from None
    return key if len(key) >= KEY_BYTES else b""


def _missing_calls_message(missing: list[Row]) -> str:
    if not missing:
        return ""
    which = [f"`{orphaned_calls.call_id(row)}` (`snell why {row.id}`)" for row in missing[:CALLS_SHOWN]]
    more = [f"and {len(missing) - CALLS_SHOWN} more"] if len(missing) > CALLS_SHOWN else []
    number = "1 tool call has" if len(missing) == 1 else f"{len(missing):,} tool calls have"
    return f"{number} a decision but no ledger row: {', '.join((*which, *more))}"


def _rows_without_chain(tx: Transaction) -> int:
    """Return the number of records, if none of them was ever chained."""
    if _has_links(tx):
        return 0
    return sum(int(tx.rows(f"SELECT COUNT(*) FROM {table}")[0][0]) for table in ("decisions", "tool_calls"))


def _has_links(tx: Transaction) -> bool:
    return bool(tx.rows("SELECT 1 FROM audit_chain LIMIT 1"))
