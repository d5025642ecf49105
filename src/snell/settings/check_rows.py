"""Read the rows of `snell check`, and the options of the pack that it tests."""

import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from snell.model.errors import SnellError
from snell.settings.load import load
from snell.settings.packs import options_in
from snell.system.paths import places

Row = dict[str, Any]


def text_in(row: Mapping[str, Any], field: str, default: str | None = None) -> str:
    """Return a text field of a row. Raises SnellError when it is missing or not text."""
    value = row.get(field)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        what = "missing" if value is None else f"{type(value).__name__}, not text"
        raise SnellError(f"`{field}` is {what}")
    return value


@cache
def options_of_pack(name: str) -> Mapping[str, Any]:
    """Return a pack's options for the current folder; problems with them are printed once."""
    loaded = load(places(os.environ), Path.cwd(), os.environ)
    problems: list[str] = []
    options = options_in(name, loaded.value("pack") or {}, problems)
    for each in problems:
        sys.stderr.write(f"{each}\n")
    return options
