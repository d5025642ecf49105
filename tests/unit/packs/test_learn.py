"""The report of a session: from what was recorded, without secrets, and never in anybody's way."""

import re
from pathlib import Path
from typing import Any

import pytest

from snell.machine.paths import Places
from snell.runtime.builtin_packs import pack_hooks
from snell.runtime.house import House, database_of
from snell.runtime.store_journal import StoreJournal


@pytest.fixture
def house(tmp_path: Path) -> Any:
    database = database_of(Places(tmp_path / "config", tmp_path / "state", tmp_path / "run"))
    hooks = pack_hooks("learn", {"folder": str(tmp_path / "reports")})
    with House.embedded(*hooks, journal=StoreJournal(database), database=database) as made:
        yield made


def reports(folder: Path) -> list[Path]:
    return sorted((folder / "reports").glob("*.md"))


@pytest.mark.proves("S0-05", "S0-58", "S0-59", "S0-60", "S0-61", "S0-62")
def test_the_end_of_a_session_leaves_a_report_of_what_happened(house: House, tmp_path: Path):
    secret = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    house.fire("UserPromptSubmit", session_id="s", prompt=f"use {secret} to push")
    for number in range(3):
        call = {"tool_name": "Bash", "tool_input": {"command": "git push now"}, "tool_use_id": f"t{number}"}
        house.fire("PreToolUse", session_id="s", **call)
    house.fire("PreToolUse", session_id="other", tool_name="Read", tool_input={"file_path": "/elsewhere"})
    end = house.fire("SessionEnd", session_id="s", cwd="/some/where", reason="exit")
    (path,) = reports(tmp_path)
    assert re.fullmatch(r"\d{8}-\d{6}-SessionEnd\.md", path.name)
    assert [each.text for each in end.tells] == [f"flow report: {path}"]
    text = path.read_text(encoding="utf-8")
    for expected in ("- event: SessionEnd", "- session: s", "- working directory: /some/where", "- 3 x Bash",
                     "- 3 x git push", "## Questions", "Hand this to @learn"):  # fmt: skip
        assert expected in text
    assert secret not in text
    assert "to push" in text
    assert "elsewhere" not in text


def test_two_reports_in_one_second_are_two_files(house: House, tmp_path: Path):
    for _ in range(3):
        house.fire("PreCompact", session_id="s", trigger="auto")
    assert len(reports(tmp_path)) == 3


@pytest.mark.proves("S0-63")
def test_a_report_that_cannot_be_written_disturbs_nobody(tmp_path: Path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with House.embedded(*pack_hooks("learn", {"folder": str(tmp_path / "file" / "x")})) as house:
        decision = house.fire("SessionEnd", reason="exit")
    assert (decision.tells, decision.failures) == ((), ())


@pytest.mark.proves("S0-64")
def test_the_time_limit_is_ten_seconds():
    assert {hook.timeout for hook in pack_hooks("learn")} == {10.0}
