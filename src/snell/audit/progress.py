"""Show on a terminal how much of a verification is done."""

import sys
import time
from collections.abc import Callable

EVERY = 0.1  # seconds between two changes of the line

Progress = Callable[[int], None]  # called with the number of further rows that are done


def no_progress(_rows: int) -> None:
    pass


def show_progress(total: int) -> Progress:
    """Return a function that rewrites a line on stderr; it shows nothing where that is no terminal."""
    if not sys.stderr.isatty():
        return no_progress
    done, shown_at = 0, 0.0

    def show(rows: int) -> None:
        nonlocal done, shown_at
        done += rows
        if rows == 0 or done >= total:
            sys.stderr.write("\r\x1b[K")
        elif time.monotonic() - shown_at > EVERY:
            shown_at = time.monotonic()
            sys.stderr.write(f"\rverified {done:,} of {total:,} rows\x1b[K")
        sys.stderr.flush()

    return show
