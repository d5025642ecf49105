"""
Which distributions are installed, read from directory names only: `importlib.metadata` takes as long to import as half
an interpreter start, and the first event after a start would wait for it.
"""

import os
import sys
from collections.abc import Iterator


def version_of(name: str) -> str:
    """Return the version of a distribution that is installed once; empty if names alone do not tell it."""
    found = {folder.rpartition("/")[2] for folder in _folders() if folder.rpartition("/")[2].startswith(f"{name}-")}
    versions = {each.removeprefix(f"{name}-").removesuffix(_ENDING) for each in found}
    return versions.pop() if len(versions) == 1 else ""


def any_declares(group: str) -> bool:
    """Whether a distribution may have entry points of this group, so that loading the metadata is worthwhile."""
    header = f"[{group}]".encode()
    for folder in _folders():
        try:
            with open(f"{folder}/entry_points.txt", "rb") as file:
                if header in file.read(1_000_000):
                    return True
        except OSError:
            continue
    return False


_ENDING = ".dist-info"


def _folders() -> Iterator[str]:
    for path in sys.path:
        if path.endswith((".zip", ".egg")):
            continue
        try:
            with os.scandir(path or ".") as entries:
                yield from [entry.path for entry in entries if entry.name.endswith((_ENDING, ".egg-info"))]
        except OSError:
            continue
