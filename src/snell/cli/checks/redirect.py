"""What would a command become in a project with these files?"""

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

from snell.cli.checks import text_in
from snell.cli.checks.pack_options import options_here
from snell.model.errors import SnellError
from snell.packs.toolchain.rewrite_line import Redirection, redirect_command

EXAMPLE = "snell check redirect 'npm test -- --watch'"
ROWS = "{id, files: {name: text}, cwd?, command}"
ANSWER = "{command, why}; the command is null where it stays as it is"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("command", nargs="?", help="the command line; the project is the one of this folder")


def ask(row: dict[str, Any]) -> dict[str, Any]:
    command = text_in(row, "command")
    with tempfile.TemporaryDirectory(prefix="snell-check-") as folder:
        root = os.path.realpath(folder)
        _lay_out(row.get("files") or {}, Path(root))
        folder = str(_inside(Path(root), text_in(row, "cwd", "")))
        came = redirect_command(options_here("toolchain"), command, folder, ceiling=root)
    return {"command": came.command, "why": came.why}


def answer(args: argparse.Namespace) -> dict[str, Any]:
    came = _redirected_here(args)
    return {"command": came.command, "why": came.why}


def show(args: argparse.Namespace) -> int:
    came = _redirected_here(args)
    print(came.command if came.command is not None else args.command)
    print(f"  {'changed' if came.command is not None else 'unchanged'}: {came.why}")
    return 0


def _redirected_here(args: argparse.Namespace) -> Redirection:
    if args.command is None:
        raise SnellError("give a command", advice=f"for example: {EXAMPLE}")
    return redirect_command(options_here("toolchain"), args.command, os.getcwd())


def _lay_out(files: Any, root: Path) -> None:
    if not isinstance(files, dict):
        raise SnellError("`files` is not an object of names and texts")
    for name, text in files.items():
        path = _inside(root, name)
        try:
            (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
            if name.endswith("/"):
                continue  # a folder
            path.write_text(text if isinstance(text, str) else "", encoding="utf-8", errors="replace")
        except OSError as error:
            raise SnellError(f"`{name[:80]}` cannot be a file here: {error.strerror}") from None


def _inside(root: Path, name: str) -> Path:
    path = Path(os.path.normpath(root / name.lstrip("/")))
    if not path.is_relative_to(root) or "\0" in name:
        raise SnellError(f"`{name[:80]}` leads out of the project")
    return path
