"""Memory on or off: who says so, where it holds, and what is said about it."""

from pathlib import Path

import pytest

from tests.process.test_setup_cli import Owner


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    made = Owner(tmp_path)
    (made.project / ".git").mkdir(exist_ok=True)
    return made


def test_a_project_says_no_for_itself(owner: Owner) -> None:
    owner.snell("setup", "claude-code", "--yes", "--memory")
    code, out, _ = owner.snell("setup", "claude-code", "--scope", "project", "--yes", "--no-memory")
    path = owner.project / ".snell" / "snell.toml"
    assert (code, f"memory: off once `snell trust` has approved it, said in `{path}`" in out) == (0, True)
    assert "capturing is on here" in owner.snell("memory", "stats")[1]
    assert "approved" in owner.on_terminal("trust", typed="y\n")
    assert "capturing is off here" in owner.snell("memory", "stats")[1]
    shown = next(line for line in owner.snell("settings")[1].splitlines() if line.strip().startswith("pack "))
    assert ("'enabled': False" in shown or "false" in shown, str(path) in shown) == (True, True)
