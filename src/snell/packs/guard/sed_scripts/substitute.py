"""Follow `s/old/new/` commands, line by line, as `sed` does."""

import re
import time
from functools import partial

from snell.packs.guard.known_values import UNKNOWN
from snell.system.lazy_regex import lazy_regex

_CHANGE = lazy_regex(r"\s*s([^\w\s\\])((?:\\.|(?!\1)[^\\\n])*)\1((?:\\.|(?!\1)[^\\\n])*)\1(g?)\s*(?:;|\n|$)")
_UNSURE = lazy_regex(
    r"\\[^\W\dnwWsS]|\\['`<>]|(?:^|\^|\()\*|.\^|\$."
)  # what other readers of patterns read in another way
_BASIC = lazy_regex(r"\\([(){}|+?])|(\\.|\[\^?\]?(?:\[:\w+:\]|[^\]\\])*\])|([(){}|+?])")
_IN_NEW = lazy_regex(r"\\(\d)|(&)|\\(.)")
_ESCAPES = {"n": r"\n", "\\": r"\\"}
SECONDS = 0.05


def substitute(script: str, text: str, *, is_extended: bool) -> str:
    """Return what `s/old/new/` commands make of each line; UNKNOWN after any other command, or where it is not sure."""
    import regex  # slow to import, and few lines use a program that `sed` changed

    at, ends = 0, time.monotonic() + SECONDS
    while at < len(script):
        change = _CHANGE.match(script, at)
        if (
            change is None
            or _UNSURE.search(re.sub(r"\[\^?\]?[^\]]*\]", "", change[2]))
            or re.search(r"\\[A-Za-mo-z]", change[3])
        ):
            return UNKNOWN
        old = change[2] if is_extended else _BASIC.sub(lambda part: part[1] or part[2] or f"\\{part[3]}", change[2])
        new = _IN_NEW.sub(
            lambda part: f"\\g<{part[1] or 0}>" if part[1] or part[2] else _ESCAPES.get(part[3], part[3]), change[3]
        )
        try:
            sub = partial(regex.compile(old, regex.POSIX).sub, new, count=0 if change[4] else 1)
            lines = [sub(line, timeout=max(ends - time.monotonic(), 0.0001)) for line in text.split("\n")]
        except (regex.error, IndexError, TimeoutError):
            return UNKNOWN
        text, at = "\n".join(lines), change.end()
    return text
