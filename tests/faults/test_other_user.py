"""T23: another user of the machine gets nothing, not even when the modes have been loosened."""

import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.counts import Figure
from tests.process.machine import HOOK, Machine

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="only root can play another user")

OTHER_USER = 65534
Attempt = Callable[[], object]


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user may enter and write to, as /tmp is."""
    folder = Path(tempfile.mkdtemp(prefix="snell-"))
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def machine(shared: Path) -> Iterator[Machine]:
    if not HOOK.exists():
        pytest.skip("snell-hook is not installed beside this Python")
    machine = Machine(shared)
    yield machine
    machine.stop()


def as_other_user(attempts: dict[str, Attempt]) -> list[str]:
    """Which of these another user succeeds with."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(OTHER_USER)
        os.setuid(OTHER_USER)
        os.write(write, json.dumps([name for name, attempt in attempts.items() if succeeds(attempt)]).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        found: list[str] = json.loads(answer.read())
    os.waitpid(child, 0)
    return found


def succeeds(attempt: Attempt) -> bool:
    try:
        return attempt() is not False
    except OSError:
        return False


def talks(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(str(path))
        connection.sendall(b'{"cmd":"status"}\n')
        return connection.recv(1000) != b""


def test_another_user_gets_nothing(machine: Machine, figure: Figure) -> None:
    machine.hook()
    run, state, pid = machine.home / "run", machine.home / "state", machine.pid
    own: dict[str, Attempt] = {
        "talk to the daemon": lambda: talks(machine.socket),
        "list run": lambda: os.listdir(run),
        "list state": lambda: os.listdir(state),
        "read the database": lambda: (state / "snell.db").read_bytes(),
        "read the log": lambda: (state / "snell.db-wal").read_bytes(),
        "write the database": lambda: (state / "snell.db").open("ab").close(),
        "take the lock": lambda: (run / "daemon.lock").open("rb+").close(),
        "take the start lock": lambda: (run / "start.lock").open("rb+").close(),
        "make a file in run": lambda: (run / "x").touch(),
        "make a link in state": lambda: (state / "x").symlink_to("/etc/passwd"),
        "remove the socket": lambda: machine.socket.unlink(),
        "rename run": lambda: run.rename(machine.home / "other"),
        "signal the daemon": lambda: os.kill(pid, 15),
        "read its environment": lambda: Path(f"/proc/{pid}/environ").read_bytes() != b"",
        "read its memory": lambda: Path(f"/proc/{pid}/mem").open("rb").close(),
        "see its files": lambda: os.listdir(f"/proc/{pid}/fd"),
    }
    succeeded = as_other_user(own)
    for path in (machine.home, run, state):
        path.chmod(0o777)
    machine.socket.chmod(0o666)
    succeeded += as_other_user({"talk through an open socket": lambda: talks(machine.socket)})
    machine.hook()
    figure(test="T23", fault="another local user", attempts=len(own) + 1, succeeded=succeeded)
    assert (succeeded, machine.pid) == ([], pid)


@pytest.mark.parametrize("name", ["run", "state"])
@pytest.mark.parametrize("form", ["directory", "link", "file"])
def test_what_another_user_put_there_first_is_not_used(
    machine: Machine, shared: Path, name: str, form: str, figure: Figure
) -> None:
    trap = shared / "trap"

    def prepare() -> None:
        trap.mkdir(mode=0o777)
        place = machine.home / name
        place.mkdir(mode=0o777) if form == "directory" else None
        place.symlink_to(trap) if form == "link" else None
        place.write_text("mine", encoding="utf-8") if form == "file" else None

    machine.home.chmod(0o777)
    as_other_user({"prepare": prepare})
    assert (machine.home / name).lstat().st_uid == OTHER_USER
    code, out, err = machine.hook({"tool_input": {"command": "bad"}})
    place = machine.home / name
    left = [*trap.iterdir(), *(place.iterdir() if place.is_dir() else ())]
    figure(test="T23", fault=f"a {form} of another user as {name}", decided=bool(out), written_there=len(left))
    assert (code, "not that" in out, "Traceback" in err, left) == (0, True, False, [])
