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
FORMS = NATIVE.parent / "src/snell/daemon/shim_forms.txt"
HELP = FORMS.with_name("shim_help.txt")
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
client=generic event= closed= code= before=
for word; do
    case $before in --client) client=$word ;; --event) event=$word ;; esac
    case $word in --client=*) client=${{word#*=}} ;; --event=*) event=${{word#*=}} ;; --fail-closed) closed=yes ;; esac
    before=$word
done
case " $* " in *" --rewake "*) closed= ;; esac  # that call is no question, so there is nothing to refuse
why="there is no Python to decide with; install Snell again"
run() {{  # with --fail-closed this shell stays, to refuse what ends in any other way than by a decision
    if [ -z "$closed" ]; then exec "$@"; fi
    said=$("$@")
    code=$?
    case $code in 0 | 2) printf '%s' "$said"; exit "$code" ;; esac
    why="ended without a decision (exit code $code); install Snell again"
}}
for shim in {places}; do
    if [ -f "$shim" ] && [ -x "$bin/python3" ]; then run "$bin/python3" -I -S "$shim" {version} "$@"; fi
done
unset PYTHONPATH PYTHONHOME
if [ -z "$code" ] && [ -x "$bin/snell" ]; then run "$bin/snell" hook "$@"; fi
printf '%s\\n' "snell-hook: \\`$bin\\`: $why" >&2
plain() {{ printf '%s' "$1" | tr -d '_. -' | tr '[:upper:]' '[:lower:]'; }}
client=$(plain "$client") event=$(plain "$event")
tab=$(printf '\\t')
while IFS=$tab read -r clients events codes refusal neutral; do
    case " $clients " in *" $client "*) ;; *) continue ;; esac
    case " $events " in " * " | *" $event "*) ;; *) continue ;; esac
    if [ -z "$closed" ] || [ "$refusal" = - ]; then printf '%s' "$neutral"; exit 0; fi
    if [ "$refusal" = "exit 2" ]; then exit 2; fi
    printf '%s' "$refusal"
    exit 0
done <<'FORMS'
{forms}
FORMS
if [ -n "$closed" ]; then exit 2; fi
exit 0
"""
GONE = "snell-hook has nothing to decide with, and nothing may run unchecked (--fail-closed); install Snell again"


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
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "snell-forms.h").write_text(forms_in_c(), encoding="utf-8")
        for way in ways():
            command = [*way, *COMMON, "-I", folder, f'-DSNELL_VERSION="{version}"', *options, "-o", str(program)]
            if runs(*command) is not None and runs(str(program), "--version") == f"snell-hook {version}\n":
                return command
    return None


def forms() -> list[list[str]]:
    """The rows of the table of what clients are told when nothing can decide; the first names the keys of events."""
    lines = FORMS.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def forms_in_c() -> str:
    """The same, and the help, as arrays that native/snell-hook.c includes."""
    (_, keys), *rows = forms()
    lines = ["#define SNELL_REASON '\\1'", "static const char *const event_keys[] = {"]
    lines += [f"    {in_c(key)}," for key in keys.split()]
    lines += ["};", "static const struct form forms[] = {"]
    for clients, events, takes_other_codes, refusal, neutral in rows:
        refused = {"-": "NULL", "exit 2": '""'}.get(refusal, in_c(refusal))
        lines.append(f"    {{{in_c(clients)}, {in_c(events)}, {takes_other_codes}, {refused}, {in_c(neutral)}}},")
    lines += ["};", "static const char help[] ="]
    lines += [f'    {in_c(line)} "\\n"' for line in HELP.read_text(encoding="utf-8").splitlines()]
    return "\n".join([*lines, "    ;", ""])


def in_c(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + quoted.replace("@REASON@", '" "\\1" "') + '"'


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
    here = Path(__file__).resolve().parent / "src/snell/daemon/shim.py"
    places = shlex.quote(str(here)) if editable else '"$bin"/../lib/python3*/*-packages/snell/daemon/shim.py'
    table = "\n".join("\t".join(row) for row in forms()[1:]).replace("@REASON@", GONE)
    script = SCRIPT.format(places=places, version=shlex.quote(version), forms=table)
    program.write_text(script, encoding="utf-8")
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
