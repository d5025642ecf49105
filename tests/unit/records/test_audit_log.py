"""The audit chain: nothing is changed or taken away without being noticed."""

import os
import random
import shutil
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from snell.model.errors import StoreError
from snell.records import claims, decisions, ledger
from snell.records.audit_check import Findings
from snell.records.audit_log import ANCHOR_FILE, KEY_FILE, AuditLog
from snell.records.claims import Claim
from snell.records.decisions import Row
from snell.records.ledger import Call, End
from snell.store.sqlite import SqliteDatabase
from tests.case_counts import cases

RECORDS = 60
MUTATIONS = cases(240, 1_000)
NOW = time.time_ns() // 1_000_000


def fill(tx: Any, first: int, last: int) -> None:
    for number in range(first, last):
        at = NOW + number
        row = Row(id=f"{number:06x}-d", at=at, session_id=f"s{number % 3}", verdict="no_opinion", tool="Bash")
        decisions.add(tx, row)
        decisions.add_trace(tx, row.id, f'{{"number":{number}}}')
        call = Call(
            tool_call_id=f"s/t{number}",
            run_id="r",
            created_at=at,
            idempotency_key=f"k{number}",
            raw_tool_name="Bash",
            request_ref=ledger.put_body(tx, f'{{"command":"echo {number}"}}', at=at, size=9),
        )
        ledger.begin(tx, call)
        claims.claim(tx, Claim(run_id="r", key=f"k{number}", tool_call_id=call.tool_call_id, at=at))
        if number % 4:
            ref = ledger.put_body(tx, f"what {number} brought", at=at, size=12)
            ledger.finish(tx, call, End(status="succeeded", at=at + 5, response_ref=ref))
            claims.settle(tx, "r", f"k{number}", "succeeded", "brought")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a chain of several notes, and an older copy of its database beside it."""
    folder = tmp_path_factory.mktemp("audit") / "state"
    database = SqliteDatabase(folder / "snell.db")
    audit_log = AuditLog(database, folder)
    for first in range(0, RECORDS, 20):
        database.run(lambda tx, first=first: fill(tx, first, first + 20))  # type: ignore[misc] # its default
        audit_log.keep_up(at_once=True)
        if first == 20:
            database.back_up(folder / "older.db")
            shutil.copy(folder / ANCHOR_FILE, folder / "older.anchor")
    assert audit_log.problem == ""
    database.checkpoint()
    database.close()
    return folder


def verified(folder: Path) -> Any:
    database = SqliteDatabase(folder / "snell.db")
    try:
        return AuditLog(database, folder).verify()
    finally:
        database.close()


@pytest.fixture
def copy(original: Path, tmp_path: Path) -> Path:
    return fresh(original, tmp_path / "state")


def fresh(original: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(original, to)
    to.chmod(0o700)
    return to


def test_an_untouched_audit_log_is_complete(copy: Path):
    found = verified(copy)
    assert (found.integrity, found.completeness) == ((), ())
    assert (found.decisions, found.calls, found.waiting) == (RECORDS, RECORDS, 0)
    for name in (KEY_FILE, ANCHOR_FILE):
        assert stat.S_IMODE((copy / name).stat().st_mode) == 0o600


TABLES = {
    "decisions": ("seq", decisions.FIELDS),
    "tool_calls": ("rowid", (*ledger.FIELDS, "revision")),
    "traces": ("seq", ("decision_id", "body", "late")),
    "tool_bodies": ("ref", ("size", "body")),
    "tool_claims": ("idempotency_key", ("tool_call_id", "at", "status", "preview")),
    "audit_chain": ("seq", ("kind", "record_id", "digest", "link")),
}


def a_row_of(sql: apsw.Connection, chance: random.Random, table: str) -> Any:
    """Of bodies and claims, one that belongs to a call which has ended: it is not known yet how the others will end."""
    ended = "SELECT {} FROM tool_calls WHERE status = 'succeeded'"
    only = {
        "tool_claims": f" WHERE idempotency_key IN ({ended.format('idempotency_key')})",
        "tool_bodies": f" WHERE ref IN ({ended.format('request_ref')} UNION {ended.format('response_ref')})",
    }
    return chance.choice(sql.execute(f"SELECT {TABLES[table][0]} FROM {table}{only.get(table, '')}").fetchall())[0]


def end_it(sql: apsw.Connection, chance: random.Random, _folder: Path) -> None:
    """A call that is open is made to look as if it had succeeded."""
    row = chance.choice(sql.execute("SELECT rowid FROM tool_calls WHERE status = 'prepared'").fetchall())[0]
    sql.execute("UPDATE tool_calls SET status = 'succeeded' WHERE rowid = ?", (row,))


def edit(sql: apsw.Connection, chance: random.Random, _folder: Path) -> None:
    table = chance.choice(list(TABLES))
    key, columns = TABLES[table]
    row = a_row_of(sql, chance, table)
    column = chance.choice(columns)
    before = sql.execute(f"SELECT {column} FROM {table} WHERE {key} = ?", (row,)).fetchall()[0][0]
    after = before + 1_000_000 if isinstance(before, int | float) else f"{before}x"
    sql.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (after, row))


def drop(sql: apsw.Connection, chance: random.Random, _folder: Path) -> None:
    table = chance.choice(list(TABLES))
    key, row = TABLES[table][0], a_row_of(sql, chance, table)
    sql.execute(f"DELETE FROM {table} WHERE {key} = ?", (row,))


def reorder(sql: apsw.Connection, chance: random.Random, _folder: Path) -> None:
    table = chance.choice(["decisions", "audit_chain"])
    one, other = chance.sample([row[0] for row in sql.execute(f"SELECT seq FROM {table}").fetchall()], 2)
    for old, new in ((one, -1), (other, one), (-1, other)):
        sql.execute(f"UPDATE {table} SET seq = ? WHERE seq = ?", (new, old))


def swap(sql: apsw.Connection, chance: random.Random, _folder: Path) -> None:
    one, other = chance.sample([row[0] for row in sql.execute("SELECT ref FROM tool_bodies").fetchall()], 2)
    ended = "SELECT request_ref FROM tool_calls WHERE status = 'succeeded'"
    while (one,) not in sql.execute(ended).fetchall():
        one = chance.choice(sql.execute(ended).fetchall())[0]
    if one == other:
        other = "other"
    sql.execute("UPDATE tool_bodies SET body = body || ? WHERE ref = ?", (other, one))


def truncate(sql: apsw.Connection, chance: random.Random, _folder: Path) -> None:
    """The end of everything goes, so that what is left fits together."""
    link = chance.randrange(1, sql.execute("SELECT MAX(seq) FROM audit_chain").fetchall()[0][0])
    gone = [row[0] for row in sql.execute("SELECT record_id FROM audit_chain WHERE seq > ?", (link,)).fetchall()]
    for id_ in gone:
        sql.execute("DELETE FROM decisions WHERE id = ?", (id_,))
        sql.execute("DELETE FROM tool_calls WHERE tool_call_id = ?", (id_,))
    sql.execute("DELETE FROM audit_chain WHERE seq > ?", (link,))
    sql.execute("DELETE FROM meta WHERE name = 'audit_head'")


def insert(sql: apsw.Connection, chance: random.Random, _folder: Path) -> None:
    sql.execute("UPDATE decisions SET seq = seq + 1000000 WHERE seq = (SELECT MAX(seq) FROM decisions)")
    columns = ", ".join(name for name in decisions.FIELDS if name != "id")
    sql.execute(
        f"INSERT INTO decisions (seq, id, {columns}) SELECT {RECORDS}, 'forged', {columns} FROM decisions LIMIT 1"
    )


def roll_back(_sql: apsw.Connection, chance: random.Random, folder: Path) -> None:
    for name in ("snell.db-wal", "snell.db-shm"):
        (folder / name).unlink(missing_ok=True)
    shutil.copy(folder / "older.db", folder / "snell.db")


def cut_notes(_sql: apsw.Connection, chance: random.Random, folder: Path) -> None:
    path = folder / ANCHOR_FILE
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: chance.randrange(len(lines))]))


def change_notes(_sql: apsw.Connection, chance: random.Random, folder: Path) -> None:
    path = folder / ANCHOR_FILE
    data = bytearray(path.read_bytes())
    at = chance.choice([index for index, byte in enumerate(data) if byte != 10])
    data[at] = data[at] ^ 1 or 49
    path.write_bytes(bytes(data))


def other_key(_sql: apsw.Connection, chance: random.Random, folder: Path) -> None:
    (folder / KEY_FILE).write_text(chance.randbytes(32).hex(), encoding="ascii")


KINDS: tuple[Callable[[apsw.Connection, random.Random, Path], None], ...] = (
    edit, edit, edit, end_it, drop, drop, reorder, swap, truncate, insert, roll_back,
    cut_notes, change_notes, other_key,
)  # fmt: skip


@pytest.mark.parametrize("part", range(4))
def test_random_changes_are_all_noticed(original: Path, tmp_path: Path, part: int):
    missed = []
    for number in range(part, MUTATIONS, 4):
        folder = fresh(original, tmp_path / "state")
        chance = random.Random(number)
        kind = KINDS[number % len(KINDS)]
        connection = apsw.Connection(str(folder / "snell.db"))
        connection.pragma("foreign_keys", 0)
        kind(connection, chance, folder)
        connection.close()
        if verified(folder).is_good:
            missed.append((number, kind.__name__))
    assert missed == []


def test_integrity_and_completeness_are_told_apart(copy: Path):
    connection = apsw.Connection(str(copy / "snell.db"))
    connection.execute("UPDATE decisions SET verdict = 'allow' WHERE id = '000005-d'")
    connection.execute("DELETE FROM tool_calls WHERE tool_call_id = 's/t7'")
    connection.close()
    found = verified(copy)
    assert found.integrity == ("decision `000005-d` was changed",)
    assert found.completeness == ("tool call `s/t7` is missing",)


def test_what_was_changed_is_not_made_good_by_going_on(copy: Path):
    database = SqliteDatabase(copy / "snell.db")
    database.run(
        lambda tx: tx.do("UPDATE tool_calls SET error_detail = 'x', revision = 9999 WHERE tool_call_id = 's/t7'")
    )
    audit_log = AuditLog(database, copy)
    database.run(lambda tx: fill(tx, 100, 110))
    audit_log.keep_up(at_once=True)
    assert (audit_log.problem, audit_log.verify().integrity) == ("", ("tool call `s/t7` was changed",))
    database.close()


def test_a_head_that_was_taken_away_costs_nothing(copy: Path):
    database = SqliteDatabase(copy / "snell.db")
    database.run(lambda tx: tx.do("DELETE FROM meta WHERE name = 'audit_head'"))
    audit_log = AuditLog(database, copy)
    database.run(lambda tx: fill(tx, 100, 110))
    audit_log.keep_up(at_once=True)
    assert audit_log.verify().is_good
    database.close()


def test_a_crash_between_chain_and_note_heals(copy: Path):
    lines = (copy / ANCHOR_FILE).read_bytes().splitlines(keepends=True)
    (copy / ANCHOR_FILE).write_bytes(b"".join(lines[:-1]) + lines[-1][:20])
    found = verified(copy)
    assert (found.is_good, len(found.interrupted)) == (True, 2)
    database = SqliteDatabase(copy / "snell.db")
    AuditLog(database, copy).keep_up(at_once=True)
    database.close()
    found = verified(copy)
    assert (found.is_good, found.interrupted) == (True, ())


@pytest.mark.parametrize("left", [None, "", "ab" * 31], ids=["gone", "emptied", "cut short"])
def test_without_its_key_a_chain_neither_goes_on_nor_is_good(copy: Path, left: str | None):
    (copy / KEY_FILE).unlink()
    if left is not None:
        (copy / KEY_FILE).write_text(left, encoding="ascii")
    assert "is missing, so no link can be checked" in verified(copy).integrity[0]
    database = SqliteDatabase(copy / "snell.db")
    audit_log = AuditLog(database, copy)
    audit_log.keep_up(at_once=True)
    assert "the audit key is missing, so the chain cannot be extended" in audit_log.problem
    assert (copy / KEY_FILE).exists() == (left is not None)
    database.close()


def test_a_key_that_a_full_disk_cut_short_is_made_anew_before_anything_is_chained_with_it(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "state" / "snell.db")
    database.run(lambda tx: fill(tx, 0, 2))
    key = tmp_path / "state" / KEY_FILE
    key.touch()
    audit_log = AuditLog(database, key.parent)
    audit_log.keep_up(at_once=True)
    assert (audit_log.problem, len(key.read_bytes()), audit_log.verify().is_good) == ("", 64, True)
    database.close()


def test_a_key_that_is_a_link_or_nonsense_is_refused(copy: Path, tmp_path: Path):
    for spoil in (
        lambda path: path.write_text("nonsense", encoding="ascii"),
        lambda path: os.symlink("/dev/zero", path),
    ):
        (copy / KEY_FILE).unlink()
        spoil(copy / KEY_FILE)
        with pytest.raises(StoreError, match="the audit key cannot be read"):
            verified(copy)


def test_a_chain_that_grows_meanwhile_is_no_alarm(tmp_path: Path):
    """One process writes and chains all the time, as a busy daemon does; another one looks."""
    folder = tmp_path / "state"
    database = SqliteDatabase(folder / "snell.db")
    audit_log, is_over = AuditLog(database, folder), threading.Event()

    def work() -> None:
        number = 0
        while not is_over.is_set():
            database.run(lambda tx, number=number: fill(tx, number, number + 5))  # type: ignore[misc] # its default
            audit_log.keep_up(at_once=True)
            number += 5

    worker = threading.Thread(target=work)
    worker.start()
    other = SqliteDatabase(folder / "snell.db")
    found = [Findings()]
    while found[-1].links < 500:
        found.append(AuditLog(other, folder).verify(deadline=60))
    is_over.set()
    worker.join()
    assert [each for each in found if not each.is_good] == []
    other.close()
    database.close()


def test_a_claim_that_a_person_let_go_of_is_not_missed(copy: Path):
    database = SqliteDatabase(copy / "snell.db")
    audit_log = AuditLog(database, copy)
    database.run(lambda tx: claims.release(tx, "r", "k7"))
    assert audit_log.verify().completeness == ("the claim of tool call `s/t7` is missing",)
    taken = database.run(lambda tx: claims.holder(tx, "r", "k8"))
    database.run(lambda tx: claims.release(tx, "r", "k8"))  # of a call that still runs
    assert audit_log.verify().completeness[-1] == "the claim of tool call `s/t8` is missing"
    database.run(lambda tx: claims.claim(tx, taken))
    database.run(lambda tx: audit_log.note_release(tx, "s/t7"))
    audit_log.keep_up(at_once=True)
    assert audit_log.verify().is_good
    database.close()


@pytest.mark.parametrize(
    ("key", "call"),
    [("new", "s/never"), ("another key", "s/t7"), ("kf", "s/f")],  # no call; another key; one that held none
)
def test_a_claim_that_was_put_in_is_noticed(copy: Path, key: str, call: str):
    database = SqliteDatabase(copy / "snell.db")
    free = Call(tool_call_id="s/f", run_id="r", created_at=NOW, idempotency_key="kf")
    database.run(lambda tx: ledger.finish(tx, free, End(status="succeeded", at=NOW)))
    AuditLog(database, copy).keep_up(at_once=True)
    assert AuditLog(database, copy).verify().is_good
    wanted = Claim(run_id="r", key=key, tool_call_id=call, at=NOW, status="succeeded", preview="done")
    database.run(lambda tx: claims.claim(tx, wanted))
    assert AuditLog(database, copy).verify().integrity == (f"a claim for tool call `{call}` was inserted",)
    database.close()


def test_where_nothing_happened_yet_nothing_is_wrong(tmp_path: Path):
    found = verified(tmp_path / "state")
    assert (found.is_good, found.links) == (True, 0)


def test_old_records_go_and_are_not_missed(copy: Path):
    database = SqliteDatabase(copy / "snell.db")
    audit_log = AuditLog(database, copy)
    database.run(lambda tx: fill(tx, 100, 102))
    audit_log.keep_up(at_once=True)
    database.run(lambda tx: audit_log.forget(tx, NOW + 365 * 86_400_000, 180))
    audit_log.keep_up(at_once=True)
    left = database.run(
        lambda tx: tx.rows("SELECT (SELECT COUNT(*) FROM decisions), (SELECT COUNT(*) FROM tool_calls)")
    )
    assert (left, audit_log.verify().is_good) == ([(1, 1)], True)
    database.close()
