"""A machine with every client on it, in a folder."""

import os
from pathlib import Path

from snell.clients import client_names
from snell.model.installs import Install
from snell.setup.config_formats import Programs
from snell.setup.file_changes import install, plan_change, plan_removal, uninstall
from snell.setup.plan import Options, Site, find_install, plan
from snell.system.paths import Places

PROGRAMS = Programs("/opt/my tools/snell-hook", "/opt/my tools/snell")


def site_in(folder: Path, **env: str) -> Site:
    home, project = folder / "home", folder / "project"
    home.mkdir(exist_ok=True)
    project.mkdir(exist_ok=True)
    return Site(home, project, PROGRAMS, env)


def places_in(folder: Path) -> Places:
    return Places(folder / "config", folder / "state", folder / "run")


def every_install() -> list[Install]:
    return [find_install(name) for name in client_names()]


def set_up(client: Install, options: Options, site: Site, state: Path) -> None:
    for change in [plan_change(file) for file in plan(client, options, site)]:
        install(change, client.name, state)


def take_out(client: Install, options: Options, site: Site, state: Path) -> None:
    for change in [plan_removal(file, {client.name}, state) for file in plan(client, options, site)]:
        uninstall(change, client.name, state)


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file, folder and link below: its mode, and its bytes."""
    found = {}
    for root, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(root, name)
            content = b"" if path.is_dir() else os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            found[str(path.relative_to(folder))] = (path.lstat().st_mode, content)
    return found
