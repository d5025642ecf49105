"""
What is installed, asked of the file system alone: `importlib.metadata` takes as long to import as half an interpreter,
and the first event after a start waits for it.
"""

import os
import sys
from collections.abc import Iterator


def version_of(name: str) -> str:
    """The version of a distribution that is installed once; empty when that cannot be told from names alone."""
    found = {folder.rpartition("/")[2] for folder in _folders() if folder.rpartition("/")[2].startswith(f"{name}-")}
    versions = {each.removeprefix(f"{name}-").removesuffix(_ENDING) for each in found}
    return versions.pop() if len(versions) == 1 else ""


def any_declares(group: str) -> bool:
    """May a distribution have entry points of this group? Only then is it worth asking which."""
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
