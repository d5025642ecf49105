"""
Find the case files of a path, and what each tests: the file beside it with the same name.

    no_force_push.cases.toml    the hooks of no_force_push.py
    snell.cases.toml            the hooks of snell.toml (or snell.json)
    any other, in a pack        all hooks of the pack

INVARIANT: a case has the same meaning whether its file, its hook or a folder was named.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from snell.model.catalogue import did_you_mean
from snell.settings.locate import FOLDER
from snell.settings.packs import MANIFEST
from snell.testing.case_event import CaseError
from snell.testing.cases import ENDING

# Folders without case files of the user; hidden folders are skipped too.
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})
_HIDDEN_BUT_SEARCHED = frozenset({FOLDER, ".claude"})
_SETTINGS = ("snell.toml", "snell.json", "snell.local.toml", "snell.local.json")
_REPOSITORIES = (".git", ".hg", ".jj")  # in the root of a repository, a worktree or a submodule


class LeftOut(Struct, frozen=True):
    """A case file that does not belong to the project, and the reason."""

    file: Path
    why: str


def case_files(path: Path) -> list[Path]:
    """Return the case files of a path. Raises CaseError if it cannot have any."""
    if path.is_dir():
        return _case_files_below(path)
    if not path.exists():
        raise CaseError(f"`{path}` does not exist", advice="name a case file, a hook, a settings file or a folder")
    if path.name == MANIFEST:
        return _case_files_below(path.parent)
    if path.name.endswith(ENDING):
        return [path]
    if path.suffix not in (".py", ".toml", ".json"):
        raise CaseError(f"`{path}` has no cases", advice=f"hooks are in .py, .toml or .json files, cases in *{ENDING}")
    cases = path.with_name(f"{path.stem}{ENDING}")
    if not cases.is_file():
        raise CaseError(f"`{path}` has no cases", advice=f"write them next to it, in `{cases.name}`")
    return [cases]


def own_files(root: Path, shown: Path, find: Callable[[Path], list[Path]]) -> tuple[list[Path], list[LeftOut]]:
    """
    Return the project's own files in its `.snell`, and those left out, with `shown` instead of the root.

    Files of a repository or project below this one, and links out of it, may have another author.
    """
    root = Path(os.path.realpath(root))
    own, left_out = [], []
    for file in find(root / FOLDER):
        name = shown / file.relative_to(root)
        if why := next(filter(None, (_why_foreign(path, root, shown) for path in _files_read_by(file))), ""):
            left_out.append(LeftOut(name, why))
        else:
            own.append(name)
    return own, left_out


def subject_of(file: Path) -> Path:
    """Return what a case file tests: a Python file, a settings file or the folder of a pack. Raises CaseError."""
    name = file.name.removesuffix(ENDING)
    for subject in (file.with_name(f"{name}{suffix}") for suffix in (".py", ".toml", ".json")):
        if subject.is_file() and subject.name != MANIFEST:
            return subject
    if file.with_name(MANIFEST).is_file():
        return file.parent
    hooks = [path.stem for path in file.parent.glob("*.py")]
    advice = did_you_mean(name, hooks, "name the case file like the hook or settings file that it tests")
    raise CaseError(f"no `{name}.py` was found next to it", where=str(file), advice=advice)


def hook_files(path: Path) -> list[Path]:
    """Return the Python and settings files of hooks at a path: the file itself, or those in and below a folder."""
    if not path.is_dir():
        return [path] if path.suffix in (".py", ".toml", ".json") and not path.name.endswith((ENDING, MANIFEST)) else []
    found: list[Path] = []
    for here, files in _walk(path):
        python = [name for name in files if name.endswith(".py") and not name.startswith(("_", ".", "test_"))]
        has_hooks = MANIFEST in files or (here.name == "hooks" and (here.parent.name == FOLDER or here == path))
        settings = [name for name in files if name in _SETTINGS] if here.name == FOLDER else []
        found += [here / name for name in (python if has_hooks else settings)]
    return found


def _case_files_below(folder: Path) -> list[Path]:
    return [here / name for here, files in _walk(folder) for name in files if name.endswith(ENDING)]


def _walk(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    for here, folders, files in os.walk(folder):
        searched = {name for name in folders if not name.startswith(".")} - _SKIPPED
        folders[:] = sorted(searched | _HIDDEN_BUT_SEARCHED.intersection(folders))
        yield Path(here), sorted(files)


def _files_read_by(file: Path) -> Iterator[Path]:
    """Yield the file, and of a case file also what it tests, for a pack its files."""
    yield file
    if not file.name.endswith(ENDING):
        return
    try:
        subject = subject_of(file)
    except CaseError:
        return  # running the case reports it
    yield subject
    if subject.is_dir():
        yield from subject.iterdir()


def _why_foreign(path: Path, root: Path, shown: Path) -> str:
    """Return why a file is not the project's own, by its real path; empty if it is."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(root):
        return "is outside the project"
    inner = real.relative_to(root).parents
    for folder in (root / each for each in inner if each.parts):
        marks = any(os.path.lexists(folder / name) for name in _REPOSITORIES) or (folder / FOLDER).is_dir()
        if marks or folder.name in _SKIPPED:
            return f"belongs to `{shown / folder.relative_to(root)}`"
    return ""
