"""`snell audit verify` over a store that was edited by hand."""

import json
import os
import shutil
from pathlib import Path

import apsw
import pytest

from snell.records import decisions, ledger
from snell.records.audit_check import Findings
from snell.records.audit_log import AuditLog
from snell.store.sqlite import SqliteDatabase
from tests.fork_server import run_snell

CALL = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}, "hook_event_name": "PreToolUse"}


class Store:
    """A person's home with three calls in it, all of them chained."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def snell(self, *words: str, given: dict | None = None) -> tuple[int, str, str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "SNELL_HOME": str(self.home)}
        return run_snell(*words, cwd=self.home, env=env, given=json.dumps(given).encode())

    def call(self, number: int) -> None:
        self.snell("hook", "--client", "claude-code", given={**CALL, "tool_use_id": f"t{number}"})

    def findings(self) -> Findings:
        """What the command would print, without its wait of 15 seconds for a daemon that may still be writing."""
        database = SqliteDatabase(self.home / "state/snell.db")
        try:
            return AuditLog(database, self.home / "state").verify(deadline=0.1)
        finally:
            database.close()

    def edit(self, *statements: str) -> None:
        connection = apsw.Connection(str(self.home / "state/snell.db"))
        connection.pragma("foreign_keys", 0)
        for statement in statements:
            connection.execute(statement)
        connection.close()

    def copy(self, to: Path) -> "Store":
        shutil.copytree(self.home, to)
        return Store(to)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("audit") / "home")
    store.home.mkdir(mode=0o700)
    for number in range(3):
        store.call(number)
    assert store.snell("audit", "verify")[0] == 0
    return store


@pytest.fixture
def store(original: Store, tmp_path: Path) -> Store:
    return original.copy(tmp_path / "home")


def copied(table: str, **changed: str) -> str:
    """A statement that puts a copy of a table's last row in, with some columns changed."""
    columns = {
        "decisions": (*decisions.FIELDS, "seq"),
        "traces": ("seq", "decision_id", "body", "late"),
        "tool_calls": (*ledger.FIELDS, "revision"),
        "audit_chain": ("seq", "kind", "record_id", "digest", "link"),
    }[table]
    values = ", ".join(changed.get(name, name) for name in columns)
    order = {"tool_calls": "revision"}.get(table, "seq")
    last = f"FROM {table} WHERE typeof({order}) = 'integer' ORDER BY {order} DESC LIMIT 1"
    return f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} {last}"


PLANTED = {
    "a decision with a negative number": copied("decisions", id="'forged'", seq="-5"),
    "a decision with number 0": copied("decisions", id="'forged'", seq="0"),
    "a decision without an id": copied("decisions", id="''", seq="seq + 1"),
    "a decision whose id is no text": copied("decisions", id="x'00'", seq="seq + 1"),
    "a decision whose time is a text": copied("decisions", id="'forged'", at="'now'", seq="seq + 1"),
    "a trace with a negative number": copied("traces", seq="-5", decision_id="'forged'"),
    "a call with a negative number": copied("tool_calls", tool_call_id="'s/forged'", revision="-5"),
    "a call with number 0": copied("tool_calls", tool_call_id="'s/forged'", revision="0"),
    "a call whose number is a text": copied("tool_calls", tool_call_id="'s/forged'", revision="'last'"),
    "a call whose number is a fraction": copied("tool_calls", tool_call_id="'s/forged'", revision="revision + 0.5"),
    "a call without an id": copied("tool_calls", tool_call_id="NULL", revision="revision + 1"),
    "a call with an empty id": copied("tool_calls", tool_call_id="''", revision="revision + 1"),
    "a call whose time is a text": copied("tool_calls", tool_call_id="'s/forged'", created_at="'x'"),
    "a link with a negative number": copied("audit_chain", seq="-5"),
    "a link without a number": copied("audit_chain", seq="NULL"),
    "a link whose number is a text": copied("audit_chain", seq="'last'"),
    "a segment whose number is a text": copied("audit_chain", seq="'last'", record_id="'segment'"),
    "a link without a hash": copied("audit_chain", seq="seq + 1", link="''"),
    "a link without a record": copied("audit_chain", seq="-5", record_id="''"),
    "a link that says nothing of how a call ended": copied("audit_chain", seq="seq + 1", kind="'ended x'"),
    "a link that says nothing of how a call was": copied("audit_chain", seq="seq + 1", kind="'open x'"),
    "a link about bodies of no time": copied("audit_chain", seq="seq + 1", kind="'expired bodies before'"),
    "a receipt without an id": "INSERT INTO tool_receipts VALUES (NULL, 'r', 1, 'succeeded', '')",
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_row_that_was_planted_is_found(store: Store, planted: str):
    store.edit(PLANTED[planted])
    assert store.findings().integrity


def test_planted_rows_do_not_keep_the_chain_from_going_on(store: Store):
    for number, planted in enumerate(PLANTED.values()):
        statement = planted
        for same in ("forged", "last", "-5"):
            statement = statement.replace(same, f"{same}{number}")
        store.edit(statement)
    store.call(9)
    code, out, err = store.snell("audit", "verify", "--json")
    found = json.loads(out)
    assert (code, err, len(found["integrity"]) >= len(PLANTED)) == (1, "", True)
    assert found["links"] > 10, "the new call was chained"


@pytest.mark.parametrize(
    "gone",
    [("audit.key", "audit.anchor"), ("audit.anchor",), ("audit.key",), ()],
    ids=["chain, notes and key", "chain and notes", "chain and key", "chain"],
)
def test_rows_without_a_chain_are_found(store: Store, gone: tuple[str, ...]):
    store.edit("DELETE FROM audit_chain", "DELETE FROM meta WHERE name = 'audit_head'")
    for name in gone:
        (store.home / "state" / name).unlink()
    assert store.findings().completeness
