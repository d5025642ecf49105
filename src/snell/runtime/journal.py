"""The journal: what happened, for people who ask afterwards. `store_journal.py` keeps it in the database."""

from typing import Any, Protocol

from snell.model.decision import Decision

Record = dict[str, Any]


class Journal(Protocol):
    """`commit` comes before the answer and is brief; `record` has the whole story, afterwards."""

    def commit(self, decision: Decision, key: str) -> None: ...

    def record(self, *records: Record) -> None: ...

    def add_late(self, decision_id: str, run: Record) -> None: ...

    def close(self) -> None: ...


class NoJournal:
    """For embedded houses and tests that look at decisions themselves."""

    def commit(self, decision: Decision, key: str) -> None:
        """Forget it."""

    def record(self, *records: Record) -> None:
        """Forget them."""

    def add_late(self, decision_id: str, run: Record) -> None:
        """Forget it."""

    def close(self) -> None:
        """Nothing was kept."""
