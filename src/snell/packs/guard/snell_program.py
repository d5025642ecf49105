"""
Find the files that Snell runs from: its package, its environment, the interpreter and `snell-hook`.

A change to these files changes the guard. An editable install runs from a clone; a session whose project is that clone
may change the clone.
"""

import fnmatch
import os
import site
import sys
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

import snell
from snell.packs.guard.file_lookups import LARGEST_SCRIPT, mark_unrepeatable
from snell.packs.guard.known_values import UNKNOWN
from snell.packs.guard.sensitive_files import LONGEST_PATTERN
from snell.system.lazy_regex import lazy_regex

_PACKAGES = ("site-packages", "dist-packages")
_PROJECT_NAME = lazy_regex(r"(?m)^name\s*=\s*[\"']snell[\"']")
_PATTERN = lazy_regex(rf"[*?\[{UNKNOWN}]")


class Program(Struct, frozen=True, eq=False):
    folders: tuple[str, ...] = ()  # with all their content; each ends with a slash, as those below do
    environment: tuple[str, ...] = ()  # the folder of the virtual environment, when there is one
    clone: tuple[str, ...] = ()  # of an editable install
    files: tuple[str, ...] = ()  # prefixes of paths of single files

    def holds(self, path: str) -> bool:
        """Tell whether the path is one of the program's files, or in one of its folders."""
        bare = path.rstrip("/")
        if f"{bare}/".startswith(self.folders) or bare.startswith(self.files):
            return True
        return _is_pattern(bare) and any(_leads_into(bare, place) for place in (*self.folders, *self.files))

    def is_deleted_with(self, path: str) -> bool:
        """Tell whether deleting or moving this path also deletes a part of the program."""
        bare = path.rstrip("/")
        if any(place.startswith(f"{bare}/") for place in self._places):
            return True
        return _is_pattern(bare) and any(_is_above(bare, place) for place in self._places)

    def is_environment(self, path: str) -> bool:
        """Tell whether the path is the virtual environment, or in it."""
        return f"{path}/".startswith(self.environment)

    def is_in_own_clone(self, path: str, project: str) -> bool:
        """Tell whether project and path are both in the clone of an editable install."""
        return f"{project}/".startswith(self.clone) and f"{path}/".startswith(self.clone)

    @property
    def _places(self) -> tuple[str, ...]:
        return (*self.folders, *self.environment, *self.files)


NO_PROGRAM = Program()


@lru_cache(maxsize=8)
def running_program(*more: str) -> Program:
    """Return the files of the running Snell, and the folders (`more`) into which other tools install it."""
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


def is_clone(folder: str) -> bool:
    """Tell whether the folder holds the sources of Snell."""
    mark_unrepeatable()
    try:
        file = Path(folder, "pyproject.toml")
        return file.stat().st_size <= LARGEST_SCRIPT and _PROJECT_NAME.search(file.read_text("utf-8")) is not None
    except (OSError, ValueError):
        return False


def _folders(paths: list[str]) -> tuple[str, ...]:
    return tuple(f"{path}/" for path in _spellings(paths))


def _spellings(paths: list[str]) -> list[str]:
    """Return each path as given, with links resolved, and below a home folder that is a link."""
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
    return len(path) < LONGEST_PATTERN and _PATTERN.search(path) is not None


def _leads_into(pattern: str, place: str) -> bool:
    """Tell whether the pattern matches the place or something in it: `/a/*/c/d` for `/a/b/c`."""
    return pattern.count("/") >= place.rstrip("/").count("/") and _matches(pattern, place)


def _is_above(pattern: str, place: str) -> bool:
    return pattern.count("/") <= place.rstrip("/").count("/") and _matches(pattern, place)


def _matches(pattern: str, place: str) -> bool:
    pairs = list(zip(pattern.split("/"), place.rstrip("/").split("/"), strict=False))
    return all(_is_same(part, name) for part, name in pairs) and any(part.strip("*" + UNKNOWN) for part, _ in pairs)


def _is_same(part: str, name: str) -> bool:
    if part == name:
        return True
    is_hidden = name.startswith(".") and not part.startswith((".", UNKNOWN))  # a pattern does not match hidden names
    return not is_hidden and fnmatch.fnmatchcase(name, part.replace(UNKNOWN, "*"))
