"""Patterns that are compiled when they are first used: hundreds of them at import would be a third of a cold start."""

import re
from typing import Any, cast

_METHODS = ("match", "search", "fullmatch", "finditer", "findall", "sub", "subn", "split", "pattern", "flags", "groups")


def lazy_regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` would give, at the price of remembering a text."""
    return cast("re.Pattern[str]", _Late(pattern, flags))


class _Late:
    def __init__(self, pattern: str, flags: int) -> None:
        self._given = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        """Asked for nothing that is there yet, so this happens once; from then on the pattern's own methods are."""
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(*self._given)
        self.__dict__.update({each: getattr(compiled, each) for each in _METHODS})
        return self.__dict__[name]
