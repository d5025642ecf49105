"""`snell log`, `why`, `ledger` and `status` on a database that another program has locked, or that is read-only."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.fork_server import run_snell
from tests.process.machine import HOOK, Machine
from tests.waiting import wait_until

pytestmark = pytest.mark.timeout(180)
READERS = (("log",), ("why",), ("ledger", "list"), ("status",))
HOLD = """
import apsw, sys
connection = apsw.Connection(sys.argv[1])
connection.pragma("locking_mode", sys.argv[2])
connection.execute("BEGIN IMMEDIATE; CREATE TABLE held (a); INSERT INTO held VALUES (1)")
print("locked", flush=True)
sys.stdin.read()
"""


@contextmanager
def locked(machine: Machine, mode: str) -> Iterator[None]:
    """Let another process hold the write lock (`normal`), or a lock that keeps readers out, too (`exclusive`)."""
    words = [sys.executable, "-c", HOLD, str(machine.home / "state/snell.db"), mode]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdin
        assert holder.stdout
        assert holder.stdout.readline() == b"locked\n"
        yield
        holder.stdin.close()


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    if not HOOK.exists():
        pytest.skip("snell-hook is not installed beside this Python")
    machine = Machine(tmp_path)
    yield machine
    machine.stop()


def read_at_once(machine: Machine, *commands: tuple[str, ...]) -> dict[tuple[str, ...], tuple[int, str, str]]:
    """Run these commands at the same time, since each one waits for the lock for seconds."""
    with ThreadPoolExecutor(len(commands)) as threads:
        run = partial(run_snell, cwd=machine.project, env=machine.env())
        return dict(zip(commands, threads.map(lambda words: run(*words), commands), strict=True))


def stop(machine: Machine) -> None:
    """Stop the daemon, and wait until it has written everything."""
    machine.snell("daemon", "stop")
    wait_until(lambda: not machine.daemons())


def test_a_reader_shows_what_is_in_a_database_that_another_program_writes(machine: Machine):
    machine.reason({"tool_use_id": "t1", "tool_input": {"command": "bad"}})
    stop(machine)
    with locked(machine, "normal"):
        found = read_at_once(machine, *READERS)
    assert {words: (code, err) for words, (code, _, err) in found.items()} == dict.fromkeys(READERS, (0, ""))
    assert "deny" in found["log",][1]
    assert "not that" in found["why",][1]
    assert "Bash" in found["ledger", "list"][1]
    assert "1 decision" in found["status",][1]


def test_a_reader_says_which_decisions_it_cannot_show(machine: Machine):
    machine.reason()
    stop(machine)
    machine.snell("daemon", "start")
    with locked(machine, "normal"):
        machine.reason({"tool_use_id": "t2", "tool_input": {"command": "bad"}})
        (code, out, err), (_, _, status) = read_at_once(machine, ("log", "--verdict", "deny"), ("status",)).values()
    expected = "snell: 1 newer decision not shown: `{}`: is in use by another program; try again\n"
    assert (code, out, err) == (0, "", expected.format(machine.home / "state/snell.db"))
    assert status == err


def test_a_reader_of_a_database_that_is_locked_for_readers_too_says_so(machine: Machine):
    machine.reason()
    stop(machine)
    with locked(machine, "exclusive"):
        found = list(read_at_once(machine, *READERS[::3]).values())
    message = f"snell: `{machine.home / 'state/snell.db'}`: is in use by another program; try again\n"
    assert found == [(1, "", message)] * 2


@pytest.mark.parametrize("has_log", [True, False], ids=["with a log", "without a log"])
def test_a_reader_shows_what_is_in_a_database_that_cannot_be_written(tmp_path: Path, has_log: bool):
    """As root without the right to write everything, where the tests run as root."""
    plain = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    if plain and not shutil.which("setpriv"):
        pytest.skip("root may write everything, and `setpriv` is not installed")
    home = tmp_path / "h"
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "SNELL_HOME": str(home)}

    def snell(*words: str) -> tuple[int, str, str]:
        argv = [*plain, sys.executable, "-m", "snell", *words]
        done = subprocess.run(argv, env=env, cwd=tmp_path, capture_output=True, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    assert snell("fire", "--command", "rm -rf /")[0] == 0
    if not has_log:
        connect_and_empty_log(home / "state/snell.db")
    for file in (home / "state").iterdir():
        file.chmod(0o500 if file.is_dir() else 0o400)
    found = {words: snell(*words) for words in READERS}
    assert {words: (code, err) for words, (code, _, err) in found.items()} == dict.fromkeys(READERS, (0, ""))
    assert "rm -rf /" in found["log",][1]
    assert "delete-tree" in found["why",][1]
    assert "1 decision" in found["status",][1]


def connect_and_empty_log(path: Path) -> None:
    """Move the log into the file, and remove it, as the last connection of a program does."""
    import apsw

    connection = apsw.Connection(str(path))
    connection.execute("SELECT 1 FROM decisions").fetchall()
    connection.close()
    assert not Path(f"{path}-wal").exists()
