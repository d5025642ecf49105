"""The audit chain: nothing is changed or taken away without being noticed."""

import os
import stat
import threading
from pathlib import Path

import apsw
import pytest

from snell.audit.findings import Findings
from snell.audit.verification import Verification
from snell.model.errors import StoreError
from snell.records import claims, ledger
from snell.records.audit_anchors import ANCHOR_FILE
from snell.records.audit_key import KEY_FILE
from snell.records.audit_log import AuditLog
from snell.records.claims import Claim
from snell.records.ledger import Call, End
from snell.store.sqlite import SqliteDatabase
from tests.unit.records.audit_store import NOW, RECORDS, everything, fill, fresh, verified


@pytest.fixture
def copy(original: Path, tmp_path: Path) -> Path:
    return fresh(original, tmp_path / "state")


def test_an_untouched_audit_log_is_complete(copy: Path):
    found = verified(copy)
    assert (found.integrity, found.completeness) == ((), ())
    assert (found.decisions, found.calls, found.waiting) == (RECORDS, RECORDS, 0)
    for name in (KEY_FILE, ANCHOR_FILE):
        assert stat.S_IMODE((copy / name).stat().st_mode) == 0o600


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
    assert (audit_log.problem, everything(database, copy).integrity) == ("", ("tool call `s/t7` was changed",))
    database.close()


def test_a_head_that_was_taken_away_is_found_and_the_chain_goes_on(copy: Path):
    database = SqliteDatabase(copy / "snell.db")
    edit_file(copy, "DELETE FROM meta WHERE name = 'audit_head'")
    audit_log = AuditLog(database, copy)
    database.run(lambda tx: fill(tx, 100, 110))
    audit_log.keep_up(at_once=True)
    found = everything(database, copy)
    damage = "`meta` was damaged by another program, and repaired: its value `audit_head` was changed or removed"
    assert (audit_log.problem, found.waiting, damage in found.integrity) == ("", 0, True)
    database.close()


def edit_file(folder: Path, statement: str) -> None:
    """Change the database as another program does."""
    connection = apsw.Connection(str(folder / "snell.db"))
    connection.execute(statement)
    connection.close()


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
    is_good = Verification(database, key.parent).run().is_good
    assert (audit_log.problem, len(key.read_bytes()), is_good) == ("", 64, True)
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
        found.append(Verification(other, folder, 60).run())
    is_over.set()
    worker.join()
    assert [each for each in found if not each.is_good] == []
    other.close()
    database.close()


def test_a_claim_that_a_person_let_go_of_is_not_missed(copy: Path):
    database = SqliteDatabase(copy / "snell.db")
    audit_log = AuditLog(database, copy)
    database.run(lambda tx: claims.release(tx, "r", "k7"))
    assert everything(database, copy).completeness == ("the claim of tool call `s/t7` is missing",)
    taken = database.run(lambda tx: claims.holder(tx, "r", "k8"))
    database.run(lambda tx: claims.release(tx, "r", "k8"))  # of a call that still runs
    assert everything(database, copy).completeness[-1] == "the claim of tool call `s/t8` is missing"
    database.run(lambda tx: claims.claim(tx, taken))
    database.run(lambda tx: audit_log.note_release(tx, "s/t7"))
    audit_log.keep_up(at_once=True)
    assert everything(database, copy).is_good
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
    assert everything(database, copy).is_good
    wanted = Claim(run_id="r", key=key, tool_call_id=call, at=NOW, status="succeeded", preview="done")
    database.run(lambda tx: claims.claim(tx, wanted))
    assert everything(database, copy).integrity == (f"a claim for tool call `{call}` was inserted",)
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
    assert (left, everything(database, copy).is_good) == ([(1, 1)], True)
    database.close()
