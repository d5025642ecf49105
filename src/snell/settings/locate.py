"""Which settings files there are, and whose they are. Looks at names only, and opens nothing."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from snell.model.hooks import Scope
from snell.settings.client_hook_files import FORMS, project_files, user_files
from snell.system.paths import POLICY_FILE, Places

FOLDER = ".snell"
NOTES = "LOCAL.md"  # what a project tells the model, if a person trusts it


class SettingsFile(Struct, frozen=True):
    path: Path
    layer: str
    scope: Scope = Scope.SESSION
    must_exist: bool = False  # somebody named it, so its absence is a fault
    is_foreign: bool = False  # another program's file
    is_added: bool = False  # a policy that the environment adds to the machine's own


class Project(Struct, frozen=True):
    """The nearest folder above the working directory that has a `.snell`, by its real path."""

    root: Path
    settings: tuple[SettingsFile, ...] = ()
    python: tuple[Path, ...] = ()
    identity: str = ""  # device and inode of the root: a folder that replaced it is another project

    @property
    def brings_anything(self) -> bool:
        return bool(self.python) or any(os.path.lexists(file.path) for file in self.settings)


class Located(Struct, frozen=True):
    policy: tuple[SettingsFile, ...]
    user: tuple[SettingsFile, ...]
    imported: tuple[SettingsFile, ...]  # read only if `import_hooks` says so
    project: Project | None
    looked_for: tuple[Path, ...]  # a change of any of these may change what is found


def locate(places: Places, cwd: Path, env: Mapping[str, str], policy_files: Sequence[Path] = (POLICY_FILE,)) -> Located:
    """Every settings file that counts for this working directory, in book order."""
    folders = list(_candidates(cwd, home_of(env)))
    root = next((folder for folder in folders if os.path.isdir(folder / FOLDER)), None)
    looked_for = folders[: folders.index(root) + 1] if root else folders
    return Located(
        policy=_policy(env, policy_files),
        user=_files(places.config, ("snell.toml", "snell.json", "hooks.toml"), "user"),
        imported=_foreign(env),
        project=project_at(root) if root else None,
        looked_for=tuple(folder / FOLDER for folder in looked_for),
    )


def folder_with_notes(cwd: Path, env: Mapping[str, str]) -> Path | None:
    """The nearest folder with notes for the model, for a project that brings nothing else."""
    return next((folder for folder in _candidates(cwd, home_of(env)) if os.path.isfile(folder / NOTES)), None)


def project_at(root: Path) -> Project:
    """What a project would bring, by name."""
    root = Path(os.path.realpath(root))
    folder = root / FOLDER
    return Project(
        root,
        settings=(
            *_files(folder, ("snell.toml", "snell.json"), "project"),
            *_files(folder, ("snell.local.toml", "snell.local.json"), "local"),
        ),
        python=_python_files(folder / "hooks"),
        identity=_identity(root),
    )


def with_imports(project: Project, names: Iterable[str]) -> Project:
    """The project with the hook files of these clients; they need approval like everything that it brings."""
    files = tuple(
        SettingsFile(path, f"{name}:project", is_foreign=True)
        for name in sorted(names)
        for path in project_files(name, project.root)
    )
    return replace(project, settings=(*project.settings, *files)) if files else project


def _identity(root: Path) -> str:
    try:
        found = os.stat(root)
    except OSError:
        return ""  # gone meanwhile; no approval has this identity
    return f"{found.st_dev}:{found.st_ino}"


def home_of(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or os.path.expanduser("~"))


def _candidates(cwd: Path, home: Path) -> Iterator[Path]:
    """The folders that may be a project's root; neither the home directory nor the root of the disk can be."""
    if not os.path.isabs(cwd) or "\0" in str(cwd):
        return  # a client sent nonsense; the working directory of this process is nobody's project
    here, end = Path(os.path.realpath(cwd)), Path(os.path.realpath(home))
    for folder in (here, *here.parents):
        if folder == end or folder == folder.parent:
            return
        yield folder


def _policy(env: Mapping[str, str], policy_files: Sequence[Path]) -> tuple[SettingsFile, ...]:
    own = [SettingsFile(path, "policy", Scope.POLICY) for path in policy_files]
    added = Path(os.sep, env.get("SNELL_POLICY", ""))  # from the root: nobody's working directory may decide
    if not env.get("SNELL_POLICY") or added in policy_files:
        return tuple(own)
    return (*own, SettingsFile(added, "policy", Scope.POLICY, must_exist=True, is_added=True))


def _files(folder: Path, names: Sequence[str], layer: str) -> tuple[SettingsFile, ...]:
    return tuple(SettingsFile(folder / name, layer) for name in names)


def _foreign(env: Mapping[str, str]) -> tuple[SettingsFile, ...]:
    home = home_of(env)
    return tuple(
        SettingsFile(path, f"{name}:user", is_foreign=True) for name in FORMS for path in user_files(name, home, env)
    )


def _python_files(folder: Path) -> tuple[Path, ...]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()
    return tuple(folder / name for name in names if name.endswith(".py") and not name.startswith(("_", ".")))
