"""Verify the audit of a database: its records, its chain, and the anchors beside it."""

import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from snell.audit import compare
from snell.audit.findings import Findings
from snell.audit.progress import Progress, no_progress
from snell.audit.schema import schema_problems
from snell.audit.verified_point import NOTHING, VerifiedPoint, point_at, read_point, write_point
from snell.model.protocols import Database, Transaction
from snell.records import audit_chain
from snell.records.audit_anchors import ANCHOR_FILE, AnchorFile
from snell.records.audit_key import KEY_FILE, read_key
from snell.records.audit_log import AuditLog
from snell.system.wall_clock import now_ms

ROW_SECONDS = 5.0  # how long to wait for rows that a daemon writes after its reply


class Verification:
    """
    A process writes the anchor a moment after it has extended the chain; `deadline` is how many seconds to wait for an
    anchor that is behind.
    """

    def __init__(self, database: Database, folder: Path, deadline: float = 0.0) -> None:
        self._database, self._folder, self._deadline = database, folder, deadline
        self._anchors = AnchorFile(folder)

    def run(self, *, everything: bool = False, progress: Callable[[int], Progress] = lambda _: no_progress) -> Findings:
        """Verify what came since the last verified point, or everything. Raises SnellError if that fails."""
        if damage := self._database.run(schema_problems, only_reads=True):
            return Findings(integrity=damage)
        try:
            return self._verify(everything, progress)
        except UnicodeDecodeError:
            return Findings(integrity=("a text in the database is not UTF-8: another program wrote it",))

    def _verify(self, everything: bool, progress: Callable[[int], Progress]) -> Findings:
        unchained = self._wait_for_chain(0.0 if self._lost_chain() else self._deadline)
        # In this order: the key is written before the first link, and that before the first anchor.
        lost, has_links = self._lost_chain(), self._database.run(audit_chain.has_links, only_reads=True)
        key = read_key(self._folder)
        if not key:
            if has_links:
                problem = f"the key `{self._folder / KEY_FILE}` is missing, so no link can be checked"
                return Findings(integrity=(problem,))
            return Findings(completeness=(*lost, *unchained))
        anchors = self._anchors.read(key)
        now = now_ms()
        point = NOTHING if everything else read_point(self._folder, key, now)
        # The chain must match the anchors read before it, and must not be longer than the anchors read after it.
        step = progress(self._database.run(lambda tx: compare.count_rows(tx, point), only_reads=True))

        def check(tx: Transaction) -> tuple[Findings, VerifiedPoint]:
            found = compare.verify(tx, key, anchors.anchors, now=now, point=point, step=step)
            return found, point_at(tx, audit_chain.read_head(tx, key), point, now)

        found, reached = self._database.run(check, only_reads=True)
        step(0)
        behind, interrupted = self._wait_for_anchors(key, found.links)
        missing = AuditLog(self._database, self._folder).missing_calls(min(self._deadline, ROW_SECONDS))
        completeness = (*unchained, *behind, *([missing] if missing else ()), *found.completeness)
        integrity = (*anchors.problems, *found.integrity)
        found = replace(found, integrity=integrity, completeness=completeness, interrupted=interrupted)
        if found.is_good and not interrupted and not found.unsealed:
            write_point(self._folder, key, reached)
        return found

    def _wait_for_chain(self, deadline: float) -> tuple[str, ...]:
        """Report rows without a chain. The daemon begins the chain of a new database within seconds, so wait first."""
        until = time.monotonic() + deadline
        while rows := self._database.run(_rows_without_chain, only_reads=True):
            key = read_key(self._folder)
            if key and self._anchors.unfinished_extension(key) >= 0:
                return ()  # a process is extending it, or was killed while it did
            if time.monotonic() >= until:
                return (f"{rows} decisions and tool calls have no audit chain: it was deleted or never written",)
            time.sleep(0.1)
        return ()

    def _wait_for_anchors(self, key: bytes, links: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return links without an anchor: as a finding, or as an interruption if a process was killed."""
        until = time.monotonic() + self._deadline
        while True:
            begun = self._anchors.unfinished_extension(key)  # read before the anchors: removed after the last one
            found = self._anchors.read(key)
            behind = compare.missing_anchors(links, found.anchors)
            if not behind or found.is_cut_short or 0 <= begun <= found.last:
                cut = (f"the last line of `{found.path}` is incomplete",) if found.is_cut_short else ()
                return (), (*cut, *(f"{each}: the next daemon adds the rest" for each in behind))
            if time.monotonic() >= until:
                return behind, ()
            time.sleep(0.1)

    def _lost_chain(self) -> tuple[str, ...]:
        return ("the chain and its key are missing",) if (self._folder / ANCHOR_FILE).exists() else ()


def _rows_without_chain(tx: Transaction) -> int:
    """Return the number of records, if none of them was ever chained."""
    if audit_chain.has_links(tx):
        return 0
    return sum(int(tx.rows(f"SELECT COUNT(*) FROM {table}")[0][0]) for table in ("decisions", "tool_calls"))
