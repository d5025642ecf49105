import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from snell.store.postgres import PostgresDatabase
from snell.store.sqlite import SqliteDatabase
from tests.contracts.work_project import WorkProject
from tests.postgres_server import PostgresServer, ServerMissingError, TestDatabase, shared_server

pytest.register_assert_rewrite("snell.testing.store_contract")


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """The one server of a run; all workers share it."""
    folder = tmp_path_factory.getbasetemp()
    try:
        with shared_server(folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) as server:
            yield server
    except (ServerMissingError, OSError) as error:
        pytest.skip(f"no PostgreSQL here: {error}")


@pytest.fixture
def postgres(postgres_server: PostgresServer) -> Iterator[TestDatabase]:
    """A database of this test alone, on a server that it can stop and start."""
    database = TestDatabase(postgres_server)
    yield database
    database.remove()


@pytest.fixture
def on_postgres(request: pytest.FixtureRequest) -> Callable[..., PostgresDatabase]:
    """Stores of this test alone: a place is a schema."""
    names = request.fixturenames
    address = request.getfixturevalue("postgres" if "postgres" in names else "postgres_server").address
    run = os.urandom(4).hex()
    return lambda place, **options: PostgresDatabase(address, schema=f"test_{run}_{place}"[:60], **options)


@pytest.fixture
def work_project(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[WorkProject]:
    """Where work is done, on the backend that the test asks for."""
    make = request.getfixturevalue("on_postgres") if request.param == "postgres" else None
    made = WorkProject(tmp_path, make("lives") if make else SqliteDatabase(tmp_path / "lives.db"))
    yield made
    made.close()
