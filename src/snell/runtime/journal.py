"""
The journal: what happened, for people who ask afterwards.

Until decisions are kept in the store, the last ones are JSON files in the state directory, readable by their owner
only. A journal that cannot be written costs nobody an answer; it is remembered as a problem.
"""

import threading
from pathlib import Path
from typing import Any, Protocol

import msgspec

from snell.machine.files import read_capped, write_atomically
from snell.machine.json_output import json_bytes
from snell.machine.paths import make_private
from snell.model.errors import SnellError, StoreError

KEPT = 20
LARGEST = 4_000_000

Record = dict[str, Any]


class Journal(Protocol):
    def record(self, record: Record) -> None: ...

    def add_late(self, decision_id: str, run: Record) -> None: ...


class NoJournal:
    """For embedded houses and tests that look at decisions themselves."""

    def record(self, record: Record) -> None:
        """Forget it."""

    def add_late(self, decision_id: str, run: Record) -> None:
        """Forget it."""


class FileJournal:
    """The last decisions, one file each."""

    def __init__(self, state: Path) -> None:
        self.folder = state / "decisions"
        self.problem = ""
        self._lock = threading.RLock()  # late hooks finish in threads of their own

    def record(self, record: Record) -> None:
        try:
            make_private(self.folder)
            write_atomically(self.folder / f"{record['id']}.json", json_bytes(record), sync=False)
            for old in self._files()[KEPT:]:
                old.unlink(missing_ok=True)
        except (OSError, SnellError) as error:
            self.problem = f"the journal could not be written: {error}"

    def add_late(self, decision_id: str, run: Record) -> None:
        """Add what a hook did after the answer to the record of its decision."""
        if not decision_id:
            return
        with self._lock:
            try:
                record = self.find(decision_id)
            except StoreError:
                return  # too many decisions ago
            self.record({**record, "late": [*record.get("late", ()), run]})

    def find(self, wanted: str = "last") -> Record:
        """The record of a decision, by its id, the beginning of it, or `last`."""
        files = self._files()
        found = files[:1] if wanted == "last" else [file for file in files if file.stem.startswith(wanted)]
        if not found:
            what = "no decision has been made yet" if not files else f"there is no decision `{wanted}`"
            raise StoreError(what, where=str(self.folder), advice="make one with `snell fire PreToolUse --tool Bash`")
        try:
            record: Record = msgspec.json.decode(read_capped(found[0], LARGEST))
        except (OSError, SnellError, msgspec.DecodeError) as error:
            raise StoreError(f"the record cannot be read: {error}", where=str(found[0])) from None
        return record

    def _files(self) -> list[Path]:
        """Newest first; ids begin with the time."""
        return sorted(self.folder.glob("*.json"), reverse=True) if self.folder.is_dir() else []
