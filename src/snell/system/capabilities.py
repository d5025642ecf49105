"""Find the folders that stand alone: Snell works without them, so nothing imports them by name."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def capability(module: str) -> Any:
    """Return a module of a folder that stands alone; None if this installation does not have that folder."""
    return import_module(module) if find_spec(module.rpartition(".")[0]) else None
