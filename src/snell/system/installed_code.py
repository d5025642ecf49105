"""
Compare the installed program with the wheel's list of its files (RECORD).

It finds a change that was made by mistake or without care. A program of the same user could change the list too.
"""

import base64
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from snell.model.errors import SnellError
from snell.system.files import read_capped

LARGEST = 64 * 1024 * 1024
SHOWN = 3
_RUN = (".py", ".so", ".pth", ".pyc")  # what Python would run, so that an added file matters


class ChangedCodeError(SnellError, id="changed-code"):
    """The installed program is not the one that was installed."""


class CodeCheck(Struct, frozen=True):
    """What a comparison found: the files that differ, or why there is nothing to compare with."""

    changed: tuple[str, ...] = ()
    number: int = 0  # of the files that were compared
    exempt: str = ""

    @property
    def error(self) -> ChangedCodeError | None:
        if not self.changed:
            return None
        more = f" and {len(self.changed) - SHOWN} more" if len(self.changed) > SHOWN else ""
        files = ", ".join(f"`{name}`" for name in self.changed[:SHOWN])
        message = f"the installed code of Snell differs from what was installed: {files}{more}"
        return ChangedCodeError(message, advice="install Snell again, and find out what changed it")


def check_code(package: Path | None = None) -> CodeCheck:
    """Compare the files of the installation that this package belongs to; by default the running one."""
    package = package or Path(__file__).parents[1]
    site = package.parent
    lists = sorted(site.glob("snell-*.dist-info"))
    if not lists:
        return CodeCheck(exempt="an editable install, or a copy of the source: there is no list to compare with")
    if any(map(_is_editable, lists)):
        return CodeCheck(exempt="an editable install: its files may change")
    try:
        rows = [line.rsplit(",", 2) for each in lists for line in (each / "RECORD").read_text("utf-8").splitlines()]
    except (OSError, ValueError) as error:
        return CodeCheck(changed=(f"RECORD ({error})",))
    # Names with a comma or a quotation mark are in quotation marks. The module `csv` would stay in memory.
    listed = {row[0].strip('"').replace('""', '"'): row[1] for row in rows if len(row) == 3}
    hashed = {name: value for name, value in listed.items() if value}
    changed = [name for name, value in hashed.items() if not _is_same(site / name, value)]
    changed += [name for name in _files_that_run(package) if name not in listed]
    return CodeCheck(tuple(sorted(changed)), len(hashed))


def _is_editable(folder: Path) -> bool:
    try:
        return bool(json.loads((folder / "direct_url.json").read_bytes())["dir_info"]["editable"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _is_same(path: Path, listed: str) -> bool:
    algorithm, _, value = listed.partition("=")
    try:
        found = hashlib.new(algorithm, read_capped(path, LARGEST), usedforsecurity=True).digest()
    except (OSError, SnellError, ValueError):
        return False
    return base64.urlsafe_b64encode(found).rstrip(b"=").decode() == value.rstrip("=")


def _files_that_run(package: Path) -> Iterator[str]:
    """Yield the names of all files below the package that Python may run; its own cache aside."""
    for folder, folders, files in os.walk(package):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (
            os.path.relpath(os.path.join(folder, name), package.parent) for name in files if name.endswith(_RUN)
        )
