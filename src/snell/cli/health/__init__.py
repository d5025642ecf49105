"""
The checks of `snell doctor`: for each part a function `PART_checks(installation)` that yields `Check`s.

PARTS lists them in order, with their modules: the daemon is asked after an event has been sent through it. Those of
QUICK start nothing and send nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from msgspec import Struct

from snell.model.errors import SnellError, file_error
from snell.system.paths import Places

PARTS = {
    "shim": ".program",
    "code": ".program",
    "folders": ".files",
    "store": ".files",
    "memory": ".files",
    "settings": ".settings",
    "synthetic": ".program",
    "daemon": ".daemon",
    "activity": ".activity",
    "clients": ".activity",
    **({"coverage": "snell.coverage.health"} if find_spec("snell.coverage") else {}),
    **({"traces": "snell.traces.status"} if find_spec("snell.traces") else {}),
}

QUICK = [part for part in PARTS if part in ("shim", "folders", "settings", "activity", "clients", "traces")]

Status = Literal["ok", "warn", "fail"]


class Check(Struct, frozen=True):
    """One line of the report: what was checked, its status, and what to do about it."""

    name: str
    status: Status
    detail: str
    advice: str = ""


class Installation(Struct, frozen=True):
    where: Places
    env: Mapping[str, str]
    cwd: Path


def examine(installation: Installation, parts: Iterable[str] = PARTS) -> Iterator[Check]:
    """Run all checks, or those of some parts; an error in one part does not stop the others."""
    for part in parts:
        try:
            yield from getattr(import_module(PARTS[part], __name__), f"{part}_checks")(installation)
        except (SnellError, OSError) as raised:
            error = file_error(raised) if isinstance(raised, OSError) else raised
            detail = f"{error.where}: {error.message}" if error.where else error.message
            yield Check(part, "fail", detail, error.advice)
