"""A running program notices that it was replaced, but not while an installer still writes it."""

from pathlib import Path

import pytest

from snell.system import version
from snell.system.version import Installed


@pytest.mark.parametrize("change", ["removed", "replaced"])
def test_a_file_that_was_removed_or_replaced_is_gone_once_that_has_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    file = tmp_path / "program.py"
    file.write_text("old", encoding="utf-8")
    program = Installed(file)
    before = program.is_gone()
    file.rename(tmp_path / "old.py")
    if change == "replaced":
        file.write_text("new", encoding="utf-8")
    at_once = program.is_gone()
    monkeypatch.setattr(version, "SETTLED", 0.0)
    assert (before, at_once, program.is_gone()) == (False, False, True)


def test_a_file_that_comes_back_as_it_was_is_not_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "program.py"
    file.write_text("old", encoding="utf-8")
    program = Installed(file)
    file.rename(tmp_path / "old.py")
    assert program.is_gone() is False
    (tmp_path / "old.py").rename(file)
    monkeypatch.setattr(version, "SETTLED", 0.0)
    assert program.is_gone() is False
