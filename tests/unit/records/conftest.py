"""Fixtures of the tests about records."""

from pathlib import Path

import pytest

from tests.unit.records.audit_store import make_store


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a chain of several notes, and an older copy of its database; tests change copies of it."""
    return make_store(tmp_path_factory.mktemp("audit") / "state")
