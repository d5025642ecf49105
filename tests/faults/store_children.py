"""
Programs that the fault tests start: `python -m tests.faults.store_children NAME PATH ...`. Each prints what it found.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw

from snell.model.decision import Decision
from snell.model.errors import StoreError
from snell.model.events import event_from
from snell.records import decisions
from snell.runtime.app import Runtime
from snell.runtime.database_journal import StoreJournal
from snell.runtime.stored_marks import StoredMarks
from snell.store.migrate import Step, steps
from snell.store.sqlite import SqliteDatabase

EVENT = event_from({"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "ls"}}, "PreToolUse")
SECOND = Step(
    steps("sqlite")[-1].number + 1,
    ("CREATE TABLE one (n BIGINT)", "ALTER TABLE marks ADD COLUMN two TEXT", "CREATE TABLE three (n BIGINT)"),
)


def id_of(number: int) -> str:
    return f"{number:012x}-test"


def write(path: str, first: str) -> None:
    """Commit row after row and say each number once it is committed; checkpoints go on meanwhile."""
    database = SqliteDatabase(Path(path))
    journal = StoreJournal(database)
    threading.Thread(target=_checkpoints, args=(database,), daemon=True).start()
    number = int(first)
    while True:
        journal.commit(Decision(event=EVENT, id=id_of(number)), f"key-{number}")
        if journal.problem:
            sys.exit(journal.problem)
        os.write(1, f"{number}\n".encode())
        if number % 3 == 0:
            journal.record({"id": id_of(number), "event": "PreToolUse", "verdict": "no_opinion", "value": "x" * 2000})
        number += 1


def migrate(path: str, statement: str) -> None:
    """Take a step of the schema and die before its n-th statement."""
    count = 0

    def die(_cursor: Any, sql: str, _bindings: Any) -> bool:
        nonlocal count
        count += 1
        if count == int(statement):
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    apsw.connection_hooks.append(lambda connection: setattr(connection, "exec_trace", die))
    SqliteDatabase(Path(path), wanted=(*steps("sqlite"), SECOND)).open()
    print(count)


def fill_the_disk(path: str) -> None:
    """Write until the disk is full, go on, make room, go on; then count."""
    folder = Path(path)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder], check=True)
    database = SqliteDatabase(folder / "state" / "snell.db")
    journal, marks = StoreJournal(database), StoredMarks(database)
    ballast = folder / "ballast"
    ballast.write_bytes(bytes(1_500_000))
    acknowledged, refused = _commits(journal, 0, until_full=True)
    marks.put("session:s1", "while-full", True)
    readable = database.run(lambda tx: decisions.find(tx, "last")) is not None
    said = journal.problem
    ballast.unlink()
    began = time.monotonic()
    more, _ = _commits(journal, acknowledged + refused, until_full=False)
    recovered = time.monotonic() - began
    marks.put("session:s1", "after", True)
    database.close()
    again = SqliteDatabase(folder / "state" / "snell.db")
    stored = {row.id for row in again.run(lambda tx: decisions.rows_after(tx, 0, 1_000_000))}
    wanted = {id_of(number) for number in range(acknowledged + refused + more)}
    found = {
        "acknowledged": acknowledged + more,
        "refused": refused,
        "lost": len(wanted - stored),
        "readable_while_full": readable,
        "damage": again.check(),
        "marks": [StoredMarks(again).get("session:s1", name) for name in ("while-full", "after")],
        "said": said.replace(path, "PATH"),
        "recovery_seconds": round(recovered, 3),
    }
    print(json.dumps(found))


def decide_without_a_disk(path: str, *layout: str) -> None:
    """Decide events although nothing can be written."""
    folder = Path(path)
    if "mount" in layout:
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=True)
        if "with-file" in layout:
            made = SqliteDatabase(folder / "state" / "snell.db")
            made.open()
            made.close()  # else the disk is in use
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    database = SqliteDatabase(folder / "state" / "snell.db")
    journal, marks = StoreJournal(database), StoredMarks(database)
    runtime = Runtime.embed(marks=marks, journal=journal)
    verdicts = [runtime.decide(EVENT).verdict.name for _ in range(3)]
    marks.put("session:s1", "mark", 1)
    try:
        database.run(lambda tx: tx.do("DELETE FROM marks"))
        opened = ""
    except StoreError as error:
        opened = str(error)
    problems = [text.replace(path, "PATH") for text in (journal.problem, marks.problem, opened)]
    print(json.dumps({"verdicts": verdicts, "mark": marks.get("session:s1", "mark"), "problems": problems}))
    runtime.close()


def _checkpoints(database: SqliteDatabase) -> None:
    while True:
        time.sleep(0.004)
        database.checkpoint()


def _commits(journal: StoreJournal, first: int, *, until_full: bool) -> tuple[int, int]:
    """How many were acknowledged and how many were not: until ten in a row are refused, or fifty times."""
    done = refused = 0
    while refused < 10 if until_full else done < 50:
        number = first + done + refused
        journal.commit(Decision(event=EVENT, id=id_of(number)))
        refused += bool(journal.problem)
        done += not journal.problem
        if refused and not journal.problem:
            refused, done = 0, done + refused  # what was refused is written with what came after it
    return done, refused


def main(name: str, *arguments: str) -> None:
    programs = (write, migrate, fill_the_disk, decide_without_a_disk)
    {program.__name__: program for program in programs}[name](*arguments)


def command(name: str, *arguments: object) -> Sequence[str]:
    return [sys.executable, "-m", __name__, name, *map(str, arguments)]


if __name__ == "__main__":
    main(*sys.argv[1:])
