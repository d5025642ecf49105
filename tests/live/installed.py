"""The real clients from npm, each installed once into the user's cache directory."""

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from msgspec import Struct

INSTALL_SECONDS = 400


class Package(Struct, frozen=True):
    """What npm calls a client; `beside` are further packages that it needs to run."""

    name: str
    version: str
    beside: tuple[str, ...] = ()
    has_scripts: bool = False  # does it fetch or place its program when it is installed?


class NotHere(Exception):  # noqa: N818 - it is a reason, not an error
    """Why a client cannot be had on this machine."""


def install_package(package: Package) -> Path:
    """The folder with the package's `node_modules`; raises NotHere."""
    folder = cache() / f"{package.name.replace('/', '+')}-{package.version}"
    if (folder / "node_modules" / package.name / "package.json").is_file():
        return folder
    if not shutil.which("node") or not shutil.which("npm"):
        raise NotHere("there is no npm on this machine")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another test run may be at it
        if not folder.exists():
            _install(package, folder)
    return folder


def version_of(folder: Path, package: Package) -> str:
    return json.loads((folder / "node_modules" / package.name / "package.json").read_bytes())["version"]


def cache() -> Path:
    chosen = os.environ.get("SNELL_LIVE_CACHE")
    usual = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(chosen) if chosen else Path(usual) / "snell-live"


def _install(package: Package, folder: Path) -> None:
    """Beside its place and then renamed: an install that was cut short is never taken for a whole one."""
    partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".partial-"))
    try:
        _npm_install(package, partial)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _npm_install(package: Package, folder: Path) -> None:
    (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
    quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
    scripts = [] if package.has_scripts else ["--ignore-scripts"]
    command = ["npm", "install", *quiet, *scripts, f"{package.name}@{package.version}", *package.beside]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotHere(f"npm could not install it: {type(error).__name__}") from None
    if done.returncode:
        said = next((line for line in done.stderr.splitlines() if line.strip()), "it did not say why")
        raise NotHere(f"npm could not install it: {said[:120]}")
