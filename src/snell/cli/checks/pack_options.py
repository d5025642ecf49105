"""What a person's settings, and those of a project that they trust, say about a pack in this folder."""

import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from snell.settings.builtin_packs import options_in
from snell.settings.load import load
from snell.system.paths import places


@cache
def options_here(name: str) -> Mapping[str, Any]:
    """The options that count here; what is wrong with them is said once."""
    loaded = load(places(os.environ), Path.cwd(), os.environ)
    problems: list[str] = []
    options = options_in(name, loaded.value("pack") or {}, problems)
    for each in problems:
        print(each, file=sys.stderr)
    return options
