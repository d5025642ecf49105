"""Read the files of a project folder. They are not trusted: nothing here is executed."""

import glob
import os
import stat
from collections.abc import Callable
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TypeVar, cast

from snell.settings.file_digests import FileStamp, have_changed, watch_file
from snell.shell.build_targets import Targets
from snell.system.files import FileError, read_capped, stat_or_none

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


class Lookups:
    """What was read from the disk for one line, so that a result is used again only while all of it is unchanged."""

    def __init__(self) -> None:
        self._stamps: dict[str, FileStamp] = {}
        self._answers: dict[tuple[Callable[[str], object], str], object] = {}

    def note(self, path: str) -> None:
        """Note a file or folder before it is read, so that a change in between is noticed."""
        if path not in self._stamps:
            self._stamps[path] = watch_file(path)

    def ask(self, question: Callable[[str], T], path: str) -> T:
        """Return the answer of a function of the path."""
        known = self._answers.get((question, path), self)
        if known is self:
            known = self._answers[question, path] = question(path)
        return cast(T, known)

    @property
    def has_any(self) -> bool:
        return bool(self._stamps or self._answers)

    def are_current(self) -> bool:
        """Tell whether nothing that was read has changed, and every answer is the same."""
        for (question, path), answer in self._answers.items():
            # A folder with another owner has another stamp.
            if (question is not _owner or path not in self._stamps) and question(path) != answer:
                return False
        return not have_changed(self._stamps.values())


class Project:
    """One folder, as a toolchain's detector sees it."""

    def __init__(self, folder: str, above: tuple[str, ...] = (), lookups: Lookups | None = None) -> None:
        self.folder = folder
        self._above = above  # the parent folders, nearest first
        self._lookups = lookups or Lookups()
        self.unread: list[str] = []  # what exists and could not be read, and why
        self._texts: dict[str, str] = {}
        self.targets: dict[str, Targets] = {}  # of its Makefile, justfile and Taskfile, by runner

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the regular files in the folder."""
        self._lookups.note(self.folder)
        try:
            with os.scandir(self.folder) as entries:
                found = {entry.name: self._is_file(entry) for entry in islice(entries, MOST_NAMES)}
        except FileNotFoundError:
            return frozenset()
        except OSError as error:
            self.add_unread(self.folder, error.strerror or "cannot be read")
            return frozenset()
        for name in sorted(_SHOULD_BE_FILES & found.keys()):
            if not found[name]:
                self.add_unread(name, "is not a file")
        return frozenset(name for name, is_file in found.items() if is_file)

    def _is_file(self, entry: "os.DirEntry[str]") -> bool:
        try:
            return self._lookups.ask(os.path.isfile, entry.path) if entry.is_symlink() else entry.is_file()
        except OSError:
            return False

    def add_unread(self, name: str, why: str) -> None:
        """Note a file that exists and cannot be used."""
        if (problem := f"{name}: {why}") not in self.unread:
            self.unread.append(problem)

    def has(self, *names: str) -> bool:
        return not self.names.isdisjoint(names)

    def has_folder(self, *names: str) -> bool:
        return any(self._lookups.ask(os.path.isdir, os.path.join(self.folder, name)) for name in names)

    @cached_property
    def around(self) -> "tuple[Project, ...]":
        """The parent folders in the repository; a workspace has its lockfile in one of them."""
        return tuple(Project(each, lookups=self._lookups) for each in self._above)

    def matching(self, pattern: str) -> list[str]:
        """Return the files in this folder that match a pattern; with more wildcards it could search a whole disk."""
        parts = pattern.split("/")
        if os.path.isabs(pattern) or ".." in parts or sum(map(glob.has_magic, parts)) > 1:
            return []
        self._lookups.note(os.path.dirname(os.path.join(self.folder, pattern)))
        return sorted(islice(glob.iglob(pattern, root_dir=self.folder), MOST_MATCHES))

    def text(self, name: str) -> str:
        """Return the content of a file; empty when it does not exist or cannot be read."""
        if name not in self._texts:
            self._texts[name] = self._read(name)
        return self._texts[name]

    def _read(self, name: str) -> str:
        if os.path.isabs(name) or ".." in name.split("/"):
            return ""  # an include may name anything; only this folder is read
        self._lookups.note(os.path.join(self.folder, name))
        try:
            return read_capped(Path(self.folder, name), LARGEST).decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
        except (OSError, FileError) as error:
            self.add_unread(name, str(getattr(error, "strerror", None) or error))
            return ""


def folders_above(cwd: str, ceiling: str = "", lookups: Lookups | None = None) -> list[str]:
    """
    Return the folder and its parents, up to the repository's root, or to the ceiling when one is given.

    Outside a repository, up to the last parent of the same owner that others cannot write to: files in `/tmp` may be
    any user's.
    """
    folder = os.path.normpath(cwd)
    ask = (lookups or Lookups()).ask
    home, owner = os.path.expanduser("~"), ask(_owner, folder)
    found = [folder]
    for _ in range(DEEPEST):
        is_top = folder == ceiling if ceiling else folder == home or ask(is_repository, folder)
        above = os.path.dirname(folder)
        if is_top or above == folder or (not ceiling and ask(_owner, above) != owner):
            return found
        folder = above
        found.append(folder)
    return found


def is_repository(folder: str) -> bool:
    return stat_or_none(f"{folder}/.git") is not None


def _owner(folder: str) -> int | str:
    """Return the owner of a folder; a value of its own for a shared folder like `/tmp`."""
    found = stat_or_none(folder)
    if found is None:
        return folder  # equal to no other
    if found.st_mode & stat.S_IWOTH:
        return folder if found.st_mode & stat.S_ISVTX else "all users"  # as on some mounted disks
    return found.st_uid
