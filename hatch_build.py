"""
Put `snell-hook` into the wheel: a native program where there is a C compiler, else a script that runs its Python twin.

A native one makes the wheel one for this platform, whatever the Python; SNELL_NO_SHIM=1 asks for the script.

On Linux the program is linked statically, most often without any C library in it, so it runs wherever the kernel does.
The wheel says so with the names that installers look for: manylinux (glibc, from the oldest that any Python of ours
runs on) and musllinux. Linked dynamically it is for machines like the one it was built on: plain `linux_x86_64`.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NATIVE = Path(__file__).resolve().parent / "native"
SHIM, NO_LIBC = NATIVE / "snell-hook.c", NATIVE / "no-libc.c"
COMMON = ["-std=gnu11", "-O2", "-Wall", "-Wextra"]
# No library, so nothing that compilers and distributions expect one for.
WITHOUT_LIBRARY = ["-nostdlib", "-static", "-fno-pie", "-no-pie", "-fno-builtin", "-fno-stack-protector"]
WITHOUT_LIBRARY += ["-fno-tree-loop-distribute-patterns", "-fno-asynchronous-unwind-tables", "-U_FORTIFY_SOURCE"]
LONGEST_COMPILATION = 300  # seconds

SCRIPT = """\
#!/bin/sh
# snell-hook, built where there was no C compiler: runs its Python twin, with only the standard library in reach.
self=$0
if [ -L "$self" ]; then self=$(readlink -f -- "$self"); fi
bin=${{self%/*}}
for shim in {places}; do
    if [ -f "$shim" ] && [ -x "$bin/python3" ]; then exec "$bin/python3" -I -S "$shim" {version} "$@"; fi
done
unset PYTHONPATH PYTHONHOME
if [ -x "$bin/snell" ]; then exec "$bin/snell" hook "$@"; fi
echo "snell-hook: \\`$bin\\`: there is no Python to decide with; install Snell again" >&2
for word; do if [ "$word" = --fail-closed ]; then exit 2; fi; done
exit 0
"""


class ShimBuildHook(BuildHookInterface[Any]):
    """What hatchling calls."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self.folder = tempfile.mkdtemp()
        program = Path(self.folder, "snell-hook")
        release = self.metadata.version
        unwanted = os.environ.get("SNELL_NO_SHIM") == "1"
        made_by = None if unwanted else compiled(program, release)
        if made_by:
            self.app.display_info(f"snell-hook compiled by: {shlex.join(made_by)}")
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platforms(is_static='-static' in made_by)}"
        else:
            reason = "as SNELL_NO_SHIM asks" if unwanted else "since no C compiler makes one here"
            self.app.display_info(f"snell-hook is its Python twin, which is slower, {reason}")
            write_script(program, release, editable=version == "editable")
        build_data["shared_scripts"][str(program)] = "snell-hook"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(self.folder)


def platforms(*, is_static: bool) -> str:
    """The platforms that a program built here runs on, as wheels name them."""
    here = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if not (here.startswith("linux_") and is_static):
        return here
    machine = here.removeprefix("linux_")
    return f"manylinux_2_17_{machine}.manylinux2014_{machine}.musllinux_1_1_{machine}"


def compiled(program: Path, version: str, *options: str) -> list[str] | None:
    """Compile by the first way that gives a program that runs; the command that did, None without one."""
    for way in ways():
        command = [*way, *COMMON, f'-DSNELL_VERSION="{version}"', *options, "-o", str(program)]
        if runs(*command) is not None and runs(str(program), "--version") == f"snell-hook {version}\n":
            return command
    return None


def ways() -> Iterator[list[str]]:
    """Compilers, each with its sources; the quicker the program starts, the earlier."""
    named = shlex.split(os.environ.get("CC", ""))
    found = [named] if named else [[name] for name in ("cc", "gcc", "clang") if shutil.which(name)]
    if sys.platform != "linux":
        yield from ([*compiler, str(SHIM)] for compiler in found)
        return
    if shutil.which("musl-gcc") and not named:
        yield ["musl-gcc", "-static", "-s", str(SHIM)]
    for compiler in found:
        if platform.machine() in {"x86_64", "aarch64"}:
            yield [*compiler, *WITHOUT_LIBRARY, "-s", str(SHIM), str(NO_LIBC)]
        yield [*compiler, "-static", "-s", str(SHIM)]
        yield [*compiler, "-s", str(SHIM)]


def write_script(program: Path, version: str, *, editable: bool) -> None:
    here = Path(__file__).resolve().parent / "src/snell/machine/shim.py"
    places = shlex.quote(str(here)) if editable else '"$bin"/../lib/python3*/*-packages/snell/machine/shim.py'
    program.write_text(SCRIPT.format(places=places, version=shlex.quote(version)), encoding="utf-8")
    program.chmod(0o755)


def runs(*command: str) -> str | None:
    """What the command prints; None when it fails."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=LONGEST_COMPILATION
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
