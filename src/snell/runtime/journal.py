"""The journal of decisions; `database_journal.py` keeps it in the database."""

from typing import Any, Protocol

from snell.model.decision import Decision

Record = dict[str, Any]


class Journal(Protocol):
    """`commit` is called before the reply and is fast; `record` adds the complete trace afterwards."""

    def commit(self, decision: Decision, key: str) -> None: ...

    def record(self, *records: Record) -> None: ...

    def add_late(self, decision_id: str, run: Record) -> None: ...

    def close(self) -> None: ...


class NoJournal:
    """Keeps nothing: for embedded runtimes and tests that look at decisions themselves."""

    def commit(self, decision: Decision, key: str) -> None:
        """Ignore it."""

    def record(self, *records: Record) -> None:
        """Ignore them."""

    def add_late(self, decision_id: str, run: Record) -> None:
        """Ignore it."""

    def close(self) -> None:
        """Do nothing."""
