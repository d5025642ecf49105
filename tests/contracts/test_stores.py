"""Every backend keeps the same promises, the real PostgreSQL included."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from snell.model.errors import StoreError
from snell.model.protocols import Database
from snell.model.tables import put_meta
from snell.runtime.stored_marks import StoredMarks
from snell.store.in_memory import InMemoryStore
from snell.store.migrate import Step, steps
from snell.store.postgres import PostgresDatabase
from snell.store.sqlite import SqliteDatabase
from snell.testing.store_contract import DATABASE_CHECKS, check_database, check_store, store_contract

LATEST = steps("sqlite")[-1].number

needs_server = pytest.mark.process

Make = Callable[[str], Database]


@pytest.fixture
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    if request.param == "postgres":
        on_postgres: Make = request.getfixturevalue("on_postgres")
        return on_postgres
    return lambda place: SqliteDatabase(tmp_path / "state" / f"{place}.db")


every_backend = pytest.mark.parametrize("make", ["sqlite", pytest.param("postgres", marks=needs_server)], indirect=True)


@every_backend
@pytest.mark.parametrize("check", DATABASE_CHECKS)
def test_a_database_keeps_its_promises(make: Make, check: str) -> None:
    check_database(check, make)


def test_the_whole_contract_is_one_call(tmp_path: Path) -> None:
    store_contract(lambda place: SqliteDatabase(tmp_path / "state" / f"{place}.db"))


@every_backend
def test_stored_marks_keep_the_promises_of_a_store(make: Make) -> None:
    database = make("marks")
    check_store(lambda: StoredMarks(database))
    database.close()


def test_marks_in_memory_keep_the_promises_of_a_store() -> None:
    check_store(InMemoryStore)


@every_backend
def test_both_dialects_read_the_same_steps(make: Make) -> None:
    assert [step.number for step in steps("sqlite")] == [step.number for step in steps("postgres")]
    make("a").close()


@every_backend
def test_a_newer_schema_is_read_and_not_written(make: Make) -> None:
    first = make("a")
    first.run(lambda tx: put_meta(tx, "schema", "999"))
    first.close()
    again = make("a")
    assert again.run(lambda tx: tx.rows("SELECT count(*) FROM decisions")) == [(0,)]
    with pytest.raises(StoreError, match=r"was made by a newer Snell \(schema 999\).*upgrade this Snell"):
        again.run(lambda tx: put_meta(tx, "x", "y"))
    assert again.run(lambda tx: tx.rows("SELECT name FROM meta")) == [("schema",)]
    assert [problem.split("; ")[-1] for problem in again.problems] == ["upgrade this Snell"]
    again.close()


@pytest.mark.process
def test_postgres_migrates_forward_and_undoes_a_step_that_fails(on_postgres: Make, postgres) -> None:
    schema = on_postgres("m")._schema
    first = PostgresDatabase(postgres.address, schema=schema)
    first.run(lambda tx: put_meta(tx, "kept", "yes"))
    first.close()
    broken = Step(LATEST + 1, ("CREATE TABLE half (n BIGINT)", "CREATE TABLE broken (nonsense"))
    failing = PostgresDatabase(postgres.address, schema=schema, wanted=(*steps("postgres"), broken))
    with pytest.raises(StoreError, match="syntax error"):
        failing.open()
    good = Step(LATEST + 1, ("CREATE TABLE half (n BIGINT)",))
    second = PostgresDatabase(postgres.address, schema=schema, wanted=(*steps("postgres"), good))
    assert second.run(lambda tx: tx.rows("SELECT name, value FROM meta ORDER BY name")) == [
        ("kept", "yes"),
        ("schema", str(LATEST + 1)),
    ]
    second.close()


def test_a_missing_driver_is_one_sentence_that_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(StoreError) as caught:
        PostgresDatabase("host=nowhere")
    assert caught.value.message == "PostgreSQL cannot be used: the `pg` extra is not installed"
    assert re.fullmatch(r"run `[^`]* install [^`]*'psycopg\[binary\]<4,>=3\.3'`", caught.value.advice)


def test_an_address_without_a_server_is_reported_without_its_password(tmp_path: Path) -> None:
    database = PostgresDatabase(f"host={tmp_path} user=u password=hunter2hunter2 dbname=d")
    with pytest.raises(StoreError, match="cannot be reached") as caught:
        database.open()
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "options", "problems"),
    [
        ("host=/tmp dbname=d", {}, 0),
        ("postgresql://u@localhost/d", {}, 0),
        ("host=db.example dbname=d", {"sslmode": "verify-full", "sslrootcert": "system"}, 0),
        ("host=db.example sslrootcert=/ca.pem", {"sslmode": "verify-full", "sslrootcert": "/ca.pem"}, 0),
        ("postgresql://db.example/d?sslmode=verify-full", {}, 0),
        ("host=localhost,db.example sslmode=require", {}, 1),
    ],
)
def test_a_connection_that_leaves_the_machine_is_verified(address: str, options: dict[str, str], problems: int) -> None:
    database = PostgresDatabase(address)
    assert (database._safe_options(), len(database.problems)) == (options, problems)
