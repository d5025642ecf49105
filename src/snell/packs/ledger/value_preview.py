"""The beginning of a value, however large it is: somebody may be waiting, and only a few characters will be shown."""

from itertools import islice
from typing import Any

ENOUGH = 20_000  # characters: a secret that begins in what is shown ends well within these
SHORT = 300  # of each further text, since a short one may say what the others are: the path of a secret file, say
MOST = 2_000  # entries of a list or a table


def preview(value: Any) -> Any:
    """The same shape with less in it. Nothing that stays is changed, so that secrets are still recognised."""
    return _cut(value, [ENOUGH])


def _cut(value: Any, left: list[int]) -> Any:
    if isinstance(value, str):
        text = value[: max(SHORT, left[0])]
        left[0] -= len(text)
        return text
    if isinstance(value, dict):
        return {key: _cut(each, left) for key, each in _first(value, left)}
    if isinstance(value, list | tuple):
        return [_cut(each, left) for each in islice(value, MOST if left[0] > 0 else 0)]
    return value


def _first(value: dict[Any, Any], left: list[int]) -> list[tuple[Any, Any]]:
    """INVARIANT: what names the file that the rest came from is never left out."""
    if len(value) <= MOST:
        return list(value.items())
    names = [(key, value[key]) for key in ("file_path", "filePath") if key in value]
    return [*names, *islice(value.items(), MOST)]
