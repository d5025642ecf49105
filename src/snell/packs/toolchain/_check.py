"""Show how the toolchain pack would rewrite a command in a project with given files."""

import os
import tempfile
from pathlib import Path
from typing import Any

from snell.model.errors import SnellError
from snell.packs.toolchain.rewrite_line import redirect_command
from snell.settings.check_rows import Row, options_of_pack, text_in


def check_row(row: Row) -> Row:
    """Rewrite the command of one row, in a temporary project with its files; one of the command line in its folder."""
    command, options = text_in(row, "command"), options_of_pack("toolchain")
    if "here" in row:
        result = redirect_command(options, command, row["here"])
        return {"command": result.command, "why": result.why}
    with tempfile.TemporaryDirectory(prefix="snell-check-") as folder:
        root = os.path.realpath(folder)
        _write_files(row.get("files") or {}, Path(root))
        result = redirect_command(options, command, str(_inside(Path(root), text_in(row, "cwd", ""))), ceiling=root)
    return {"command": result.command, "why": result.why}


def lines(row: Row, answer: Row) -> list[str]:
    """Return the command as it would run, and why."""
    is_changed = answer["command"] is not None
    first = answer["command"] if is_changed else row["command"]
    return [first, f"  {'changed' if is_changed else 'unchanged'}: {answer['why']}"]


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
