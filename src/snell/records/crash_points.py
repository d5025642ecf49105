"""
Points between two steps of the ledger at which a test can kill the process.

INVARIANT: only code of this process can set `on_reached`. No setting, environment variable or file is read, so a
repository cannot use it.
"""

from collections.abc import Callable

POINTS = (
    "before claim",
    "after claim",
    "before row",
    "after row",
    "before receipt",
    "after receipt",
    "before settling",
    "after settling",
)

on_reached: Callable[[str], None] | None = None


def notify(point: str) -> None:
    """Call the function of the test, if there is one."""
    if on_reached is not None:
        on_reached(point)
