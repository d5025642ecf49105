"""
Try Snell on the platforms that can be had here, and print a table: Pythons, users, compilers and folders.

    python3 scripts/platforms.py [ROW ...]

A Python is looked for on the PATH and among those of pyenv. A smoke installs the wheel into a new environment, in a
folder whose name has a space and letters beyond ASCII, and decides two events through `snell-hook`: by a daemon that
the first one starts. What is missing here is skipped, and the table says what.
"""

from __future__ import annotations

import json
import os
import platform
import pwd
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv" / "bin" / "python"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
FOLDER = "a földer with späces"
BAD = {"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}, "session_id": "smoke", "tool_use_id": "t1"}
SLOWER = "slower Python version"
WITHOUT_RIGHTS = 65_534  # the number of the user that Linux keeps for this
BOUND = 600  # seconds for one command


class SkipError(Exception):
    """What a row needs is not here."""


def rows(folder: Path) -> dict[str, Callable[[], str]]:
    """Return what can be tried, by name; each returns what it found, or raises SkipError or AssertionError."""
    return {
        **{f"Python {version}": partial(smoke_python, folder, version) for version in VERSIONS},
        "another user than root": partial(smoke_user, folder),
        "no C compiler": partial(smoke_without_compiler, folder),
        "only gcc": partial(build_with, folder, "gcc"),
        "only clang": partial(build_with, folder, "clang"),
        "musl": partial(build_with, folder, "musl-gcc"),
        "arm64": partial(build_for_arm, folder),
        "macOS": no_mac,
    }


def smoke_python(folder: Path, version: str) -> str:
    return smoke(folder / FOLDER / version, find_python(version), wheel(folder / "native"))


def smoke_user(folder: Path) -> str:
    """Decide as a user without rights, in a folder of its own, with what root has installed."""
    if os.geteuid() != 0:
        return "these rows run as such a user"
    try:
        user = pwd.getpwuid(WITHOUT_RIGHTS)
    except KeyError:
        raise SkipError("there is no user without rights") from None
    built = wheel(folder / "native")
    own = Path(tempfile.mkdtemp(prefix="snell smoke ñ ", dir="/tmp"))
    try:
        copy = shutil.copy(built, own)
        os.chown(own, user.pw_uid, user.pw_gid)
        python = find_python("3.11")
        if not _is_usable(python, user.pw_uid):  # it is in the home folder of root
            root = Path(run([python, "-c", "import sys; print(sys.base_prefix)"]).strip())
            shutil.copytree(
                root,
                own / "python",
                symlinks=True,
                ignore=shutil.ignore_patterns("__pycache__", "test", "site-packages"),
            )
            python = str(own / "python" / "bin" / "python3")
        return smoke(own / "home", python, Path(copy), user=user.pw_uid)
    finally:
        shutil.rmtree(own, ignore_errors=True)


def smoke_without_compiler(folder: Path) -> str:
    built = wheel(folder / "script", CC="/nonexistent")
    assert program_in(built).startswith(b"#!"), "a native program was built without a compiler"
    found = smoke(folder / FOLDER / "script", find_python("3.11"), built, doctor=SLOWER)
    return f"{found}; `snell doctor` says that snell-hook is the {SLOWER}"


def build_with(folder: Path, compiler: str) -> str:
    found = shutil.which(compiler) or shutil.which(f"{compiler}-14")
    if not found:
        raise SkipError(f"there is no {compiler}")
    built = wheel(folder / compiler, CC=found)
    program = program_in(built)
    assert program.startswith(b"\x7fELF"), "no native program was built"
    return f"{smoke(folder / FOLDER / compiler, find_python('3.11'), built)}; {len(program):,} bytes"


def build_for_arm(folder: Path) -> str:
    """Compile as the wheel does, and run the program under an emulator where there is one."""
    compiler = shutil.which("aarch64-linux-gnu-gcc")
    if not compiler:
        raise SkipError("there is no aarch64-linux-gnu-gcc")
    code = (
        "import sys, pathlib, subprocess, hatch_build as build\n"
        "folder, compiler = sys.argv[1:]\n"
        "pathlib.Path(folder, 'snell-forms.h').write_text(build.forms_in_c(), encoding='utf-8')\n"
        "command = [compiler, *build.WITHOUT_LIBRARY, '-s', str(build.SHIM), str(build.NO_LIBC), *build.COMMON]\n"
        "command += ['-I', folder, '-DSNELL_VERSION=\"0\"', '-o', folder + '/snell-hook']\n"
        "subprocess.run(command, check=True)\n"
    )
    (folder / "arm").mkdir()
    run([str(PYTHON), "-c", code, str(folder / "arm"), compiler], cwd=ROOT)
    emulator = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    if not emulator:
        return "it compiles; there is no emulator to run it"
    said = run([emulator, str(folder / "arm" / "snell-hook"), "--version"])
    assert said == "snell-hook 0\n", said
    return "it compiles, and says its version under an emulator; no daemon was asked"


def no_mac() -> str:
    if platform.system() != "Darwin":
        raise SkipError("there is no such machine here: nothing of it was run")
    return "see the other rows"


def smoke(folder: Path, python: str, built: Path, *, user: int | None = None, doctor: str = "") -> str:
    """Install a wheel and decide two events by the program that it brings."""
    as_user = partial(run, user=user)
    folder.mkdir(parents=True)
    if user is not None:
        os.chown(folder, user, -1)
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "SNELL_HOME": str(folder / "snell")}
    env |= {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
    venv = folder / "venv"
    run([python, "-m", "venv", str(venv)], env=env)
    run([str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", str(built)], env=env, cwd=folder)
    hook = [str(venv / "bin" / "snell-hook"), "--client", "claude-code"]
    try:
        for name in ("PreToolUse", "SessionStart"):
            event = {**BAD, "hook_event_name": name, "cwd": str(folder), "source": "startup"}
            said = as_user(hook, env=env, stdin=json.dumps(event))
            assert ('"deny"' in said) == (name == "PreToolUse"), f"{name}: {said!r}"
        status = as_user([str(venv / "bin" / "snell"), "daemon", "status", "--json"], env=env)
        assert json.loads(status)["served"] >= 2, status
        if doctor:
            checked = as_user([str(venv / "bin" / "snell"), "doctor"], env=env, accepts=(0, 1))
            assert doctor in checked, checked
    finally:
        as_user([str(venv / "bin" / "snell"), "daemon", "stop"], env=env, accepts=(0, 1, 2))
    version = as_user([str(venv / "bin" / "python"), "-c", "import sys; print(sys.version.split()[0])"], env=env)
    return f"installed, two events decided by the daemon (Python {version.strip()})"


def wheel(folder: Path, **variables: str) -> Path:
    """Build the wheel, once for each folder."""
    if not folder.exists():
        command = [str(PYTHON), "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
        run(command, env={**os.environ, **variables}, cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


def program_in(built: Path) -> bytes:
    with zipfile.ZipFile(built) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith("scripts/snell-hook"))
        return archive.read(name)


def find_python(version: str) -> str:
    """Return a Python of this version that starts. Raises SkipError."""
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    for path in (*map(str, sorted(versions.glob(f"{version}.*/bin/python3"))), shutil.which(f"python{version}") or ""):
        if path and subprocess.run([path, "-c", "import venv"], capture_output=True, check=False).returncode == 0:
            return path
    raise SkipError(f"there is no Python {version}")


def _is_usable(python: str, user: int) -> bool:
    try:
        done = subprocess.run([python, "-c", "import venv"], user=user, capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def run(
    command: list[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str = "",
    user: int | None = None,
    accepts: tuple[int, ...] = (0,),
) -> str:
    """Return what a command prints. Raises AssertionError if it fails."""
    done = subprocess.run(
        command,
        env=dict(env) if env else None,
        cwd=cwd,
        input=stdin,
        user=user,
        capture_output=True,
        encoding="utf-8",
        timeout=BOUND,
        check=False,
    )
    assert done.returncode in accepts, f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def main(words: list[str]) -> int:
    """Print a line for each row; exit code 1 if one failed."""
    failed = 0
    print(f"| on {platform.system()} {platform.machine()} | result |\n|---|---|")
    with tempfile.TemporaryDirectory(prefix="snell-platforms-") as folder:
        for name, attempt in rows(Path(folder)).items():
            if words and name not in words:
                continue
            try:
                found = attempt()
            except SkipError as why:
                found = f"not run: {why}"
            except AssertionError as error:
                failed += 1
                found = f"FAILED: {error}"
            print(f"| {name} | {found} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
