"""What is wrong with what a user tells this pack."""

from collections.abc import Mapping
from typing import Any


def option_problems(options: Mapping[str, Any]) -> list[str]:
    return [
        f"`{name}`: `{str(each)[:80]}` is {type(each).__name__}, not text, so it is left out"
        for name in ("triggers", "rules")
        for each in options.get(name, ())
        if not isinstance(each, str)
    ]
