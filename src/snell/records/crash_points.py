"""
Points between two steps of the ledger at which a test can kill the process.

INVARIANT: only code of this process can set `on_reached`. No setting, environment variable or file is read, so a
repository cannot use it.
"""

from collections.abc import Callable

POINTS = tuple(f"{when} {step}" for step in ("claim", "row", "receipt", "settling") for when in ("before", "after"))

on_reached: Callable[[str], None] | None = None


def notify(point: str) -> None:
    """Call the function of the test, if there is one."""
    if on_reached is not None:
        on_reached(point)
