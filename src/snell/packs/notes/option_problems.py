"""Check the options of this pack."""

from collections.abc import Mapping
from typing import Any


def option_problems(options: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the options, one sentence each."""
    return [
        f"`{name}`: `{str(each)[:80]}` is {type(each).__name__}, not text, so it is ignored"
        for name in ("triggers", "rules")
        for each in options.get(name, ())
        if not isinstance(each, str)
    ]
