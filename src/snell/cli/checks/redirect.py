"""Show how the toolchain pack would rewrite a command in a project with given files."""

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

from snell.cli.checks import options_of_pack, text_in
from snell.model.errors import SnellError
from snell.packs.toolchain.rewrite_line import Redirection, redirect_command

EXAMPLE = "snell check redirect 'npm test -- --watch'"
ROWS = "{id, files: {name: text}, cwd?, command}"
ANSWER = "{command, why}; the command is null if it is not rewritten"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("command", nargs="?", help="the command line, as run in the current folder")


def check_row(row: dict[str, Any]) -> dict[str, Any]:
    """Rewrite the command of one row, in a temporary project with its files."""
    command = text_in(row, "command")
    with tempfile.TemporaryDirectory(prefix="snell-check-") as folder:
        root = os.path.realpath(folder)
        _write_files(row.get("files") or {}, Path(root))
        folder = str(_inside(Path(root), text_in(row, "cwd", "")))
        result = redirect_command(options_of_pack("toolchain"), command, folder, ceiling=root)
    return {"command": result.command, "why": result.why}


def check_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """Rewrite the command on the command line, in the current folder."""
    result = _redirect_args(args)
    return {"command": result.command, "why": result.why}


def print_result(args: argparse.Namespace) -> int:
    """Print the command as it would run, and why."""
    result = _redirect_args(args)
    print(result.command if result.command is not None else args.command)
    print(f"  {'changed' if result.command is not None else 'unchanged'}: {result.why}")
    return 0


def _redirect_args(args: argparse.Namespace) -> Redirection:
    if args.command is None:
        raise SnellError("no command was given", advice=f"for example: {EXAMPLE}")
    return redirect_command(options_of_pack("toolchain"), args.command, os.getcwd())


def _write_files(files: Any, root: Path) -> None:
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
            raise SnellError(f"`{name[:80]}` cannot be created: {error.strerror}") from None


def _inside(root: Path, name: str) -> Path:
    path = Path(os.path.normpath(root / name.lstrip("/")))
    if not path.is_relative_to(root) or "\0" in name:
        raise SnellError(f"`{name[:80]}` is outside the project")
    return path
