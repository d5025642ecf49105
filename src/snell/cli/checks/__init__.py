"""What `snell check` can ask: one component a file."""

from collections.abc import Mapping
from typing import Any

from snell.model.errors import SnellError


def text_in(row: Mapping[str, Any], field: str, default: str | None = None) -> str:
    """A field of a row that must be text. Raises SnellError when it is missing or something else."""
    value = row.get(field)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        what = "missing" if value is None else f"{type(value).__name__}, not text"
        raise SnellError(f"`{field}` is {what}")
    return value
