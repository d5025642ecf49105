"""The running version, and whether this daemon should make way for a newer one."""

import contextlib
import os
import re
import time
from functools import cache
from pathlib import Path

from snell.system.distributions import version_of

NOT_MORE_OFTEN = 60.0  # seconds between two hand-overs: two installations must not replace each other all the time


@cache
def our_version() -> str:
    """Return the version of Snell that is installed; `0` if it is not."""
    if found := version_of("snell"):
        return found
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return version("snell")
    except PackageNotFoundError:
        return "0"


def should_hand_over(build: str, run: Path) -> bool:
    """
    Return whether this daemon should end because a newer `snell-hook` has called; an older one is served as usual.

    Also stores the time, so that it happens at most once a minute.
    """
    if build == our_version() or numbers(build) <= numbers(our_version()):
        return False
    stamp = run / "handed-over"
    with contextlib.suppress(OSError):
        # A time in the future was written by a clock that was wrong.
        if 0 <= time.time() - os.stat(stamp).st_mtime < NOT_MORE_OFTEN:
            return False
    with contextlib.suppress(OSError):
        stamp.write_text(build, encoding="utf-8")
    return True


def numbers(build: str) -> tuple[int, ...]:
    """Return the numbers of a version, for comparing: `0.10.2` is newer than `0.9`."""
    return tuple(int(part) for part in re.findall(r"\d+", build.partition("+")[0])[:6])
