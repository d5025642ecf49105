"""What is acknowledged stays, whatever happens to the process, the log, the file or the disk. Each prints a figure."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from snell.model.decision import Decision
from snell.records import decisions, marks
from snell.runtime.database_journal import StoreJournal
from snell.store.migrate import steps
from snell.store.sqlite import SqliteDatabase
from snell.testing.store_contract import do
from tests.faults.counts import Figure, times
from tests.faults.namespaces import HANG_BOUND, ROOT, alone, json_output_of
from tests.faults.store_children import EVENT, SECOND, command, id_of
from tests.seeds import draw_seed


@times("kills", 3, 50)
def test_no_acknowledged_row_is_lost_when_writers_are_killed(tmp_path: Path, kills: int, figure: Figure) -> None:
    """Two at a time, as when a decision is made beside the daemon; each of them moves the log into the file, too."""
    path, seed = tmp_path / "state" / "snell.db", draw_seed()
    chosen = random.Random(seed)
    acknowledged: set[str] = set()
    damage: list[str] = []
    began = time.monotonic()
    for _ in range(kills):
        first = len(acknowledged)
        said = killed_writers(path, (first, 10**9 + first), chosen.uniform(0.005, 0.12))
        acknowledged |= {id_of(number) for number in said}
        database = SqliteDatabase(path)
        damage += database.check() + database.problems
        stored = {row.id for row in do(database, decisions.rows_after, 0, 10**6)}
        database.close()
        assert acknowledged - stored == set()
    figure(
        test="T04",
        fault="kill -9 of writers",
        kills=2 * kills,
        acknowledged=len(acknowledged),
        lost=0,
        seed=seed,
        seconds=since(began),
    )
    assert damage == []
    assert len(acknowledged) > kills


def killed_writers(path: Path, firsts: tuple[int, ...], after: float) -> list[int]:
    """Start writers, kill them some time after their first rows, and return the rows that they acknowledged."""
    writers = [subprocess.Popen(command("write", path, first), cwd=ROOT, stdout=subprocess.PIPE) for first in firsts]
    said: list[bytes] = []
    for writer in writers:
        assert writer.stdout
        said.append(writer.stdout.readline())
    with contextlib.suppress(subprocess.TimeoutExpired):
        writers[0].wait(after)
    for writer in writers:
        writer.kill()
    for writer in writers:
        assert writer.stdout
        with writer.stdout:
            said += writer.stdout.readlines()
        assert writer.wait(HANG_BOUND) == -signal.SIGKILL
    return [int(line) for line in said if line.endswith(b"\n")]


@times("tails", 20, 500)
def test_a_torn_log_costs_at_most_its_torn_end(tmp_path: Path, tails: int, figure: Figure) -> None:
    seed = draw_seed()
    chosen = random.Random(seed)
    original, sizes = log_with_rows(tmp_path / "original")
    began = time.monotonic()
    least = 10**6
    for number in range(tails):
        copy = tmp_path / f"copy-{number}"
        shutil.copytree(original.parent, copy)
        (copy / "snell.db-shm").unlink()  # gone after a power cut, too
        torn_at = tear(copy / "snell.db-wal", chosen)
        whole = sum(size <= torn_at for size in sizes)
        database = SqliteDatabase(copy / "snell.db")
        found = [row.id for row in do(database, decisions.rows_after, 0, 10**6)]
        assert (database.check(), database.problems) == ([], [])
        assert found == [id_of(row) for row in range(len(found))]
        assert len(found) >= whole
        do(database, marks.put, "s", "still", "usable")
        database.close()
        least = min(least, len(found))
        shutil.rmtree(copy)
    figure(
        test="T05", fault="torn log", tails=tails, rows=len(sizes), fewest_left=least, seed=seed, seconds=since(began)
    )


def log_with_rows(folder: Path) -> tuple[Path, list[int]]:
    """A database whose first rows are in the file and whose others are in the log; the log's length after each row."""
    database = SqliteDatabase(folder / "snell.db")
    journal = StoreJournal(database)
    sizes = []
    for number in range(60):
        journal.commit(Decision(event=EVENT, id=id_of(number)))
        if number < 20:
            database.checkpoint()
        sizes.append(0 if number < 20 else database.log_size())
    database.close()
    return database.path, sizes


def tear(log: Path, chosen: random.Random) -> int:
    """Cut the log off somewhere, or fill it with noise from there on; returns where."""
    data = log.read_bytes()
    at = chosen.randrange(len(data))
    kind = chosen.choice(("cut", "noise", "zeros", "bit"))
    tail = {
        "cut": b"",
        "noise": chosen.randbytes(len(data) - at),
        "zeros": bytes(len(data) - at),
        "bit": bytes([data[at] ^ 1 << chosen.randrange(8)]) + data[at + 1 :],
    }[kind]
    log.write_bytes(data[:at] + tail)
    return at


@times("most", 4, 1000)
def test_a_migration_that_is_killed_leaves_the_old_schema_or_the_new_one(
    tmp_path: Path, most: int, figure: Figure
) -> None:
    code, statements = killed_migration(tmp_path / "whole" / "snell.db", 0)
    assert (code, schema_of(tmp_path / "whole" / "snell.db")) == (0, NEW)
    assert statements > len(SECOND.statements) + 3
    every = range(1, statements + 1)
    chosen = sorted(random.sample(every, min(most, statements)))
    versions = []
    for statement in chosen:
        path = tmp_path / f"{statement}" / "snell.db"
        assert killed_migration(path, statement)[0] == -signal.SIGKILL
        versions.append(schema_of(path))
    figure(test="T36", fault="killed migration", statements=statements, killed_at=chosen, schemas=versions)
    assert set(versions) <= {OLD, NEW}


OLD, NEW = str(SECOND.number - 1), str(SECOND.number)


def killed_migration(path: Path, statement: int) -> tuple[int, int]:
    """Make an old file and migrate it, dying before a statement; returns how that ended, and how many there were."""
    database = SqliteDatabase(path)
    do(database, marks.put, "s", "n", 1)
    database.close()
    done = subprocess.run(command("migrate", path, statement), cwd=ROOT, capture_output=True, check=False)
    return done.returncode, int(done.stdout or 0)


def schema_of(path: Path) -> str:
    database = SqliteDatabase(path, wanted=steps("sqlite"))
    ((version,),) = database.run(lambda tx: tx.rows("SELECT value FROM meta WHERE name = 'schema'"))
    tables = {
        name for (name,) in database.run(lambda tx: tx.rows("SELECT name FROM sqlite_master WHERE type = 'table'"))
    }
    columns = {name for _, name, *_ in database.run(lambda tx: tx.rows("PRAGMA table_info(marks)"))}
    assert {"one", "three"} & tables == ({"one", "three"} if version == NEW else set())
    assert ("two" in columns) == (version == NEW)
    assert (do(database, marks.get, "s", "n"), database.check()) == (1, [])
    database.close()
    return str(version)


def test_a_full_disk_loses_nothing_and_is_over_when_there_is_room(tmp_path: Path, figure: Figure) -> None:
    found = in_a_namespace("fill_the_disk", tmp_path)
    figure(test="T06", fault="disk full", **found)
    recovery = found.pop("recovery_seconds")
    assert found.pop("acknowledged") > 100
    assert recovery < 5
    assert found == {
        "refused": 10,
        "lost": 0,
        "readable_while_full": True,
        "damage": [],
        "marks": [True, True],
        "said": "the journal could not be written: `PATH/state/snell.db`: cannot be written: the disk is full;"
        " free some space",
    }


READ_ONLY = "cannot be written: it is read-only; make the file and its directory writable"


@pytest.mark.parametrize("layout", [("mount",), ("mount", "with-file")])
def test_on_a_read_only_disk_decisions_are_made_and_the_problem_is_told(
    tmp_path: Path, layout: tuple[str, ...], figure: Figure
) -> None:
    found = in_a_namespace("decide_without_a_disk", tmp_path, *layout)
    figure(test="T07", fault="read-only disk", layout=layout, decided=len(found["verdicts"]))
    assert (found["verdicts"], found["mark"]) == (["NO_OPINION"] * 3, 1)
    assert [problem.endswith(READ_ONLY) for problem in found["problems"]] == [True] * 3


@pytest.mark.parametrize("layout", ["no-entry", "a-file", "a-link", "file-not-writable"])
def test_where_nothing_may_be_written_decisions_are_made_and_the_problem_is_told(
    tmp_path: Path, layout: str, figure: Figure
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    if layout == "no-entry":
        place.chmod(0o555)
    elif layout == "a-file":
        (place / "state").write_text("", encoding="utf-8")
    elif layout == "a-link":
        (tmp_path / "elsewhere").mkdir()
        (place / "state").symlink_to(tmp_path / "elsewhere")
    else:
        SqliteDatabase(place / "state" / "snell.db").open()
        (place / "state" / "snell.db").chmod(0o400)
    # Root may write anywhere; in a namespace that does not know it, it is an owner like any other.
    wrap = ["unshare", "--user"] if os.geteuid() == 0 else []
    found = json_output_of([*wrap, *command("decide_without_a_disk", place)])
    place.chmod(0o755)
    figure(test="T07", fault="not writable", layout=layout, decided=len(found["verdicts"]))
    assert (found["verdicts"], found["mark"]) == (["NO_OPINION"] * 3, 1)
    said = {
        "no-entry": f"`PATH/state/snell.db`: {READ_ONLY}",
        "a-file": "`PATH/state`: is not a directory; move it away",
        "a-link": "`PATH/state`: is a symbolic link, which others could redirect; remove the link, or set"
        " SNELL_HOME to the directory it points to",
        "file-not-writable": f"`PATH/state/snell.db`: {READ_ONLY}",
    }[layout]
    assert found["problems"] == [
        f"the journal could not be written: {said}",
        f"marks could not be written: {said}",
        said,
    ]


def in_a_namespace(name: str, *arguments: object) -> dict[str, Any]:
    return alone(*command(name, *arguments))


def since(began: float) -> float:
    return round(time.monotonic() - began, 2)
