"""
Which case files a path stands for, and what each of them tests: what stands beside it under the same name.

    no_force_push.cases.toml    the hooks of no_force_push.py
    snell.cases.toml            the hooks of snell.toml (or snell.json)
    any other, in a pack        all hooks of the pack together

INVARIANT: a case means the same whichever way it was reached, by its file, its hook or a folder above.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from snell.settings.locate import FOLDER
from snell.settings.pack_manifest import MANIFEST
from snell.testing.case_errors import CaseError, did_you_mean
from snell.testing.cases import ENDING

# Folders in which nobody keeps case files of their own; hidden ones are left out too.
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})
_HIDDEN_BUT_OURS = frozenset({FOLDER, ".claude"})
_REPOSITORIES = (".git", ".hg", ".jj")  # what the root of a repository, a worktree or a submodule has


class LeftOut(Struct, frozen=True):
    """A case file that does not belong to the project, and why."""

    file: Path
    why: str


def case_files(path: Path) -> list[Path]:
    """The case files that a path stands for. Raises CaseError when it cannot stand for any."""
    if path.is_dir():
        return _below(path)
    if not path.exists():
        raise CaseError(f"there is no `{path}`", advice="name a case file, a hook, a settings file or a folder")
    if path.name == MANIFEST:
        return _below(path.parent)
    return [path if path.name.endswith(ENDING) else _beside(path)]


def own_case_files(root: Path, shown: Path) -> tuple[list[Path], list[LeftOut]]:
    """
    The case files in a project's `.snell` that are its own, and those that are not, with `shown` in place of the root.

    A repository or project below this one, and a link that leads out of it, was not written by the project's author.
    """
    root = Path(os.path.realpath(root))
    own, left_out = [], []
    for file in _below(root / FOLDER):
        name = shown / file.relative_to(root)
        if why := next(filter(None, (_why_foreign(path, root, shown) for path in _loaded_by(file))), ""):
            left_out.append(LeftOut(name, why))
        else:
            own.append(name)
    return own, left_out


def subject_of(file: Path) -> Path:
    """What a case file tests: a Python file, a settings file or the folder of a pack. Raises CaseError."""
    name = file.name.removesuffix(ENDING)
    for subject in (file.with_name(f"{name}{suffix}") for suffix in (".py", ".toml", ".json")):
        if subject.is_file() and subject.name != MANIFEST:
            return subject
    if file.with_name(MANIFEST).is_file():
        return file.parent
    hooks = [path.stem for path in file.parent.glob("*.py")]
    advice = did_you_mean(name, hooks, "a case file has the name of the hook or settings file that it tests")
    raise CaseError(f"there is no `{name}.py` beside it to test", where=str(file), advice=advice)


def _below(folder: Path) -> list[Path]:
    found = []
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if _may_hold_cases(name))
        found += [Path(here, name) for name in sorted(files) if name.endswith(ENDING)]
    return found


def _loaded_by(file: Path) -> Iterator[Path]:
    """The case file, what it tests, and the files of the pack that it tests."""
    yield file
    try:
        subject = subject_of(file)
    except CaseError:
        return  # running the case says so
    yield subject
    if subject.is_dir():
        yield from subject.iterdir()


def _why_foreign(path: Path, root: Path, shown: Path) -> str:
    """Why a file is not the project's own, by its real path; empty when it is."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(root):
        return "leads out of the project"
    inner = real.relative_to(root).parents
    for folder in (root / each for each in inner if each.parts):
        marks = any(os.path.lexists(folder / name) for name in _REPOSITORIES) or (folder / FOLDER).is_dir()
        if marks or folder.name in _SKIPPED:
            return f"belongs to `{shown / folder.relative_to(root)}`"
    return ""


def _may_hold_cases(folder: str) -> bool:
    return folder in _HIDDEN_BUT_OURS or not (folder.startswith(".") or folder in _SKIPPED)


def _beside(path: Path) -> Path:
    if path.suffix not in (".py", ".toml", ".json"):
        raise CaseError(f"`{path}` has no cases", advice=f"hooks are in .py, .toml or .json files, cases in *{ENDING}")
    cases = path.with_name(f"{path.stem}{ENDING}")
    if not cases.is_file():
        raise CaseError(f"`{path}` has no cases", advice=f"write them beside it, in `{cases.name}`")
    return cases
