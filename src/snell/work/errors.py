"""Errors of requests to the work layer: a code for programs and a message for users."""

from collections.abc import Mapping
from typing import Any

from snell.model.errors import SnellError


class WorkError(SnellError):
    """A request that the work layer refuses."""

    id = "work"

    def __init__(self, code: str, message: str, *, advice: str = "", details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, advice=advice)
        self.code = code
        self.details = dict(details or {})


def not_found(what: str, which: object) -> WorkError:
    return WorkError("NOT_FOUND", f"there is no {what} `{which}`")


def invalid(*issues: str) -> WorkError:
    return WorkError(
        "VALIDATION_ERROR", f"the call is not valid: {'; '.join(issues)}", details={"issues": list(issues)}
    )
