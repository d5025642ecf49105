"""
What `snell doctor` looks at: one file for each part, with `checks(visit)` that yields `Check`s.

A part that is not listed here is not looked at. They come in this order, so the daemon is asked after an event has
been sent through it.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Literal

from msgspec import Struct

from snell.model.errors import SnellError
from snell.system.paths import Places

PARTS = ("shim", "folders", "store", "memory", "settings", "synthetic", "daemon", "activity", "clients")

Status = Literal["ok", "warn", "fail"]


class Check(Struct, frozen=True):
    """One line: what was looked at, how it is, and what to do about it."""

    name: str
    status: Status
    detail: str
    advice: str = ""


class Visit(Struct, frozen=True):
    """Whose installation is looked at, and from where."""

    where: Places
    env: Mapping[str, str]
    cwd: Path


def examine(visit: Visit) -> Iterator[Check]:
    """Look at everything; trouble with one part does not keep the others from being looked at."""
    for part in PARTS:
        try:
            yield from import_module(f"{__name__}.{part}").checks(visit)
        except SnellError as error:
            yield Check(
                part, "fail", error.message if not error.where else f"{error.where}: {error.message}", error.advice
            )
        except OSError as error:
            yield Check(part, "fail", str(error), "check that it is there, and who may use it")
