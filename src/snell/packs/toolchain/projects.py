"""A project folder: what it holds, read carefully. Looking at files is not believing them: nothing here is executed."""

import glob
import os
from functools import cached_property
from itertools import islice
from pathlib import Path

from snell.machine.files import FileError, read_capped

LARGEST = 1_000_000
MOST_NAMES = 10_000
MOST_MATCHES = 20
DEEPEST = 40


class Project:
    """One folder, as a toolchain's detector sees it."""

    def __init__(self, folder: str, above: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self._above = above  # the folders around it, nearest first
        self.unread: list[str] = []  # files that are there and could not be read
        self._texts: dict[str, str] = {}

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the plain files in the folder."""
        try:
            with os.scandir(self.folder) as entries:
                return frozenset(entry.name for entry in islice(entries, MOST_NAMES) if _is_file(entry))
        except OSError:
            return frozenset()

    def has(self, *names: str) -> bool:
        return not self.names.isdisjoint(names)

    @cached_property
    def around(self) -> "tuple[Project, ...]":
        """The folders of the repository around this one; a workspace keeps its lockfile in one of them."""
        return tuple(map(Project, self._above))

    def matching(self, pattern: str) -> list[str]:
        """The files that a pattern names, as far as they are in this folder."""
        if os.path.isabs(pattern) or ".." in pattern.split("/"):
            return []
        return sorted(islice(glob.iglob(pattern, root_dir=self.folder), MOST_MATCHES))

    def text(self, name: str) -> str:
        """What a file says; empty when it is not there or cannot be read."""
        if name not in self._texts:
            self._texts[name] = self._read(name)
        return self._texts[name]

    def _read(self, name: str) -> str:
        if os.path.isabs(name) or ".." in name.split("/"):
            return ""  # an include may name anything; only this folder is looked at
        try:
            return read_capped(Path(self.folder, name), LARGEST).decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
        except (OSError, FileError) as error:
            self.unread.append(f"{name}: {getattr(error, 'strerror', None) or error}")
            return ""


def folders_above(cwd: str, ceiling: str = "") -> list[str]:
    """The folder and those above it, up to the repository's root, or to the ceiling when one is given."""
    folder = os.path.normpath(cwd)
    home = os.path.expanduser("~")
    found = []
    for _ in range(DEEPEST):
        found.append(folder)
        is_top = folder == ceiling if ceiling else os.path.exists(os.path.join(folder, ".git")) or folder == home
        above = os.path.dirname(folder)
        if is_top or above == folder:
            return found
        folder = above
    return found


def _is_file(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False
