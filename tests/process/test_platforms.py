"""Snell on other Pythons, as another user, and built by other compilers; what is not on this machine is skipped."""

from pathlib import Path

import pytest

from scripts import platforms

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1_800)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("platforms")


@pytest.mark.parametrize("name", platforms.rows(Path()))
def test_it_installs_and_decides_there(name: str, folder: Path) -> None:
    try:
        assert platforms.rows(folder)[name]()
    except platforms.SkipError as why:
        pytest.skip(str(why))
