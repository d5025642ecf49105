"""
Keeps the audit chain: when it is made longer, with which key, and what is noted of it beside the database.

The key and the notes are files that only their owner can read. Nobody waits for any of this: records are chained in
the background, in their order.
"""

import os
import time
from pathlib import Path

from msgspec.structs import replace

from snell.model.errors import SnellError, StoreError
from snell.model.protocols import Database, Transaction
from snell.records import audit_chain, audit_check, crash_points, orphaned_calls
from snell.records.audit_chain import Head
from snell.records.audit_check import Findings
from snell.records.audit_notes import ANCHOR_FILE, AuditNotes, Noted
from snell.records.decisions import Row
from snell.records.retention import DAY_MS, TRACE_DAYS, expire_bodies, take_calls, take_decisions
from snell.system.files import FileError, LockedError, file_lock, read_capped, write_atomically
from snell.system.paths import make_private

KEY_FILE = "audit.key"
EVERY = 10.0  # seconds between two notes
AT_ONCE = 20  # records in a transaction, since others wait for it
MOST_ROUNDS = 500
KEY_BYTES = 32
LARGEST_KEY = 1_000
LOCK_PATIENCE = 1.0  # seconds that a process which ends waits for another one that makes the chain longer
ROW_PATIENCE = 5.0  # seconds for what a daemon writes a moment after its answer
CALLS_SHOWN = 10
BODIES_EVERY = 3_600.0


class AuditLog:
    """`problem` says why the chain cannot go on; that costs nobody an answer."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.problem = ""
        self._database = database
        self._folder = folder
        self._notes = AuditNotes(folder)
        self._key = b""
        self._last = 0.0
        self._bodies_at = 0.0

    def keep_up(self, *, at_once: bool = False) -> None:
        """Chain what has come since, every ten seconds or now."""
        now = time.monotonic()
        if not at_once and now - self._last < EVERY:
            return
        self._last = now
        try:
            self._extend(LOCK_PATIENCE if at_once else 0.0)
        except LockedError:
            self.problem = ""  # another process makes the chain longer, by our records too
        except (SnellError, OSError) as error:
            self.problem = f"the audit chain could not go on: {error}"
        else:
            self.problem = ""

    def verify(self, deadline: float = 0.0) -> Findings:
        """
        Look whether everything is as it was. Raises SnellError when that cannot be told.

        Whoever makes the chain longer notes it a moment later; a note that is behind is waited for, so many seconds.
        """
        unchained = self._unchained(0.0 if self._lost() else deadline)
        # In this order: the key is made before the first link, and that before the first note.
        lost, has_links = self._lost(), self._database.run(_has_links)
        key = self._known_key(make=False)
        if not key:
            if has_links:
                return Findings(integrity=(f"the key `{self._folder / KEY_FILE}` is gone, so no link can be checked",))
            return Findings(completeness=(*lost, *unchained))
        noted = self._notes.read(key)
        # Notes that were there before the chain was read must fit it; it must not go on beyond those there are after.
        now = time.time_ns() // 1_000_000
        found = self._database.run(lambda tx: audit_check.verify(tx, key, noted.anchors, now=now), only_reads=True)
        behind, interrupted = self._not_noted(key, found.links, deadline)
        missing = self.missing_calls(min(deadline, ROW_PATIENCE))
        completeness = (*unchained, *behind, *([missing] if missing else ()), *found.completeness)
        integrity = (*noted.problems, *found.integrity)
        return replace(found, integrity=integrity, completeness=completeness, interrupted=interrupted)

    def _unchained(self, deadline: float) -> tuple[str, ...]:
        """Rows without any chain. The daemon makes one for a new database within seconds, so that is waited for."""
        until = time.monotonic() + deadline
        while rows := self._database.run(_rows_without_chain, only_reads=True):
            key = self._known_key(make=False)
            if key and self._notes.begun(key) >= 0:
                return ()  # it is being made, or was, by a process that was killed
            if time.monotonic() >= until:
                return (f"{rows} decisions and tool calls have no audit chain: it was deleted, or never made",)
            time.sleep(0.1)
        return ()

    def missing_calls(self, deadline: float = 0.0) -> str:
        """
        Which tool calls were decided and are not in the ledger; empty when all of them are.

        A daemon writes the call a moment after the decision, so a recent one is waited for, so many seconds.
        """
        until = time.monotonic() + deadline
        while True:
            missing, compared = self._database.run(_missing_calls, only_reads=True)
            if all(row.seq <= compared for row in missing) or time.monotonic() >= until:
                return _in_words(missing)
            time.sleep(0.1)

    def _not_noted(self, key: bytes, links: int, deadline: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What is missing from the notes, and what a process that was killed left to be noted."""
        until = time.monotonic() + deadline
        while True:
            begun = self._notes.begun(key)  # before the notes are read: it is taken away after the last of them
            noted = self._notes.read(key)
            behind = audit_check.not_noted(links, noted.anchors)
            if not behind or noted.is_cut_short or 0 <= begun <= noted.last:
                return (), (*_interrupted(noted), *(f"{each}: the next daemon notes the rest" for each in behind))
            if time.monotonic() >= until:
                return behind, ()
            time.sleep(0.1)

    def note_release(self, tx: Transaction, tool_call_id: str) -> None:
        """A person lets go of a call's claim; chain that, so that it is not missed."""
        if key := self._known_key(make=False):
            audit_chain.note_expired(tx, key, "claim", [tool_call_id])

    def forget(self, tx: Transaction, now: int, days: int, up_to: int | None = None) -> None:
        """Let old records go, and chain that they went."""
        key = self._key
        if not key:
            return  # nothing is chained yet, so nothing is old
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
        """One process at a time, from the last note to the next one."""
        key = self._known_key(make=True)
        with self._notes.hold_lock(wait):
            noted = self._notes.read(key).last
            self._notes.begin(key, noted)
            head = self._database.run(lambda tx: audit_chain.read_head(tx, key))
            for _ in range(MOST_ROUNDS):
                reached = self._database.run(lambda tx: _extended(tx, key))
                if reached == head:
                    break
                head = reached
            crash_points.reach("before note")
            if head.count > noted:
                self._notes.add(key, head)
            self._notes.end()

    def _known_key(self, *, make: bool) -> bytes:
        path = self._folder / KEY_FILE
        if self._key and path.exists():
            return self._key
        self._key = _read_key(path)
        if make and not self._key:
            self._key = self._made_key(path)
        return self._key

    def _made_key(self, path: Path) -> bytes:
        if self._database.run(_has_links):
            raise StoreError(
                "the audit key is gone, so the chain cannot go on", where=f"`{path}`", advice="put it back"
            )
        make_private(self._folder)
        with file_lock(path.with_name(f"{path.name}.lock")):
            if not _read_key(path):  # else another process was faster
                write_atomically(path, os.urandom(KEY_BYTES).hex().encode())
            return _read_key(path)

    def _lost(self) -> tuple[str, ...]:
        noted = self._folder / ANCHOR_FILE
        return ("the chain and its key are gone",) if noted.exists() else ()


def _read_key(path: Path) -> bytes:
    """Empty where there is none. INVARIANT: one that was not written to its end is none; nothing is chained with it."""
    try:
        key = bytes.fromhex(read_capped(path, LARGEST_KEY, follow_links=False).decode().strip())
    except FileNotFoundError:
        return b""
    except (OSError, ValueError, FileError) as error:
        raise StoreError(f"the audit key cannot be read: {error}", where=f"`{path}`") from None
    return key if len(key) >= KEY_BYTES else b""


def _extended(tx: Transaction, key: bytes) -> Head:
    before = audit_chain.read_head(tx, key)
    return audit_chain.extend(tx, key, before, AT_ONCE)


def _missing_calls(tx: Transaction) -> tuple[list[Row], int]:
    return orphaned_calls.missing(tx, time.time_ns() // 1_000_000), orphaned_calls.last_compared(tx)


def _in_words(missing: list[Row]) -> str:
    if not missing:
        return ""
    which = [f"`{orphaned_calls.call_id(row)}` (`snell why {row.id}`)" for row in missing[:CALLS_SHOWN]]
    more = [f"and {len(missing) - CALLS_SHOWN} more"] if len(missing) > CALLS_SHOWN else []
    number = "1 tool call has" if len(missing) == 1 else f"{len(missing):,} tool calls have"
    return f"{number} a decision but no ledger row: {', '.join((*which, *more))}"


def _interrupted(noted: Noted) -> tuple[str, ...]:
    return (f"the last line of `{noted.path}` was not written to its end",) if noted.is_cut_short else ()


def _rows_without_chain(tx: Transaction) -> int:
    """How many records there are, if none of them was ever chained."""
    if _has_links(tx):
        return 0
    return sum(int(tx.rows(f"SELECT COUNT(*) FROM {table}")[0][0]) for table in ("decisions", "tool_calls"))


def _has_links(tx: Transaction) -> bool:
    return bool(tx.rows("SELECT 1 FROM audit_chain LIMIT 1"))
