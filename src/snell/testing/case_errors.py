"""What is wrong with a case: the message, the key it is about, and what to do."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from snell.model.errors import SnellError
from snell.settings.value_tree import noun


class CaseError(SnellError):
    """A case that cannot be meant as it is written."""

    id = "case"

    def __init__(self, message: str, *, key: str = "", where: str = "", advice: str = "") -> None:
        super().__init__(message, where=where, advice=advice)
        self.key = key  # whoever knows the file finds its line


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "", cutoff: float = 0.6) -> str:
    """Advice for a word that is not known."""
    found = get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return f"did you mean `{found[0]}`?" if found else otherwise


def text_of(value: Any, key: str) -> str:
    if not isinstance(value, str):
        raise CaseError(f"`{key}` must be text, not {noun(value)}", key=key, advice="put it in quotes")
    return value


def table_of(value: Any, key: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise CaseError(f"`{key}` must be a table, not {noun(value)}", key=key, advice="write { name = value }")
    return value
