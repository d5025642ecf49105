"""Create a hook, a pack or a client from a template that works and has passing cases."""

import argparse
import os
import shlex
from importlib import import_module
from pathlib import Path

from snell.model.errors import SnellError
from snell.settings.locate import FOLDER, home_of, locate
from snell.settings.packs import read_pack
from snell.setup.edit_toml import toml_value
from snell.system.paths import places
from snell.testing import scaffold


def run(args: argparse.Namespace) -> int:
    if args.what == "case":
        return int(import_module("snell.replay.case").run(args))
    if args.what == "client":
        return _client(args.name)
    return _hook(args) if args.what == "hook" else _pack(args.name)


def _hook(args: argparse.Namespace) -> int:
    hook = scaffold.new_hook(args.name, args.event, args.kind, args.role)
    folder = Path(args.pack) if args.pack else _project_folder()
    if args.pack:
        read_pack(folder)  # raises if it is not a pack
    files = scaffold.files_of_hook(hook, folder)
    scaffold.write_new(files)
    test = (f"snell test {shlex.quote(str(folder / f'{hook.name}.py'))}", "run its cases")
    fire = scaffold.fire_command(hook)
    if args.pack:
        _print_steps(files, test, (fire, "try it, after the pack is enabled"))
        _print_settings(folder)
    else:
        _print_steps(files, test, ("snell trust", "approve it, so that it runs"), (fire, "try it"))
    return 0


def _pack(name: str) -> int:
    folder = Path(scaffold.checked_name(name, "pack"))
    if os.path.lexists(folder):
        raise SnellError(f"`{folder}` already exists", advice=f"add to it with `snell new hook NAME --pack {folder}`")
    files = scaffold.files_of_pack(name, folder)
    scaffold.write_new(files)
    _print_steps(
        files,
        (f"snell test {shlex.quote(str(folder))}", "run its cases"),
        (f"snell new hook NAME --pack {shlex.quote(str(folder))}", "add another hook"),
    )
    _print_settings(folder)
    return 0


def _client(name: str) -> int:
    files = scaffold.files_of_client(name, Path("."))
    scaffold.write_new(files)
    print(f"added `{name}` to {scaffold.add_to_registry(name, Path('.'))}; add its aliases there")
    _print_steps(
        files,
        (f"python3 dev.py test tests/golden tests/contracts -k {name}", "check its module and its golden file"),
        (f"snell setup {name.replace('_', '-')} --print", "show what set-up would write"),
        ("python3 dev.py docs", "generate the pages and the table of snell-hook again"),
    )
    return 0


def _project_folder() -> Path:
    """Return `.snell/hooks` of the project: of the nearest `.snell`, else of the repository, else of this folder."""
    here = Path.cwd()
    project = locate(places(os.environ), here, os.environ).project
    above = (folder for folder in (here, *here.parents) if (folder / ".git").exists())
    root = project.root if project else next(above, here)
    if os.path.realpath(root) in (os.path.realpath(home_of(os.environ)), "/"):
        advice = "change to a project, or write into a pack with `--pack DIR`"
        raise SnellError(f"`{root}` cannot be a project: hooks in it would never run", advice=advice)
    return Path(os.path.relpath(root / FOLDER / "hooks", here))


def _print_steps(files: scaffold.Files, *steps: tuple[str, str]) -> None:
    for path in files:
        print(f"wrote {path}")
    print("next:")
    width = max(len(command) for command, _ in steps)
    for command, why in steps:
        print(f"  {command:<{width}}  # {why}")


def _print_settings(folder: Path) -> None:
    """Print the setting that enables a pack."""
    settings = places(os.environ).config / "snell.toml"
    print(f"to enable the pack in every project, write at the top of {settings}:")
    print(f"  packs = [{toml_value(str(folder.absolute()))}]")
