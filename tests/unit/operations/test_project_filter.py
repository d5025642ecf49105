"""Sessions of one project, also when all that is left of them is their small rows."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from snell.model.protocols import Transaction
from snell.operations.journal import ProjectFilter
from snell.records import decisions, retention
from snell.records.decisions import Row
from snell.store.sqlite import SqliteDatabase

DAY = retention.DAY_MS


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "state" / "snell.db")
    rows = [Row(id=f"{each:03}", at=each, session_id=f"s{each % 2}") for each in range(20)]
    database.run(lambda tx: decisions.add_many(tx, [*rows, Row(id="new", at=100 * DAY, session_id="s9")]))
    bodies = {each.id: {"cwd": f"/srv/{each.session_id}", "secretive": "text"} for each in rows}

    def trace(tx: Transaction) -> None:
        for id_, body in {**bodies, "new": {"cwd": "/srv/s9"}}.items():
            decisions.add_trace(tx, id_, msgspec.json.encode(body).decode())

    database.run(trace)
    yield database
    database.close()


def sessions_of(database: SqliteDatabase, project: str) -> list[str]:
    return [each.session_id for each in database.run(lambda tx: ProjectFilter(tx, project).sessions(10))]


def test_a_session_whose_traces_are_gone_is_still_of_its_project(database: SqliteDatabase) -> None:
    assert database.run(lambda tx: retention.expire_traces(tx, now=100 * DAY)) == 20
    assert database.run(lambda tx: tx.rows("SELECT decision_id FROM traces")) == [("new",)]
    assert (sessions_of(database, "/srv/s1"), sessions_of(database, "/srv/s0")) == (["s1"], ["s0"])
    assert sessions_of(database, "*") == ["s9", "s1", "s0"]
    assert database.run(lambda tx: ProjectFilter(tx, "/srv/s0").last()).id == "018"


def test_where_it_was_goes_with_its_decisions(database: SqliteDatabase) -> None:
    database.run(lambda tx: retention.expire_traces(tx, now=100 * DAY))
    assert database.run(lambda tx: retention.folder_of(tx, "s1")) == "/srv/s1"
    database.run(lambda tx: retention.expire_decisions(tx, now=300 * DAY))
    left = "SELECT name FROM meta WHERE name LIKE 'folder of session %'"
    assert database.run(lambda tx: (tx.rows(left), retention.folder_of(tx, "s1"))) == ([], "")
