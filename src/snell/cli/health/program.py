"""The program that clients start: whether it is installed, native, and answers events as a client sends them."""

import os
import shutil
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from statistics import median

import msgspec

from snell.cli.health import Check, Installation, Status
from snell.daemon.client import DaemonError, ask
from snell.records.decisions import SELF_TEST
from snell.runtime.app import database_of
from snell.runtime.database_journal import StoreJournal
from snell.system.files import read_capped
from snell.system.installed_code import check_code
from snell.system.optional_packages import installed_from

LARGEST = 4 * 1024 * 1024
_PROGRAM_HEADERS = struct.Struct("<32xQ14xHH")  # offset, size of each, number
_NEEDS_LOADER = 3


def shim_checks(installation: Installation) -> Iterator[Check]:
    path = shim_path(installation.env)
    if path is None:
        source = installed_from()
        advice = f"install Snell again{f' from `{source}`' if source else ', the way you installed it'}"
        yield Check("snell-hook", "fail", "not found", advice)
        return
    kind = kind_of(read_capped(path, LARGEST))
    if not os.access(path, os.X_OK):
        yield Check("snell-hook", "fail", f"{path} is not executable", f"`chmod 755 {path}`")
    elif kind != "stand-in":
        yield Check("snell-hook", "ok", f"{path}, {kind}{'' if kind == 'native, static' else ', dynamically linked'}")
    else:
        advice = "install a C compiler and then Snell again, or a wheel for this platform"
        yield Check("snell-hook", "warn", f"{path} is the slower Python version", advice)
    if os.stat(path).st_mode & stat.S_IWOTH:
        yield Check("snell-hook", "fail", f"{path} is writable by all users", f"`chmod o-w {path}`")


def code_checks(_installation: Installation) -> Iterator[Check]:
    found = check_code()
    if found.error:
        yield Check("code", "fail", found.error.message, found.error.advice)
    else:
        compared = f"{found.number} files are as they were installed"
        yield Check("code", "ok", f"not compared: {found.exempt}" if found.exempt else compared)


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


TIMES = 5
SECONDS = 30.0


def synthetic_checks(installation: Installation) -> Iterator[Check]:
    path = shim_path(installation.env)
    if path is None:
        return
    session = f"doctor-{os.urandom(6).hex()}"
    command = [str(path), "--client", "generic"]
    taken = []
    for number in range(1 + TIMES):
        began = time.perf_counter()
        problem = _send(command, installation, session, number)
        taken.append((time.perf_counter() - began) * 1000)
        if problem:
            yield Check("synthetic event", "fail", f"`{' '.join(command)}` {problem}", "`snell daemon run` shows why")
            return
    with closing(database_of(installation.where)) as database:
        stored = len(StoreJournal(database).recent(session=session, limit=100))
    if stored < len(taken):
        detail = f"{len(taken)} events were answered, but the store has {stored}"
        advice = "check the store above, and whether two installations of Snell are mixed"
        yield Check("synthetic event", "fail", detail, advice)
        return
    how = "the daemon" if _is_served(installation) else "separate processes, without a daemon"
    status: Status = "ok" if how == "the daemon" else "warn"
    detail = f"{len(taken)} events answered by {how}; first {taken[0]:.1f} ms, then {median(taken[1:]):.1f} ms"
    yield Check("synthetic event", status, detail, "" if status == "ok" else "`snell daemon start` shows why")


def _send(command: list[str], installation: Installation, session: str, number: int) -> str:
    """Send one event; return what went wrong, or an empty text."""
    fields = {"hook_event_name": SELF_TEST, "session_id": session, "cwd": str(installation.cwd), "number": number}
    try:
        done = subprocess.run(
            command,
            input=msgspec.json.encode(fields),
            env=dict(installation.env),
            cwd=installation.cwd,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"did not answer within {SECONDS:g} s"
    errors = done.stderr.decode("utf-8", "replace").strip()
    return f"exited with {done.returncode}: {errors[:300]}" if done.returncode or errors else ""


def _is_served(installation: Installation) -> bool:
    try:
        return bool(ask(installation.where.run, "ping") == "pong")
    except DaemonError:
        return False
