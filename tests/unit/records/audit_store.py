"""A store with an audit chain, for tests that change it."""

import shutil
import time
from pathlib import Path
from typing import Any

from snell.audit.findings import Findings
from snell.audit.verification import Verification
from snell.memory.remember import remember
from snell.memory.shortlist import Shortlist
from snell.memory.types import Draft
from snell.records import claims, decisions, ledger
from snell.records.audit_anchors import ANCHOR_FILE
from snell.records.audit_log import AuditLog
from snell.records.claims import Claim, Receipt
from snell.records.decisions import Row
from snell.records.ledger import Call, End
from snell.store.sqlite import SqliteDatabase
from snell.work import runs
from snell.work.runs import Run

RECORDS = 60
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
        else:
            claims.put_receipt(
                tx, Receipt(tool_call_id=call.tool_call_id, run_id="r", at=at, status="failed", body="x")
            )
        fill_small_tables(tx, number, at)


WORDS = ["harbour", "lantern", "copper", "meadow", "violin", "glacier", "pepper", "saddle", "ribbon", "walnut"]


def fill_small_tables(tx: Any, number: int, at: int) -> None:
    text = f"The {WORDS[number % 10]} of {WORDS[number // 10 % 10]} {number} is kept in drawer {number * 7}"
    if not number % 3:
        draft = Draft(content=text, project="/p", idempotency_key=f"key{number}")
        assert remember(tx, draft, Shortlist(), is_gated=False, similar=2.0).status == "stored"
    if not number % 20:
        run = Run(run_id=f"run{number}", created_at=at)
        runs.start(tx, run)
        step = runs.next_step(tx, run.run_id, at)
        runs.checkpoint(tx, run, step.step_id, "pre_read_only", at, {})
        tx.do(
            "INSERT INTO run_replays (run_id, tool_call_id, position, raw_tool_name, normalized_args_hash, attempts,"
            " status) VALUES (?, ?, 1, 'Bash', 'h', 1, 'open')",
            run.run_id,
            f"s/t{number}",
        )


def end_two(tx: Any) -> None:
    for number in (0, 4):
        ledger.finish(tx, Call(tool_call_id=f"s/t{number}"), End(status="failed", at=NOW))


def make_store(folder: Path) -> Path:
    """Make a folder with a chain of several notes, and an older copy of its database beside it."""
    database = SqliteDatabase(folder / "snell.db")
    audit_log = AuditLog(database, folder)
    for first in range(0, RECORDS, 20):
        database.run(lambda tx, first=first: fill(tx, first, first + 20))  # type: ignore[misc] # its default
        audit_log.keep_up(at_once=True)
        if first == 20:
            database.checkpoint()
            shutil.copy(database.path, folder / "older.db")
            shutil.copy(folder / ANCHOR_FILE, folder / "older.anchor")
            database.run(end_two)
    assert audit_log.problem == ""
    database.checkpoint()
    database.close()
    return folder


def verified(folder: Path) -> Any:
    database = SqliteDatabase(folder / "snell.db")
    try:
        return everything(database, folder)
    finally:
        database.close()


def everything(database: SqliteDatabase, folder: Path) -> Findings:
    return Verification(database, folder).run(everything=True)


def fresh(original: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(original, to)
    to.chmod(0o700)
    return to
