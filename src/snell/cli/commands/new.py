"""Create a hook, a pack or a client from a template that works and has passing cases."""

import argparse
import os
import shlex
from collections.abc import Iterable
from pathlib import Path

from snell.model.errors import SnellError
from snell.settings.locate import FOLDER, home_of, locate
from snell.settings.pack_manifest import read_pack
from snell.system.paths import places
from snell.testing.scaffold import (
    ROLES,
    Files,
    checked_name,
    files_of_hook,
    files_of_pack,
    fire_command,
    new_hook,
    write_new,
)
from snell.testing.scaffold_client import add_to_registry, files_of_client

EXAMPLE = "snell new hook no_force_push --event PreToolUse --kind shell"


def arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    hook = what.add_parser("hook", help="a hook and its cases", description="Create a hook and its cases.")
    hook.epilog = "example: snell new hook no_secrets --event UserPromptSubmit"
    hook.add_argument("name", help="the hook's name, a Python identifier such as no_force_push")
    hook.add_argument("--pack", metavar="DIR", help="write it into this pack (default: the project's .snell/hooks)")
    hook.add_argument("--event", default="PreToolUse", help="the event it reacts to (default: PreToolUse)")
    hook.add_argument("--kind", default="", help="the kind of tool (default: shell, for events of tools)")
    hook.add_argument("--role", default="", help=f"{', '.join(ROLES)} (default: the first that the event supports)")
    pack = what.add_parser("pack", help="a folder of hooks", description="Create a pack with one hook and its cases.")
    pack.epilog = "example: snell new pack tidy"
    pack.add_argument("name", help="the pack's name, a Python identifier; also the name of the folder")
    client = what.add_parser(
        "client", help="a client", description="Create a client's module, registry line and golden file."
    )
    client.epilog = "example: snell new client my_agent"
    client.add_argument("name", help="the client's name, a Python identifier; run this in a clone of Snell")


def run(args: argparse.Namespace) -> int:
    if args.what == "client":
        return _client(args.name)
    return _hook(args) if args.what == "hook" else _pack(args.name)


def _hook(args: argparse.Namespace) -> int:
    hook = new_hook(args.name, args.event, args.kind, args.role)
    folder = _pack_folder(args.pack) if args.pack else _project_folder()
    files = files_of_hook(hook, folder)
    write_new(files)
    test = (f"snell test {_quote(folder / f'{hook.name}.py')}", "run its cases")
    fire = fire_command(hook)
    if args.pack:
        _print_steps(files, test, (fire, "try it, after the pack is enabled"))
        _print_settings(folder)
    else:
        _print_steps(files, test, ("snell trust", "approve it, so that it runs"), (fire, "try it"))
    return 0


def _pack(name: str) -> int:
    folder = Path(checked_name(name, "pack"))
    if os.path.lexists(folder):
        raise SnellError(f"`{folder}` already exists", advice=f"add to it with `snell new hook NAME --pack {folder}`")
    files = files_of_pack(name, folder)
    write_new(files)
    _print_steps(
        files,
        (f"snell test {_quote(folder)}", "run its cases"),
        (f"snell new hook NAME --pack {_quote(folder)}", "add another hook"),
    )
    _print_settings(folder)
    return 0


def _client(name: str) -> int:
    files = files_of_client(name, Path("."))
    write_new(files)
    print(f"added `{name}` to {add_to_registry(name, Path('.'))}; add its aliases there")
    _print_steps(
        files,
        (f"python3 dev.py test tests/golden tests/contracts -k {name}", "check its module and its golden file"),
        (f"snell setup {name.replace('_', '-')} --print", "show what set-up would write"),
        ("python3 dev.py docs", "generate the pages and the table of snell-hook again"),
    )
    return 0


def _pack_folder(given: str) -> Path:
    folder = Path(given)
    read_pack(folder)
    return folder


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


def _print_steps(files: Files, *steps: tuple[str, str]) -> None:
    for path in files:
        print(f"wrote {path}")
    print("next:")
    width = max(len(command) for command, _ in steps)
    for line in _lines(steps, width):
        print(line)


def _print_settings(folder: Path) -> None:
    """Print the setting that enables a pack."""
    settings = places(os.environ).config / "snell.toml"
    print(f"to enable the pack in every project, write at the top of {settings}:")
    print(f"  packs = [{_toml_text(str(folder.absolute()))}]")


def _lines(steps: Iterable[tuple[str, str]], width: int) -> Iterable[str]:
    return (f"  {command:<{width}}  # {why}" for command, why in steps)


def _quote(path: Path) -> str:
    return shlex.quote(str(path))


def _toml_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
