"""Classify paths by what deleting or replacing them would lose."""

import posixpath
import re
from collections.abc import Container
from functools import cached_property, lru_cache

from snell.packs.guard.file_lookups import MISSING, absolute_path, path_kind
from snell.packs.guard.known_names import names, pattern
from snell.packs.guard.known_values import UNKNOWN
from snell.packs.guard.sensitive_files import is_snell_file
from snell.packs.guard.snell_paths import NO_SNELL_PATHS, SnellPaths

# Classes of paths, in words that complete "it deletes ...".
ROOT, SYSTEM, DEVICE, OUTSIDE = "the whole disk", "system files", "a device", "a folder outside the project"
HOME, HOME_PART, ABOVE = "the home folder", "personal files in the home folder", "the folders above the project"
PROJECT_ROOT, PROJECT, SOURCES = "the whole project", "project files", "the project's sources"
BUILD, GIT, TEMP, TEMP_ROOT = "build output", "the repository's history", "temporary files", "all temporary files"
UNKNOWN_PLACE = "an unknown place"

DATA_FOLDER = pattern("data_folder")
_TEMP = pattern("temp")
_SYSTEM = pattern("system")
_BUILD_NAMES = names("build_names")
_AMBIGUOUS = names("ambiguous_names")
_PROJECT_FILES = tuple(names("project_files"))
_BUILD_FILE = pattern("build_file")
_PERSONAL = names("personal")
_USUAL_IN_HOME = names("usual_in_home")
_REBUILT_NAMES = names("rebuilt_names")
_LEFTOVERS = names("leftovers")
_REBUILT_SUFFIXES = names("rebuilt_suffixes")
_BUILD_MACHINE_TOOLS = pattern("build_machine_tools")
_GIT_TEMPORARY = pattern("git_temporary")
_CACHES = tuple(names("caches"))
_SOURCES = names("sources")
_TEMP_ROOTS = frozenset(("/tmp", "/var/tmp", "/private/tmp", "/dev/shm"))
NO_PROJECT = "/\0"  # no path is below it


@lru_cache(maxsize=64)
def effective_project(cwd: str, home: str, project: str = "") -> str:
    """Return the project: the given one or the current folder, but none if it contains the home folder."""
    folder, home_folder = f"{(project or cwd).rstrip('/')}/", f"{home.rstrip('/')}/"
    return NO_PROJECT if folder == "/" or (home_folder.startswith(folder) and home_folder != folder) else project or cwd


class Workspace:
    """The folders that paths are classified by: the current one, home, project and Snell's own."""

    def __init__(
        self, cwd: str, home: str, project: str, snell_paths: SnellPaths = NO_SNELL_PATHS, written: Container[str] = ()
    ) -> None:
        self.cwd, self.home, self.project, self.snell_paths = cwd, home, project, snell_paths
        self.written = written  # files that this session wrote
        self.classes: dict[str, str] = {}  # of the paths that were asked about; several rules ask about the same

    @cached_property  # asked for every step
    def is_snell_folder(self) -> bool:
        """Tell whether the current folder holds files of Snell, so that plain names are paths of those."""
        return is_snell_file(f"{self.cwd}/") or self.snell_paths.holds(f"{self.cwd}/x")

    def in_folder(self, cwd: str) -> "Workspace":
        return self if cwd == self.cwd else Workspace(cwd, self.home, self.project, self.snell_paths, self.written)

    def absolute(self, path: str) -> str:
        """Return the path from the root; one that starts with an unknown part stays as it is."""
        return absolute_path(path, self.cwd)


def classify_path(path: str, workspace: Workspace) -> str:
    """Return the class of an absolute path, which may be a pattern."""
    known = workspace.classes.get(path)
    if known is None:
        known = workspace.classes[path] = _class_of(path, workspace)
    return known


def _class_of(path: str, workspace: Workspace) -> str:
    if path.startswith(UNKNOWN):
        return _unknown_place(path)
    head = _without_glob(path)
    if head in ("/", "//", ""):
        return ROOT
    if workspace.project and head == workspace.project:
        return PROJECT_ROOT if _is_whole(path, head) else PROJECT
    if _TEMP.match(head) and (place := _temporary_place(path, head, workspace)):
        return place
    if ".git" in head and _IN_GIT.search(head):
        return BUILD if _GIT_TEMPORARY.search(head) else GIT
    if workspace.project and head.startswith(workspace.project.rstrip("/") + "/"):
        return HOME_PART if _is_personal(head, workspace) else _inside(head)
    if head.startswith("/dev/"):
        return DEVICE
    return _elsewhere(path, head, workspace)


def _temporary_place(path: str, head: str, workspace: Workspace) -> str:
    """Return nothing for what is in, or contains, a home or a project that is itself in a temporary folder."""
    if head in _TEMP_ROOTS and not path.endswith("*"):
        return TEMP_ROOT
    for folder in (f"{workspace.project}/", f"{workspace.home}/"):
        if folder.startswith(f"{head}/") or (f"{head}/".startswith(folder) and folder[:-1] not in _TEMP_ROOTS):
            return ""
    return TEMP


def is_build_output(path: str) -> bool:
    """Tell whether a build makes this file or folder."""
    parts = [part.lower() for part in path.split("/") if part]
    name = parts[-1] if parts else ""
    return any(part in _BUILD_NAMES for part in parts) or _BUILD_FILE.search(name) is not None


def _is_personal(head: str, workspace: Workspace) -> bool:
    """Tell whether the path is a usual folder of a home that is also the project."""
    return (
        workspace.project == workspace.home and head[len(workspace.home) + 1 :].partition("/")[0].lower() in _PERSONAL
    )


def _is_local_build_output(head: str, workspace: Workspace) -> bool:
    """Tell whether the path is build output of the current folder, outside any project; not a home's own `bin`."""
    folder = f"{workspace.cwd.rstrip('/')}/"
    name = head.removeprefix(folder).partition("/")[0]
    is_system = folder == "/" and _SYSTEM.match(head) is not None
    return head.startswith(folder) and is_build_output(name) and name not in _USUAL_IN_HOME and not is_system


def is_rebuilt_name(name: str) -> bool:
    """Tell whether the name pattern matches only files that a build or an editor makes again."""
    name = name.strip("^$").replace("\\", "")  # of a regular expression
    plain = name.strip("*/").lower().rstrip(".")
    return plain in _REBUILT_NAMES or {plain.lstrip("."), name.lower().rpartition(".")[2]} & _REBUILT_SUFFIXES != set()


def is_leftover_name(name: str) -> bool:
    """Tell whether the name pattern matches only files that editors and patches leave behind."""
    return name.strip("*/").lower().lstrip(".") in _LEFTOVERS


def _inside(head: str) -> str:
    name = head.rstrip("/").rpartition("/")[2].lower()
    if is_build_output(name):
        return BUILD
    return SOURCES if name in _SOURCES else PROJECT


def _elsewhere(path: str, head: str, workspace: Workspace) -> str:
    home = workspace.home
    if workspace.project == NO_PROJECT and _is_local_build_output(head, workspace):
        return BUILD
    if home and (head == home or re.fullmatch(r"/(?:root|(?:home|Users)/[^/]+)/?", head)):
        return HOME
    if workspace.project and (workspace.project + "/").startswith(head.rstrip("/") + "/"):
        return ABOVE
    if home.startswith(f"{head}/") and not _SYSTEM.match(head):
        return HOME  # and what lies beside it
    if home and head.startswith(home + "/"):
        return BUILD if f"{head[len(home) + 1 :]}/".startswith(_CACHES) or _is_built_in_home(head, home) else HOME_PART
    if _BUILD_MACHINE_TOOLS.match(head):
        return BUILD
    return SYSTEM if _SYSTEM.match(head) else OUTSIDE


def is_in_user_folder(path: str, home: str) -> bool:
    """Tell whether the path is in a folder where people keep their own files: `~/Documents`."""
    first = path[len(home) + 1 :].partition("/")[0].lower()
    return path.startswith(f"{home}/") and first in _PERSONAL and not first.startswith(".")


def _is_built_in_home(head: str, home: str) -> bool:
    """Tell whether a folder of a home is build output: beside a project file, or by a name that only builds use."""
    folder, _, name = head.rpartition("/")
    if folder == home or not is_build_output(name):
        return False
    if any(path_kind(f"{folder}/{file}") != MISSING for file in _PROJECT_FILES):
        return True
    is_users = is_in_user_folder(head, home)
    return not is_users and name.lower() not in _AMBIGUOUS and (name[:1] in "._" or path_kind(folder) == MISSING)


def _unknown_place(path: str) -> str:
    rest = path.lstrip(UNKNOWN).strip("/")
    name = rest.rstrip("*").strip("/").rpartition("/")[2]
    return BUILD if name and is_build_output(name) else UNKNOWN_PLACE


_IN_GIT = pattern("in_git")


def _without_glob(path: str) -> str:
    """Return the folder that a pattern is about: `/a` for `/a/*` and `/a/.??*`."""
    parts = path.split("/")
    while len(parts) > 1 and parts[-1] and not parts[-1].strip("*.?[]!^{}," + UNKNOWN):
        parts.pop()
    text = "/".join(parts)
    return posixpath.normpath(text) if text else "/"


def _is_whole(path: str, head: str) -> bool:
    rest = path[len(head) :].strip("/")
    return not rest.strip("*.?[]!^{},/" + UNKNOWN)
