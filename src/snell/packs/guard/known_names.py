"""The patterns and lists in `known_names.toml`: what the guard knows by its name."""

import re
import tomllib
from functools import cache
from pathlib import Path

from snell.model.tool_names import name_set
from snell.system.lazy_regex import lazy_regex

TABLE = Path(__file__).with_name("known_names.toml")


def pattern(name: str) -> re.Pattern[str]:
    """Return a pattern, which is compiled on first use."""
    return lazy_regex("".join([line.strip() for line in _tables()["patterns"][name].splitlines()]))


def names(key: str) -> frozenset[str]:
    """Return a list of names."""
    return name_set(_tables()["names"][key])


def table(key: str) -> dict[str, str]:
    """Return a list of `name=value` as a dictionary, in its order."""
    return dict(pair.split("=", 1) for pair in _tables()["names"][key].split())


@cache
def _tables() -> dict[str, dict[str, str]]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))
