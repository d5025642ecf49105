"""Errors in case files, with the key that is wrong and advice."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from snell.model.errors import SnellError
from snell.settings.value_tree import noun


class CaseError(SnellError):
    """A case is not valid."""

    id = "case"

    def __init__(self, message: str, *, key: str = "", where: str = "", advice: str = "") -> None:
        super().__init__(message, where=where, advice=advice)
        self.key = key  # from which the reader of the file finds the line


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "", cutoff: float = 0.6) -> str:
    """Return advice for an unknown word."""
    found = get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return f"did you mean `{found[0]}`?" if found else otherwise


def text_of(value: Any, key: str) -> str:
    """Return the value if it is text. Raises CaseError."""
    if not isinstance(value, str):
        raise CaseError(f"`{key}` must be text, not {noun(value)}", key=key, advice="put it in quotes")
    return value


def table_of(value: Any, key: str) -> dict[str, Any]:
    """Return the value if it is a table. Raises CaseError."""
    if not isinstance(value, dict):
        raise CaseError(f"`{key}` must be a table, not {noun(value)}", key=key, advice="write { name = value }")
    return value
