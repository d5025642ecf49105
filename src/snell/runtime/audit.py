"""
Keeps the audit chain: when it is made longer, with which key, and what is noted of it beside the database.

The key and the notes are files that only their owner can read. Nobody waits for any of this: records are chained in
the background, in their order.
"""

import contextlib
import hmac
import os
import time
from itertools import pairwise
from pathlib import Path

from msgspec.structs import replace

from snell.machine.files import FileError, locked, read_capped, write_atomically
from snell.machine.paths import make_private
from snell.model.errors import SnellError, StoreError
from snell.model.ports import Database, Transaction
from snell.work import audit_chain, audit_check, left_behind
from snell.work.audit_chain import Head
from snell.work.audit_check import Anchor, Findings
from snell.work.decisions import Row
from snell.work.retention import DAY_MS, TRACE_DAYS, expire_bodies, take_calls, take_decisions

KEY_FILE, ANCHOR_FILE = "audit.key", "audit.anchor"
EVERY = 10.0  # seconds between two notes
AT_ONCE = 20  # records in a transaction, since others wait for it
MOST_ROUNDS = 500
KEY_BYTES = 32
LARGEST_KEY, LARGEST_ANCHOR = 1_000, 8_000_000
KEPT_ANCHORS = 5_000
CALL_PATIENCE = 5.0  # seconds
CALLS_SHOWN = 10
BODIES_EVERY = 3_600.0


class Auditor:
    """`problem` says why the chain cannot go on; that costs nobody an answer."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.problem = ""
        self._database = database
        self._folder = folder
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
            self._extend()
        except (SnellError, OSError) as error:
            self.problem = f"the audit chain could not go on: {error}"
        else:
            self.problem = ""

    def verify(self, patience: float = 0.0) -> Findings:
        """
        Look whether everything is as it was. Raises SnellError when that cannot be told.

        Whoever makes the chain longer notes it a moment later; a note that is behind is waited for, so many seconds.
        """
        # In this order: the key is made before the first link, and that before the first note.
        lost, has_links = self._lost(), self._database.run(_has_links)
        key = self._known_key(make=False)
        if not key:
            if has_links:
                return Findings(integrity=(f"the key `{self._folder / KEY_FILE}` is gone, so no link can be checked",))
            return Findings(completeness=lost)
        anchors, problems = self._anchors(key)
        # Notes that were there before the chain was read must fit it; it must not go on beyond those there are after.
        now = time.time_ns() // 1_000_000
        found = self._database.run(lambda tx: audit_check.verify(tx, key, anchors, now=now), only_reads=True)
        behind = self._not_noted(key, found.links, patience)
        missing = self.missing_calls(min(patience, CALL_PATIENCE))
        completeness = (*behind, *([missing] if missing else ()), *found.completeness)
        return replace(found, integrity=(*problems, *found.integrity), completeness=completeness)

    def missing_calls(self, patience: float = 0.0) -> str:
        """
        Which tool calls were decided and are not in the ledger; empty when all of them are.

        A daemon writes the call a moment after the decision, so a recent one is waited for, so many seconds.
        """
        until = time.monotonic() + patience
        while True:
            missing, compared = self._database.run(_missing_calls, only_reads=True)
            if all(row.seq <= compared for row in missing) or time.monotonic() >= until:
                return _in_words(missing)
            time.sleep(0.1)

    def _not_noted(self, key: bytes, links: int, patience: float) -> tuple[str, ...]:
        until = time.monotonic() + patience
        while (behind := audit_check.not_noted(links, self._anchors(key)[0])) and time.monotonic() < until:
            time.sleep(0.1)
        return behind

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

    def _extend(self) -> None:
        key = self._known_key(make=True)
        before = self._database.run(lambda tx: audit_chain.read_head(tx, key))
        head, noted = before, self._last_noted(key)
        for _ in range(MOST_ROUNDS):
            reached = self._database.run(lambda tx: _extended(tx, key))
            if reached == head:
                break
            head = reached
        if head.count > noted:
            self._note(key, head)

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
        with locked(path.with_name(f"{path.name}.lock")):
            if not _read_key(path):  # else another process was faster
                write_atomically(path, os.urandom(KEY_BYTES).hex().encode())
            return _read_key(path)

    def _note(self, key: bytes, head: Head) -> None:
        """One line at the end of the file: how many links there are, the last of them, when, and our mark on it."""
        text = f"{head.count} {head.link} {time.time_ns() // 1_000_000}"
        path = self._folder / ANCHOR_FILE
        _drop_half_a_line(path)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
        try:
            os.write(descriptor, f"{text} {_mark(key, text)}\n".encode())
        finally:
            os.close(descriptor)
        if path.stat().st_size > LARGEST_ANCHOR // 4:
            lines = path.read_bytes().splitlines(keepends=True)
            write_atomically(path, b"".join(lines[-KEPT_ANCHORS:]))

    def _anchors(self, key: bytes) -> tuple[list[Anchor], list[str]]:
        """What was noted, and what is wrong with the notes. A last line without an end was being written."""
        try:
            data = read_capped(self._folder / ANCHOR_FILE, LARGEST_ANCHOR, follow_links=False)
        except FileNotFoundError:
            return [], []
        except (OSError, FileError) as error:
            return [], [f"the notes beside the database cannot be read: {error}"]
        found, problems = [], []
        for number, line in enumerate(data.decode("utf-8", "replace").split("\n")[:-1], 1):
            text, _, mark = line.rpartition(" ")
            if not hmac.compare_digest(mark.encode(), _mark(key, text).encode()):
                problems.append(f"line {number} of `{self._folder / ANCHOR_FILE}` was changed")
                continue
            count, link, _ = text.split(" ")
            found.append(Anchor(int(count), link))
        if any(later.count < earlier.count for earlier, later in pairwise(found)):
            problems.append(f"the lines of `{self._folder / ANCHOR_FILE}` are not in their order")
        return sorted(found, key=lambda each: each.count), problems

    def _last_noted(self, key: bytes) -> int:
        anchors, _ = self._anchors(key)
        return anchors[-1].count if anchors else 0

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
    return left_behind.missing(tx, time.time_ns() // 1_000_000), left_behind.compared(tx)


def _in_words(missing: list[Row]) -> str:
    if not missing:
        return ""
    which = [f"`{left_behind.call_id(row)}` (`snell why {row.id}`)" for row in missing[:CALLS_SHOWN]]
    more = [f"and {len(missing) - CALLS_SHOWN} more"] if len(missing) > CALLS_SHOWN else []
    number = "1 tool call has" if len(missing) == 1 else f"{len(missing):,} tool calls have"
    return f"{number} a decision but no ledger row: {', '.join((*which, *more))}"


def _has_links(tx: Transaction) -> bool:
    return bool(tx.rows("SELECT 1 FROM audit_chain LIMIT 1"))


def _drop_half_a_line(path: Path) -> None:
    """A line without an end was being written when the machine stopped."""
    with contextlib.suppress(FileNotFoundError):
        data = read_capped(path, LARGEST_ANCHOR, follow_links=False)
        if not data.endswith(b"\n"):
            write_atomically(path, data[: data.rfind(b"\n") + 1])


def _mark(key: bytes, text: str) -> str:
    return hmac.digest(key, b"anchor " + text.encode(), "sha256").hex()
