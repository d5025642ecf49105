"""
The files that Snell itself runs from: its package, the environment around it, the interpreter and `snell-hook`.

Whatever is changed there changes the guard. An editable install is read from a clone; the people who work on that clone
change it all day, so a session whose project is the clone may change what lies in it.
"""

from __future__ import annotations

import fnmatch
import os
import site
import sys
from functools import lru_cache

from msgspec import Struct

import snell
from snell.packs.guard.known_values import UNKNOWN
from snell.packs.guard.sensitive_files import LONGEST_PATTERN

_PACKAGES = ("site-packages", "dist-packages")
_PATTERN = ("*", "?", "[", UNKNOWN)


class Program(Struct, frozen=True, eq=False):
    folders: tuple[str, ...] = ()  # whatever lies in them; each ends with a slash, as those below do
    environment: tuple[str, ...] = ()  # the folder of the virtual environment, when there is one
    clone: tuple[str, ...] = ()  # of an editable install
    files: tuple[str, ...] = ()  # how the paths of single files begin

    def holds(self, path: str) -> bool:
        """The path is one of the program's files, or lies in one of its folders."""
        bare = path.rstrip("/")
        if f"{bare}/".startswith(self.folders) or bare.startswith(self.files):
            return True
        return _is_pattern(bare) and any(_leads_into(bare, place) for place in (*self.folders, *self.files))

    def is_deleted_with(self, path: str) -> bool:
        """Deleting or moving this path takes a part of the program along."""
        bare = path.rstrip("/")
        if any(place.startswith(f"{bare}/") for place in self._places):
            return True
        return _is_pattern(bare) and any(_is_above(bare, place) for place in self._places)

    def is_environment(self, path: str) -> bool:
        """The path is the folder of the environment, or lies in it."""
        return f"{path}/".startswith(self.environment)

    def is_in_own_clone(self, path: str, project: str) -> bool:
        """The session works on the clone that an editable install is read from, and the path lies in that clone."""
        return f"{project}/".startswith(self.clone) and f"{path}/".startswith(self.clone)

    @property
    def _places(self) -> tuple[str, ...]:
        return (*self.folders, *self.environment, *self.files)


NO_PROGRAM = Program()


@lru_cache(maxsize=8)
def running_program(*more: str) -> Program:
    """The program that judges, with the places (`more`) into which other tools would have installed it."""
    package = os.path.dirname(os.path.abspath(snell.__file__))
    above = os.path.dirname(package)
    is_installed = os.path.basename(above) in _PACKAGES
    packages = [above] if is_installed else []
    folders = [package, *packages, *site.getsitepackages(), os.path.dirname(os.__file__), *more]
    beside = os.path.dirname(sys.executable)
    files = [f"{beside}/python", f"{beside}/snell", os.path.realpath(sys.executable), f"{sys.prefix}/pyvenv.cfg"]
    environment = [sys.prefix] if sys.prefix != sys.base_prefix else []
    clone = [] if is_installed else [_clone(package)]
    return Program(_folders(folders), _folders(environment), _folders(clone), tuple(_spellings(files)))


def _folders(paths: list[str]) -> tuple[str, ...]:
    return tuple(f"{path}/" for path in _spellings(paths))


def _spellings(paths: list[str]) -> list[str]:
    """Each path as it is, without links, and as seen from a home that lies behind a link."""
    home = os.path.expanduser("~").rstrip("/")
    really = os.path.realpath(home)
    found = dict[str, None]()
    for path in filter(None, paths):
        real = os.path.realpath(path)
        found |= dict.fromkeys((path, real))
        if f"{real}/".startswith(f"{really}/"):
            found[home + real[len(really) :]] = None
    return list(found)


def _clone(package: str) -> str:
    folder = package
    while folder != "/":
        folder = os.path.dirname(folder)
        if os.path.exists(f"{folder}/pyproject.toml"):
            return folder
    return os.path.dirname(package)


def _is_pattern(path: str) -> bool:
    return len(path) < LONGEST_PATTERN and any(mark in path for mark in _PATTERN)


def _leads_into(pattern: str, place: str) -> bool:
    """`/a/*/c/d` finds what lies in `/a/b/c`, and `/a/b/c*` finds `/a/b/c` itself."""
    return pattern.count("/") >= place.rstrip("/").count("/") and _matches(pattern, place)


def _is_above(pattern: str, place: str) -> bool:
    return pattern.count("/") <= place.rstrip("/").count("/") and _matches(pattern, place)


def _matches(pattern: str, place: str) -> bool:
    pairs = list(zip(pattern.split("/"), place.rstrip("/").split("/"), strict=False))
    return all(_is_same(part, name) for part, name in pairs) and any(part.strip("*" + UNKNOWN) for part, _ in pairs)


def _is_same(part: str, name: str) -> bool:
    if part == name:
        return True
    is_hidden = name.startswith(".") and not part.startswith((".", UNKNOWN))  # a pattern finds no such name by itself
    return not is_hidden and fnmatch.fnmatchcase(name, part.replace(UNKNOWN, "*"))
