"""The database: whether it is writable and intact, and its size."""

import os
from collections.abc import Iterator

from snell.cli.health import Check, Installation, Status
from snell.model.errors import StoreError
from snell.records import lost_ledger
from snell.records.audit_log import AuditLog
from snell.runtime.app import database_of
from snell.runtime.database_journal import StoreJournal

LARGE = 2_000_000_000  # bytes
WAIT_SECONDS = 3.0  # for a ledger row that a daemon is about to write


def checks(installation: Installation) -> Iterator[Check]:
    path = installation.where.state / "snell.db"
    nearest = next(each for each in (path, *path.parents) if each.exists())
    if not os.access(nearest, os.W_OK):
        advice = "make it writable; until then no decision is stored"
        yield Check("store", "fail", f"{nearest} is not writable", advice)
        return
    if not path.exists():
        yield Check("store", "ok", f"{path} does not exist yet; the first event creates it")
        return
    database = database_of(installation.where)
    try:
        StoreJournal(database).take_in()  # records of a process that was killed
        damage = database.check()
        missing = "" if damage else AuditLog(database, installation.where.state).missing_calls(WAIT_SECONDS)
        lost = database.run(lost_ledger.lost_ledger, only_reads=True)
        rows = database.run(lambda tx: tx.rows("SELECT count(*) FROM decisions")[0][0], only_reads=True)
    except StoreError as error:
        yield Check("store", "fail", f"{error.where}: {error.message}", error.advice)
        return
    finally:
        database.close()
    if lost:
        advice = "in durable mode calls are held back; check what was done, then run `snell ledger release lost`"
        yield Check("store", "warn", f"the ledger was lost: {lost}", advice)
    if missing:
        yield Check("ledger", "warn", missing, "`snell audit verify` checks whether they were deleted")
    for problem in database.problems:
        yield Check("store", "warn", problem, "the moved file can be read with `sqlite3`")
    if damage:
        advice = f"stop the daemon and move {path} away; Snell then creates a new one"
        yield Check("store", "fail", f"{path} is damaged: {damage[0]}", advice)
        return
    size = database.size()
    status: Status = "warn" if size > LARGE else "ok"
    advice = (
        "old decisions are deleted automatically, but not before they were sent to the configured `database`"
        if size > LARGE
        else ""
    )
    yield Check("store", status, f"{path} is intact, {rows:,} decisions, {size / 1e6:.1f} MB", advice)
