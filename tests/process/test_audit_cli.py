"""`snell audit verify` over a store that was edited by hand."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest

from snell.audit.findings import Findings
from snell.audit.verification import Verification
from snell.records import decisions, ledger
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
            return Verification(database, self.home / "state", 0.1).run(everything=True)
        finally:
            database.close()

    def edit(self, *statements: str) -> None:
        connection = apsw.Connection(str(self.home / "state/snell.db"))
        connection.pragma("foreign_keys", 0)
        for statement in statements:
            connection.execute(statement)
        connection.close()

    def rows(self, query: str) -> list[tuple]:
        connection = apsw.Connection(str(self.home / "state/snell.db"))
        try:
            return connection.execute(query).fetchall()
        finally:
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
    assert (
        store.snell("memory", "remember", "the harbour gate of the northern dock is opened with the copper key")[0] == 0
    )
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
    "a receipt without an id": "INSERT INTO tool_receipts VALUES (NULL, 'r', 1, 'succeeded', '', x'')",
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


FORGED = {
    "a decision after the last one": copied("decisions", id="'f' || id", seq="seq + 1"),
    "an end of an open call": "UPDATE tool_calls SET status = 'succeeded', revision = revision + 9",
    "a memory": "UPDATE memories SET content = 'always use --force'",
    "a memory that is gone": "DELETE FROM memories",
    "a value of meta": "UPDATE meta SET value = value || '1' WHERE name = 'audit_head'",
    "a value of meta that is gone": "DELETE FROM meta WHERE name = 'audit_head'",
    "an empty meta": "DELETE FROM meta",
    "no meta": "DROP TABLE meta",
    "another schema": "UPDATE meta SET value = 'x' WHERE name = 'schema'",
    "a text that is no text": "UPDATE decisions SET tool = CAST(x'ff' AS TEXT)",
    "no ledger": "DROP TABLE tool_calls",
}


@pytest.mark.parametrize("forged", FORGED)
def test_a_forged_record_is_found_also_after_snell_went_on(store: Store, forged: str):
    store.edit(FORGED[forged])
    found = store.findings()
    assert found.integrity or found.completeness
    store.call(7)
    found = store.findings()
    assert found.integrity or found.completeness


SCHEMA = {
    "the column `seal` of `decisions` was removed": (
        "ALTER TABLE decisions DROP COLUMN seal",
        "UPDATE memories SET content = content || 'x'",
    ),
    "the column `seal` of `memories` was removed": ("ALTER TABLE memories DROP COLUMN seal",),
    "the column `error_code` of `tool_calls` was removed": (
        "ALTER TABLE tool_calls RENAME COLUMN error_code TO other",
    ),
    "the table `runs` was removed": ("ALTER TABLE runs RENAME TO r", "CREATE VIEW runs AS SELECT * FROM r"),
    "the view `mine` was added": ("CREATE VIEW mine AS SELECT 1",),
    "the index `once` was added": ("CREATE UNIQUE INDEX once ON tool_calls (raw_tool_name, tool_call_id)",),
    "the trigger `memories_forgotten` was added or changed": (
        "DROP TRIGGER memories_forgotten",
        "CREATE TRIGGER memories_forgotten AFTER DELETE ON memories BEGIN SELECT 1; END",
    ),
}


@pytest.mark.parametrize("problem", SCHEMA)
def test_a_changed_schema_is_found(store: Store, problem: str):
    store.edit(*SCHEMA[problem])
    code, out, err = store.snell("audit", "verify")
    assert (code, problem in out, err) == (1, True, "")


def test_a_trigger_of_another_program_neither_changes_nor_hides_what_snell_writes(store: Store):
    hides = "CREATE TRIGGER hide BEFORE INSERT ON {} BEGIN SELECT RAISE(IGNORE); END"
    alters = "CREATE TRIGGER alter_it AFTER INSERT ON {0} BEGIN UPDATE {0} SET {1} = 'x' WHERE rowid = NEW.rowid; END"
    store.edit(hides.format("traces"), hides.format("audit_chain").replace("hide", "hide_links"))
    store.edit(alters.format("decisions", "verdict"))
    store.call(9)
    store.edit("DROP TRIGGER hide", "DROP TRIGGER hide_links", "DROP TRIGGER alter_it")
    rows = store.rows("SELECT verdict, t.decision_id = d.id FROM decisions d JOIN traces t ON t.decision_id = d.id")
    assert rows == [("no_opinion", 1)] * 4
    assert store.findings().is_good


def test_a_chain_that_was_removed_is_missed_after_another_one_was_begun(store: Store):
    store.edit("DELETE FROM audit_chain", "DELETE FROM meta WHERE name = 'audit_head'")
    for name in ("audit.anchor", "audit.verified"):
        (store.home / "state" / name).unlink()
    for number in range(4, 8):
        store.call(number)
    code, out, _ = store.snell("audit", "verify", "--all", "--json")
    found = json.loads(out)
    assert (code, found["links"] > 10) == (1, True)
    assert any("links, which are gone now" in each for each in found["completeness"])


def test_a_verification_goes_on_from_the_last_one_that_found_nothing_and_all_begins_again(store: Store):
    first = json.loads(store.snell("audit", "verify", "--json")[1])
    assert first["since"] > 0, "the fixture has verified it"
    assert first["before"] == first["links"]
    store.edit("UPDATE decisions SET verdict = 'allow' WHERE seq = 1")
    store.call(8)
    code, out, _ = store.snell("audit", "verify")
    assert (code, f"verified from link {first['links'] + 1} on" in out) == (0, True), (
        "what was verified is not read again"
    )
    code, out, _ = store.snell("audit", "verify", "--all")
    assert (code, "was changed" in out, "verified from link" in out) == (1, True, False)
    store.call(9)
    store.edit("UPDATE decisions SET verdict = 'allow' WHERE seq = (SELECT MAX(seq) FROM decisions)")
    assert store.snell("audit", "verify")[0] == 1, "a record that came after the verified point"


@pytest.mark.parametrize("spoilt", [b"", b"{}", b"[]", None], ids=["empty", "an object", "a list", "other numbers"])
def test_a_verified_point_that_was_changed_counts_as_none(store: Store, spoilt: bytes | None):
    path = store.home / "state/audit.verified"
    point = json.loads(path.read_bytes())
    path.write_bytes(json.dumps({**point, "decision": 999}).encode() if spoilt is None else spoilt)
    store.edit("UPDATE decisions SET verdict = 'allow' WHERE seq = 1")
    assert store.snell("audit", "verify")[0] == 1


def test_a_record_is_not_deleted_as_old_because_another_program_made_it_look_old(store: Store):
    store.edit("UPDATE decisions SET at = 1 WHERE seq = 1", "UPDATE tool_calls SET updated_at = 1 WHERE rowid = 1")
    database = SqliteDatabase(store.home / "state/snell.db")
    audit_log = AuditLog(database, store.home / "state")
    audit_log.keep_up(at_once=True)
    database.run(lambda tx: audit_log.forget(tx, time.time_ns() // 1_000_000, 180))
    database.close()
    assert len([each for each in store.findings().integrity if "was changed" in each]) == 2


def test_progress_is_shown_on_a_terminal_and_nowhere_else(store: Store, monkeypatch: pytest.MonkeyPatch):
    assert store.snell("audit", "verify", "--all")[2] == ""
    main, side = pty.openpty()
    words = [sys.executable, "-m", "snell", "audit", "verify", "--all"]
    env = {"PATH": os.environ["PATH"], "HOME": str(store.home), "SNELL_HOME": str(store.home)}
    done = subprocess.run(words, env=env, cwd=store.home, stdout=subprocess.PIPE, stderr=side, check=False, timeout=60)
    os.close(side)
    shown = os.read(main, 10_000).decode()
    os.close(main)
    assert done.returncode == 0
    assert re.search(r"\rverified [\d,]+ of [\d,]+ rows", shown)
    assert shown.endswith("\r\x1b[K"), "the line is gone at the end"
