import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from snell.store.postgres import PostgresDatabase
from snell.store.sqlite import SqliteDatabase
from tests.contracts.work_stage import Stage
from tests.postgres_server import PostgresServer, ServerMissingError

pytest.register_assert_rewrite("snell.testing.store_contract")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server for the whole run."""
    try:
        server = PostgresServer()
        server.make()
    except (ServerMissingError, OSError) as error:
        pytest.skip(f"no PostgreSQL here: {error}")
    yield server
    server.remove()


@pytest.fixture
def on_postgres(postgres: PostgresServer) -> Callable[..., PostgresDatabase]:
    """Databases of this test alone: a place is a schema."""
    run = os.urandom(4).hex()
    return lambda place, **options: PostgresDatabase(postgres.address, schema=f"test_{run}_{place}"[:60], **options)


@pytest.fixture
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """Where work is done, on the backend that the test asks for."""
    make = request.getfixturevalue("on_postgres") if request.param == "postgres" else None
    made = Stage(tmp_path, make("lives") if make else SqliteDatabase(tmp_path / "lives.db"))
    yield made
    made.close()
