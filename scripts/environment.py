"""
Create .venv from the locked requirements, or bring it up to date.

uv installs (from the PATH, else installed into .tools); where uv does not work, venv and pip do. A stamp file records
what was installed, so that the next call has nothing to do.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV, TOOLS = ROOT / ".venv", ROOT / ".tools"
LOCK, STAMP = ROOT / "requirements" / "dev.txt", VENV / "dev-stamp"
COMPILED_IN = [ROOT / f"src/snell/daemon/shim_{name}.txt" for name in ("forms", "help")]  # into `snell-hook`
BIN, EXE = VENV / ("Scripts" if os.name == "nt" else "bin"), ".exe" if os.name == "nt" else ""
PYTHON = BIN / f"python{EXE}"
UV_WANTED = "uv>=0.13,<0.14"
PIP_QUIET = ["--quiet", "--quiet", "--disable-pip-version-check"]  # twice: errors only


def ensure_environment() -> None:
    if is_ready():
        return
    with one_at_a_time():
        if is_ready():  # another dev.py was faster
            return
        same_place, same_lock = (is_ == should for is_, should in zip(stamped()[:2], wanted()[:2], strict=True))
        install(fresh=not (same_place and PYTHON.exists()), sync=not same_lock)
        STAMP.write_text(json.dumps(wanted()), encoding="utf-8")


def ensure_adapters() -> Path:
    """Install the agent libraries into .tools/adapters; return the Python of that environment."""
    lock, place = ROOT / "requirements" / "adapters.txt", TOOLS / "adapters"
    python, stamp = place / BIN.name / f"python{EXE}", place / "stamp"
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    with one_at_a_time():
        if not (stamp.exists() and stamp.read_text(encoding="utf-8") == digest):
            say("installing the agent libraries into .tools/adapters (about a minute)")
            uv = find_uv() or stop("the libraries are installed with uv, and pip could not install it")
            made = attempt(uv, "venv", "--quiet", "--clear", "--python", base_python(), place)
            if not (made and attempt(uv, "pip", "sync", "--quiet", "--python", python, "--require-hashes", lock)):
                stop("the libraries could not be installed: see above, check the network and uv's index settings")
            stamp.write_text(digest, encoding="utf-8")
    return python


def is_ready() -> bool:
    return PYTHON.exists() and stamped() == wanted()


def wanted() -> list[str]:
    """Return the path of this tree (a copied .venv would run the old tree's code) and hashes of its inputs."""
    inputs = (
        LOCK,
        ROOT / "pyproject.toml",
        ROOT / "hatch_build.py",
        *sorted((ROOT / "native").glob("*.c")),
        *COMPILED_IN,
    )
    return [str(ROOT), *(hashlib.sha256(path.read_bytes()).hexdigest() for path in inputs)]


def stamped() -> list[str]:
    try:
        return list(json.loads(STAMP.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return ["", "", ""]


def install(*, fresh: bool, sync: bool) -> None:
    say("installing the locked tools into .venv (the first time: about ten seconds)")
    STAMP.unlink(missing_ok=True)
    uv = find_uv()
    if not (uv and sync_with_uv(uv, fresh=fresh, sync=sync)):
        say("uv does not work here; using venv and pip (about a minute)")
        uv = None
        sync_with_pip()
    pip = [uv, "pip", "install", f"--python={PYTHON}"] if uv else [str(PYTHON), "-m", "pip", "install"]
    if not attempt(*pip, "--quiet", "--no-deps", "--no-build-isolation", "--editable", ROOT):
        stop("snell itself could not be installed: the message above names what to correct in pyproject.toml")


def sync_with_uv(uv: str, *, fresh: bool, sync: bool) -> bool:
    if fresh:
        shutil.rmtree(VENV, ignore_errors=True)
    made = not fresh or attempt(uv, "venv", "--quiet", "--python", base_python(), VENV)
    if not (fresh or sync):
        return True
    return made and attempt(uv, "pip", "sync", "--quiet", "--python", PYTHON, "--require-hashes", LOCK)


def sync_with_pip() -> None:
    if not attempt(base_python(), "-m", "venv", "--clear", VENV):
        stop("this Python cannot make a virtual environment: install its venv module (Debian: python3-venv)")
    if not attempt(PYTHON, "-m", "pip", "install", *PIP_QUIET, "--require-hashes", "--requirement", LOCK):
        stop("the requirements could not be installed: see above, check the network and pip's index settings")


def find_uv() -> str | None:
    own = TOOLS / "bin" / f"uv{EXE}"
    for candidate in (shutil.which("uv"), own):
        if candidate and attempt(candidate, "--version", stdout=subprocess.DEVNULL):
            return str(candidate)
    fetch = ["-m", "pip", "install", *PIP_QUIET, "--upgrade", f"--target={TOOLS}", UV_WANTED]
    return str(own) if attempt(base_python(), *fetch) and own.exists() else None


def base_python() -> str:
    """Return the interpreter outside any virtual environment, since .venv may be replaced."""
    return str(getattr(sys, "_base_executable", sys.executable))


def attempt(*command: str | Path, stdout: int | None = None) -> bool:
    # These two settings of a user would keep pip from installing into .venv or .tools.
    env = {**os.environ, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}
    try:
        done = subprocess.run(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=stdout)
    except OSError:
        return False
    return done.returncode == 0


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    TOOLS.mkdir(exist_ok=True)
    with (TOOLS / "lock").open("w", encoding="utf-8") as held:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def say(text: str) -> None:
    print(f"dev.py: {text}", file=sys.stderr, flush=True)


def stop(text: str) -> NoReturn:
    say(text)
    raise SystemExit(1)
