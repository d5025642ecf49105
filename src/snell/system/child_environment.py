"""The environment of a hook's process: all variables except those that would load other code into it."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_suffix(".toml")


def environment(parent: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """Return the parent's variables without the dropped ones, plus all of `extra`, which the caller vouches for."""
    kept = {name: value for name, value in parent.items() if not is_dropped(name)}
    return {**kept, **extra}


def is_dropped(name: str) -> bool:
    """Whether a variable of this name could load other code into the process that gets it."""
    names, prefixes = _names_and_prefixes()
    return name in names or name.startswith(prefixes)


@cache
def dropped_rows() -> list[dict[str, Any]]:
    """Return the rows of the table: names, of which some end with `*`, and the reason."""
    import tomllib  # few processes start another one

    return list(tomllib.loads(TABLE.read_text(encoding="utf-8"))["dropped"])


@cache
def _names_and_prefixes() -> tuple[frozenset[str], tuple[str, ...]]:
    names = [name for row in dropped_rows() for name in row["names"]]
    return frozenset(names), tuple(name[:-1] for name in names if name.endswith("*"))
