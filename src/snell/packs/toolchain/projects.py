"""A project folder: what it holds, read carefully. Looking at files is not believing them: nothing here is executed."""

import glob
import os
import stat
from collections.abc import Callable
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from snell.system.files import FileError, read_capped

T = TypeVar("T")

LARGEST = 1_000_000
MOST_NAMES = 10_000
MOST_MATCHES = 20
DEEPEST = 40
# fmt: off
_SHOULD_BE_FILES = frozenset((
    "Makefile", "makefile", "GNUmakefile", "justfile", "Taskfile.yml", "Cargo.toml", "go.mod", "package.json",
    "pyproject.toml", "uv.lock", "pnpm-lock.yaml", "yarn.lock", "package-lock.json", "poetry.lock",
))
# fmt: on


class Project:
    """One folder, as a toolchain's detector sees it."""

    def __init__(self, folder: str, above: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self._above = above  # the folders around it, nearest first
        self.unread: list[str] = []  # what is there and could not be read, and why
        self._texts: dict[str, str] = {}
        self._worked_out: dict[str, Any] = {}

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the plain files in the folder."""
        try:
            with os.scandir(self.folder) as entries:
                found = {entry.name: _is_file(entry) for entry in islice(entries, MOST_NAMES)}
        except FileNotFoundError:
            return frozenset()
        except OSError as error:
            self.cannot_use(self.folder, error.strerror or "cannot be read")
            return frozenset()
        for name in sorted(_SHOULD_BE_FILES & found.keys()):
            if not found[name]:
                self.cannot_use(name, "is not a file")
        return frozenset(name for name, is_file in found.items() if is_file)

    def cannot_use(self, name: str, why: str) -> None:
        """Remember what is there and was of no use."""
        if (told := f"{name}: {why}") not in self.unread:
            self.unread.append(told)

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

    def once(self, name: str, work_out: "Callable[[Project], T]") -> T:
        """What somebody works out about this folder; several ask for the same."""
        if name not in self._worked_out:
            self._worked_out[name] = work_out(self)
        found: T = self._worked_out[name]
        return found

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
            self.cannot_use(name, str(getattr(error, "strerror", None) or error))
            return ""


def folders_above(cwd: str, ceiling: str = "") -> list[str]:
    """
    The folder and those above it, up to the repository's root, or to the ceiling when one is given.

    Where there is no repository, as far as the folders are of the same owner and nobody else can write to them: what
    lies in `/tmp` may be anybody's.
    """
    folder = os.path.normpath(cwd)
    home, owner = os.path.expanduser("~"), _owner(folder)
    found = [folder]
    for _ in range(DEEPEST):
        is_top = folder == ceiling if ceiling else is_repository(folder) or folder == home
        above = os.path.dirname(folder)
        if is_top or above == folder or (not ceiling and _owner(above) != owner):
            return found
        folder = above
        found.append(folder)
    return found


def is_repository(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, ".git"))


def _owner(folder: str) -> int | str:
    """Whose folder it is; one that all may write to is everybody's, and one like `/tmp` is nobody's."""
    try:
        found = os.stat(folder)
    except OSError:
        return folder  # like no other
    if found.st_mode & stat.S_IWOTH:
        return folder if found.st_mode & stat.S_ISVTX else "everybody"  # some mounted disks have nothing but such
    return found.st_uid


def _is_file(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False
