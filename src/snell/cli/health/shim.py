"""The program that clients start: whether it is installed, executable and native."""

import os
import shutil
import stat
import struct
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from snell.cli.health import Check, Installation
from snell.system.files import read_capped
from snell.system.optional_packages import installed_from

LARGEST = 4 * 1024 * 1024
_PROGRAM_HEADERS = struct.Struct("<32xQ14xHH")  # offset, size of each, number
_NEEDS_LOADER = 3


def checks(installation: Installation) -> Iterator[Check]:
    path = shim_path(installation.env)
    if path is None:
        source = installed_from()
        advice = f"install Snell again{f' from `{source}`' if source else ', the way you installed it'}"
        yield Check("snell-hook", "fail", "not found", advice)
        return
    kind = kind_of(read_capped(path, LARGEST))
    if not os.access(path, os.X_OK):
        yield Check("snell-hook", "fail", f"{path} is not executable", f"`chmod 755 {path}`")
    elif kind == "native, static":
        yield Check("snell-hook", "ok", f"{path}, {kind}")
    elif kind == "native":
        yield Check("snell-hook", "ok", f"{path}, {kind}, dynamically linked")
    else:
        advice = "install a C compiler and then Snell again, or a wheel for this platform"
        yield Check("snell-hook", "warn", f"{path} is the slower Python version", advice)
    yield from _writable_by_others(path)


def shim_path(env: Mapping[str, str]) -> Path | None:
    """Return `snell-hook` of this installation, else the first on the PATH."""
    beside = Path(sys.executable).with_name("snell-hook")
    if beside.exists():
        return beside
    found = shutil.which("snell-hook", path=env.get("PATH"))
    return Path(found) if found else None


def kind_of(data: bytes) -> str:
    if data[:4] != b"\x7fELF":
        return "native" if data[:4] in _MACH_O else "stand-in"
    start, length, number = _PROGRAM_HEADERS.unpack_from(data)
    headers = (data[start + length * each :][:4] for each in range(number))
    return "native" if any(int.from_bytes(each, "little") == _NEEDS_LOADER for each in headers) else "native, static"


_MACH_O = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")


def _writable_by_others(path: Path) -> Iterator[Check]:
    mode = os.stat(path).st_mode
    if mode & stat.S_IWOTH:
        yield Check("snell-hook", "fail", f"{path} is writable by all users", f"`chmod o-w {path}`")
