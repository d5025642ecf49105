import os
from collections.abc import Callable, Iterator

import pytest

from snell.stores.postgres import PostgresDatabase
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
def on_postgres(postgres: PostgresServer) -> Callable[[str], PostgresDatabase]:
    """Databases of this test alone: a place is a schema."""
    run = os.urandom(4).hex()
    return lambda place: PostgresDatabase(postgres.address, schema=f"test_{run}_{place}"[:60])
