"""
Places at which a test may end the process, between two phases of the ledger.

INVARIANT: only a program that sets `on_reached` itself can use this. No setting, variable or file is read, so nothing
that a repository brings reaches it.
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


def reach(point: str) -> None:
    if on_reached is not None:
        on_reached(point)
