"""Errors of requests to the work layer: a code for programs and a message for users; and how hooks ignore them."""

from collections.abc import Callable, Mapping
from typing import Any

from snell.model.errors import SnellError, StoreError
from snell.model.protocols import Database, T, Transaction

ANSWERED = "work-answered"  # a flag of events from a remote call, which has called the work layer itself


class WorkError(SnellError):
    """A request that the work layer refuses."""

    id = "work"

    def __init__(self, code: str, message: str, *, advice: str = "", details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, advice=advice)
        self.code = code
        self.details = dict(details or {})


def not_found(what: str, which: object) -> WorkError:
    advice = f"`snell {what} list` shows all" if what in ("agent", "effort", "session", "task") else ""
    return WorkError("NOT_FOUND", f"there is no {what} `{which}`", advice=advice)


def invalid(*issues: str) -> WorkError:
    message = f"the call is not valid: {'; '.join(issues)}"
    return WorkError("VALIDATION_ERROR", message, details={"issues": list(issues)})


def run_or_none(database: Database | None, work: Callable[[Transaction], T], *, only_reads: bool = False) -> T | None:
    """Run this in a transaction; None without a store or when it cannot be used, so that the agent can go on."""
    try:
        return database.run(work, only_reads=only_reads) if database else None
    except (StoreError, WorkError):
        return None
