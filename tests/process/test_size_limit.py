"""The database stays below its size limit: traces go first, then inputs and outputs, then whole days."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from snell.records import retention
from snell.records.audit_log import AuditLog
from snell.records.retention import DAY_MS
from snell.store.size_limit import SizeLimit
from snell.store.sqlite import SqliteDatabase
from snell.system.wall_clock import now_ms
from tests.fork_server import run_module
from tests.process.machine import HOOK, Machine
from tests.waiting import wait_until

pytestmark = pytest.mark.process

BOUND = 90.0
MEGABYTE = 1_000_000


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    if not HOOK.exists():
        pytest.skip("snell-hook is not installed beside this Python")
    machine = Machine(tmp_path, forks_daemon=True)
    yield machine
    machine.stop()


class Store:
    """The database of a machine, read and aged by the test."""

    def __init__(self, machine: Machine) -> None:
        self.database = SqliteDatabase(machine.home / "state/snell.db")

    def count(self, table: str) -> int:
        return int(self.database.run(lambda tx: tx.rows(f"SELECT COUNT(*) FROM {table}"), only_reads=True)[0][0])

    def used(self) -> int:
        pages = self.database.run(lambda tx: [tx.rows(f"PRAGMA {n}")[0][0] for n in ("page_count", "freelist_count")])
        return (pages[0] - pages[1]) * 4096

    @property
    def deleted(self) -> retention.Deleted:
        return self.database.run(retention.read_deleted, only_reads=True)


def make_large(store: Store) -> None:
    """Add bytes that no limit deletes, so that some of the traces have to go."""
    missing = MEGABYTE - store.used() + 60_000
    store.database.run(lambda tx: tx.do(f"CREATE TABLE filler AS SELECT randomblob({missing}) AS bytes"))


def send(machine: Machine, number: int) -> None:
    for each in range(number):
        call = {"session_id": "s", "tool_use_id": f"{each}", "tool_input": {"command": f"echo {each}"}}
        machine.hook(call)
        machine.hook({**call, "hook_event_name": "PostToolUse", "tool_response": {"stdout": f"{each} " * 50}})


def verify(machine: Machine) -> int:
    done = run_module("snell", "audit", "verify", cwd=machine.project, env=machine.env())
    print(done.stdout.decode())
    return done.returncode


def test_the_oldest_traces_are_deleted_first_and_the_ledger_stays(machine: Machine) -> None:
    machine.write("snell.toml", 'packs = ["pack"]\nstore_megabytes = 1\n')
    send(machine, 30)
    store = Store(machine)
    wait_until(lambda: store.count("traces") == 60, BOUND)
    machine.stop()  # the chain has every trace now
    assert verify(machine) == 0
    make_large(store)
    machine.hook()
    wait_until(lambda: store.used() < MEGABYTE, BOUND)
    assert store.count("traces") < 61
    assert (store.count("tool_calls"), store.count("decisions")) == (31, 61)
    assert store.deleted.traces > 0
    assert store.deleted.days == 0
    assert run_module("snell", "status", cwd=machine.project, env=machine.env()).stdout.count(b"of at most 1 MB") == 1
    told = run_module("snell", "doctor", "--all", cwd=machine.project, env=machine.env()).stdout.decode()
    assert "; traces before " in told
    machine.stop()
    assert verify(machine) == 0


def test_a_whole_day_is_deleted_last_and_the_audit_says_that_it_was_on_purpose(machine: Machine) -> None:
    machine.write("snell.toml", 'packs = ["pack"]\n')
    send(machine, 10)
    store = Store(machine)
    wait_until(lambda: store.count("tool_calls") == 10 and store.count("audit_chain") >= 40, BOUND)
    machine.stop()
    assert verify(machine) == 0
    log = AuditLog(store.database, machine.home / "state")
    log.keep_up(at_once=True)
    tomorrow = now_ms() + DAY_MS
    while store.database.run(lambda tx: SizeLimit(0).shrink(tx, log, tomorrow, None)):
        pass
    assert (store.count("traces"), store.count("tool_bodies")) == (1, 0)
    assert (store.count("decisions"), store.count("tool_calls")) == (1, 1), "the newest row of a table always stays"
    assert store.deleted.days == (now_ms() // DAY_MS + 1) * DAY_MS
    log.keep_up(at_once=True)
    assert verify(machine) == 0


def test_free_pages_are_given_back_to_the_file_system(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "state/snell.db")
    database.open()
    assert database.run(lambda tx: tx.rows("PRAGMA auto_vacuum"), only_reads=True) == [(2,)]
    database.close()
