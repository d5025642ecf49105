from collections.abc import Iterator
from pathlib import Path

import pytest

from snell.store.sqlite import SqliteDatabase


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "state" / "snell.db")
    yield database
    database.close()
