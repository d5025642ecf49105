from importlib.metadata import version
from pathlib import Path

import pytest

from snell.system.version import any_declares, version_of


def test_our_own_version_is_what_the_slow_way_says() -> None:
    assert version_of("snell") == version("snell")


def test_a_distribution_that_is_there_twice_has_no_certain_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in ("1.0", "2.0"):
        (tmp_path / f"thing-{number}.dist-info").mkdir()
    monkeypatch.setattr("sys.path", [str(tmp_path), str(tmp_path / "missing")])
    assert version_of("thing") == ""
    assert version_of("other") == ""


def test_entry_points_of_a_group_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "thing-1.0.dist-info").mkdir()
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert not any_declares("snell.packs")
    (tmp_path / "thing-1.0.dist-info" / "entry_points.txt").write_text("[snell.packs]\nx = thing\n", encoding="utf-8")
    assert any_declares("snell.packs")
