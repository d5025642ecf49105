"""Find the settings files of a working directory, by their names; no file is opened."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from snell.model.hooks import Scope
from snell.settings.client_hook_files import CLIENT_FORMATS, project_files, user_files
from snell.settings.skill_files import documents_in, usual_name
from snell.settings.skill_folders import KINDS, Kind, project_folders
from snell.system.files import names_in, stat_or_none
from snell.system.paths import POLICY_FILE, Places

FOLDER = ".snell"
NOTES = "LOCAL.md"  # notes of a project for the model, if the user trusts it
MISSION = "mission.json"  # the plan of an agent that is sent back until its work is done


class SettingsFile(Struct, frozen=True):
    path: Path
    layer: str
    scope: Scope = Scope.SESSION
    must_exist: bool = False  # the environment names it, so it is an error when it is missing
    is_foreign: bool = False  # a file of another client
    is_added: bool = False  # a policy file that the environment adds to the machine's own


class Project(Struct, frozen=True):
    """The nearest folder above the working directory that has a `.snell` folder, by its real path."""

    root: Path
    settings: tuple[SettingsFile, ...] = ()
    python: tuple[Path, ...] = ()
    identity: str = ""  # device and inode of the root: a folder that replaced it is another project

    @property
    def has_content(self) -> bool:
        return bool(self.python) or any(os.path.lexists(file.path) for file in self.settings)


class Located(Struct, frozen=True):
    policy: tuple[SettingsFile, ...]
    user: tuple[SettingsFile, ...]
    imported: tuple[SettingsFile, ...]  # read only if `import_hooks` names the client
    project: Project | None
    looked_for: tuple[Path, ...]  # a change of any of these may change the result
    python: tuple[Path, ...] = ()  # the user's own, which need no approval


def locate(places: Places, cwd: Path, env: Mapping[str, str], policy_files: Sequence[Path] = (POLICY_FILE,)) -> Located:
    """Return every settings file for this working directory, in execution order."""
    home = home_of(env)
    folders = list(_candidates(cwd, home))
    clients = ((name, path) for name in CLIENT_FORMATS for path in user_files(name, home, env))
    root = next((folder for folder in folders if os.path.isdir(folder / FOLDER)), None)
    looked_for = folders[: folders.index(root) + 1] if root else folders
    return Located(
        policy=_policy(env, policy_files),
        user=_settings_files(places.config, ("snell.toml", "snell.json", "hooks.toml"), "user"),
        imported=tuple(SettingsFile(path, f"{name}:user", is_foreign=True) for name, path in clients),
        project=project_at(root) if root else None,
        looked_for=tuple(folder / FOLDER for folder in looked_for),
        python=_python_files(places.config / "hooks"),
    )


def folder_with_texts(cwd: Path, env: Mapping[str, str]) -> Path | None:
    """Return the nearest folder with texts for the model, or agents, for a project that has no `.snell` folder."""
    return next((folder for folder in _candidates(cwd, home_of(env)) if texts_in(folder, KINDS)), None)


def texts_in(root: Path, kinds: Iterable[Kind] = ("skills",)) -> dict[str, list[str]]:
    """Return what a project brings for the model: its notes, its mission, folders of skills with the skills' names."""
    files: dict[str, list[str]] = {name: [] for name in (NOTES, MISSION) if os.path.isfile(root / name)}
    folders = [(folder, kind) for kind in kinds for folder in project_folders(str(root), kind)]
    listed = {folder: [usual_name(path) for path in documents_in(folder, kind)] for folder, kind in folders}
    return files | {os.path.relpath(folder, root): names for folder, names in listed.items() if names}


def project_at(root: Path) -> Project:
    """Return the project in this folder, with the names of its files."""
    root = Path(os.path.realpath(root))
    folder = root / FOLDER
    return Project(
        root,
        settings=(
            *_settings_files(folder, ("snell.toml", "snell.json"), "project"),
            *_settings_files(folder, ("snell.local.toml", "snell.local.json"), "local"),
        ),
        python=_python_files(folder / "hooks"),
        identity=_identity(root),
    )


def with_imports(project: Project, names: Iterable[str]) -> Project:
    """Return the project with the hook files of these clients, which also need approval."""
    files = tuple(
        SettingsFile(path, f"{name}:project", is_foreign=True)
        for name in sorted(names)
        for path in project_files(name, project.root)
    )
    return replace(project, settings=(*project.settings, *files)) if files else project


def _identity(root: Path) -> str:
    found = stat_or_none(root)
    return f"{found.st_dev}:{found.st_ino}" if found else ""  # if it was removed meanwhile: no approval has that


def home_of(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or os.path.expanduser("~"))


def _candidates(cwd: Path, home: Path) -> Iterator[Path]:
    """Yield the folders that may be a project's root; the home directory and `/` cannot."""
    if not os.path.isabs(cwd) or "\0" in str(cwd):
        return  # invalid; the working directory of this process is not the project
    here, end = Path(os.path.realpath(cwd)), Path(os.path.realpath(home))
    for folder in (here, *here.parents):
        if folder == end or folder == folder.parent:
            return
        yield folder


def _policy(env: Mapping[str, str], policy_files: Sequence[Path]) -> tuple[SettingsFile, ...]:
    own = [SettingsFile(path, "policy", Scope.POLICY) for path in policy_files]
    added = Path(os.sep, env.get("SNELL_POLICY", ""))  # from `/`: it must not depend on a working directory
    if not env.get("SNELL_POLICY") or added in policy_files:
        return tuple(own)
    return (*own, SettingsFile(added, "policy", Scope.POLICY, must_exist=True, is_added=True))


def _settings_files(folder: Path, names: Sequence[str], layer: str) -> tuple[SettingsFile, ...]:
    return tuple(SettingsFile(folder / name, layer) for name in names)


def _python_files(folder: Path) -> tuple[Path, ...]:
    names = sorted(names_in(folder))
    return tuple(folder / name for name in names if name.endswith(".py") and not name.startswith(("_", ".")))
