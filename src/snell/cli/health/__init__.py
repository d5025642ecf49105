"""
The checks of `snell doctor`: one module per part, whose `checks(installation)` yields `Check`s.

PARTS lists them in order: the daemon is asked after an event has been sent through it.
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
    """One line of the report: what was checked, its status, and what to do about it."""

    name: str
    status: Status
    detail: str
    advice: str = ""


class Installation(Struct, frozen=True):
    """The installation to check, and the folder to check it in."""

    where: Places
    env: Mapping[str, str]
    cwd: Path


def examine(installation: Installation) -> Iterator[Check]:
    """Run all checks; an error in one part does not stop the others."""
    for part in PARTS:
        try:
            yield from import_module(f"{__name__}.{part}").checks(installation)
        except SnellError as error:
            yield Check(
                part, "fail", error.message if not error.where else f"{error.where}: {error.message}", error.advice
            )
        except OSError as error:
            yield Check(part, "fail", str(error), "check that it exists, and its permissions")
