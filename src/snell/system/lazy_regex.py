"""Regular expressions compiled on first use: compiling hundreds at import would take a third of a cold start."""

import re
from typing import Any, AnyStr, cast

_METHODS = ("match", "search", "fullmatch", "finditer", "findall", "sub", "subn", "split", "pattern", "flags", "groups")


def lazy_regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that behaves like that of `re.compile` and is compiled on first use."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))


class _LazyPattern:
    def __init__(self, pattern: Any, flags: int) -> None:
        self._arguments = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        """Compile the pattern, or take it from its cache, and keep this method of it."""
        if name not in _METHODS:
            raise AttributeError(name)
        found = self.__dict__[name] = getattr(re.compile(*self._arguments), name)
        return found
