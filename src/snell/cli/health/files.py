"""Permissions of folders and files, the state of the database, and the word table of memories."""

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from snell.cli.health import Check, Installation
from snell.daemon.listener import SOCKET_NAME, socket_path
from snell.llm.embeddings.word_table import word_table
from snell.model.errors import StoreError
from snell.records import lost_ledger, retention
from snell.records.audit_log import AuditLog
from snell.runtime.app import database_of
from snell.runtime.database_journal import StoreJournal
from snell.settings.load import load
from snell.system.paths import POLICY_FILE, PlaceError, has_room

OTHERS_READ, OTHERS_WRITE = 0o077, 0o022


def folders_checks(installation: Installation) -> Iterator[Check]:
    where = installation.where
    yield _check_mode("state folder", where.state, OTHERS_READ)
    yield _check_mode("run folder", where.run, OTHERS_READ)
    yield _check_mode("config folder", where.config, OTHERS_WRITE)
    files = {"socket": where.run / SOCKET_NAME, "store file": where.state / "snell.db"}
    for name, path in {**files, "http token": where.state / "http-token"}.items():
        if os.path.lexists(path):
            yield _check_mode(name, path, OTHERS_READ)
    if POLICY_FILE.exists() and os.stat(POLICY_FILE).st_mode & OTHERS_WRITE:
        yield Check("policy", "fail", f"{POLICY_FILE} is writable by other users", f"`chmod go-w {POLICY_FILE}`")
    try:
        socket_path(where.run)
    except PlaceError as error:
        yield Check("socket", "fail", f"{error.where} {error.message}", error.advice)
    if os.geteuid() == 0:
        yield Check("user", "warn", "Snell and every hook run as root", "outside containers, use an ordinary user")


def _check_mode(name: str, path: Path, mask: int) -> Check:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return Check(name, "ok", f"{path} does not exist yet")
    if stat.S_ISLNK(found.st_mode):
        return Check(name, "fail", f"{path} is a symbolic link, which is not safe here", "remove the link")
    if found.st_uid != os.geteuid():
        return Check(name, "fail", f"{path} belongs to another user (uid {found.st_uid})", "remove it")
    mode = stat.S_IMODE(found.st_mode)
    if mode & mask:
        what = "readable" if mask == OTHERS_READ else "writable"
        return Check(name, "fail", f"{path} is {what} by other users (mode {mode:o})", f"`chmod go-rwx {path}`")
    return Check(name, "ok", f"{path}, mode {mode:o}")


_IF_LARGE = "old rows are deleted soon, but not before they were sent to the configured `database`, and none of today"
LOG_MEGABYTES = 64  # of the write-ahead log, which does not count
WAIT_SECONDS = 3.0  # for a ledger row that a daemon is about to write


def store_checks(installation: Installation) -> Iterator[Check]:
    path = installation.where.state / "snell.db"
    nearest = next(each for each in (path, *path.parents) if each.exists())
    if not (can_write := os.access(nearest, os.W_OK)) or not has_room(nearest):
        what, advice = ("on a full disk", "free some space") if can_write else ("not writable", "make it writable")
        yield Check("store", "fail", f"{nearest} is {what}", f"{advice}; until then no decision is stored")
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
        deleted = database.run(retention.read_deleted, only_reads=True)
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
    size, limit = database.size() / 1e6, load(installation.where, Path("/"), installation.env).value("store_megabytes")
    detail = f"{path} is intact, {rows:,} decisions, {size:,.1f} of at most {limit:,} MB{_describe(deleted)}"
    is_large = size > limit * 1.1 + LOG_MEGABYTES
    yield Check("store", "warn" if is_large else "ok", detail, _IF_LARGE if is_large else "")


def _describe(deleted: retention.Deleted) -> str:
    """Return what was deleted to keep the size limit; empty if nothing was."""
    kinds = {"traces": deleted.traces, "inputs and outputs": deleted.bodies, "records": deleted.days}
    days = {name: time.strftime("%F %R", time.localtime(before / 1000)) for name, before in kinds.items() if before}
    return "".join(f"; {name} before {day} were deleted to keep it so" for name, day in days.items())


def memory_checks(installation: Installation) -> Iterator[Check]:
    table = word_table()
    if table.problem:
        advice = "until then memories are found only by exact words; install Snell again"
        yield Check("memory", "warn", table.problem, advice)
    else:
        yield Check("memory", "ok", f"word table OK ({len(table.stems):,} stems)")
