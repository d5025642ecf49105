"""The database: is it whole, and how large has it become?"""

import os
from collections.abc import Iterator

from snell.cli.health import Check, Status, Visit
from snell.model.errors import StoreError
from snell.records import lost_ledger
from snell.records.audit_log import AuditLog
from snell.runtime.app import database_of
from snell.runtime.database_journal import StoreJournal

LARGE = 2_000_000_000  # bytes
PATIENCE = 3.0  # seconds for a ledger row that a daemon is about to write


def checks(visit: Visit) -> Iterator[Check]:
    path = visit.where.state / "snell.db"
    nearest = next(each for each in (path, *path.parents) if each.exists())
    if not os.access(nearest, os.W_OK):
        advice = "make it writable for you; until then nothing that is decided is kept"
        yield Check("store", "fail", f"{nearest} cannot be written", advice)
        return
    if not path.exists():
        yield Check("store", "ok", f"{path} is not there yet; the first event makes it")
        return
    database = database_of(visit.where)
    try:
        StoreJournal(database).take_in()  # what a process left behind that was killed
        wrong = database.check()
        missing = "" if wrong else AuditLog(database, visit.where.state).missing_calls(PATIENCE)
        lost = database.run(lost_ledger.lost_ledger, only_reads=True)
        rows = database.run(lambda tx: tx.rows("SELECT count(*) FROM decisions")[0][0], only_reads=True)
    except StoreError as error:
        yield Check("store", "fail", f"{error.where}: {error.message}", error.advice)
        return
    finally:
        database.close()
    if lost:
        advice = "in durable mode side effects wait; look what was done, then `snell ledger release lost`"
        yield Check("store", "warn", f"the ledger was lost: {lost}", advice)
    if missing:
        yield Check("ledger", "warn", missing, "`snell audit verify` says whether they were deleted")
    for problem in database.problems:
        yield Check("store", "warn", problem, "what was moved can be looked at with `sqlite3`")
    if wrong:
        advice = f"stop the daemon and move {path} away; a new one is begun"
        yield Check("store", "fail", f"{path} is damaged: {wrong[0]}", advice)
        return
    size = database.size()
    status: Status = "warn" if size > LARGE else "ok"
    advice = "old decisions go by themselves; a `database` that cannot be reached keeps them" if size > LARGE else ""
    yield Check("store", status, f"{path} is whole, {rows:,} decisions, {size / 1e6:.1f} MB", advice)
