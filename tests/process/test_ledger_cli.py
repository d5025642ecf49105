"""`snell ledger`, `snell runs` and `snell audit`, over what real processes left."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from snell.cli.commands.ledger import COLUMNS

CALL = {
    "session_id": "s",
    "tool_name": "Bash",
    "tool_input": {"command": "touch a", "api_key": "sk-live-0123456789abcdef"},
}


@pytest.fixture
def used(snell: Any) -> Any:
    """A session with three calls: one that worked, one that failed, one that only began."""
    for number, (event, more) in enumerate(
        [
            ("PostToolUse", {"tool_response": {"stdout": "ok"}, "duration_ms": 1500}),
            ("PostToolUseFailure", {"error": "it broke", "duration_ms": 20}),
            (None, {}),
        ],
        1,
    ):
        call = {**CALL, "tool_use_id": f"toolu_{number}"}
        snell("hook", "--client", "claude-code", given={**call, "hook_event_name": "PreToolUse"})
        if event:
            snell("hook", "--client", "claude-code", given={**call, "hook_event_name": event, **more})
    return snell


def test_calls_are_listed_shown_and_counted(used: Any, tmp_path: Path):
    listed = used("ledger", "list")[1].splitlines()
    assert [re.sub(r"\x1b\[\d+m|^\d\d-\d\d [\d:]+", "", line).split()[0] for line in listed] == [
        "succeeded", "failed", "running",
    ]  # fmt: skip
    shown = json.loads(used("ledger", "show", "toolu_1", "--json")[1])
    assert (shown["status"], shown["duration_ms"], shown["intent"]) == ("succeeded", 1500, '["a"]')
    assert json.loads(shown["input"])["command"] == "touch a"
    assert "sk-live" not in shown["input"]
    assert "it broke" in used("ledger", "show", "toolu_2")[1]
    code, _, err = used("ledger", "show", "nothing")
    assert (code, err) == (1, "snell: no call matches `nothing`; `snell ledger list` shows the ids\n")
    stats = json.loads(used("ledger", "stats", "--session", "s", "--json")[1])
    assert stats == [{"tool": "Bash", "calls": 3, "failed": 1, "denied": 0, "total_ms": 1520, "longest_ms": 1500}]
    assert used("ledger", "list", "--session", "none")[1] == "no matching call\n"


def test_options_may_stand_before_what_they_are_about(used: Any):
    assert json.loads(used("ledger", "show", "--json", "toolu_1")[1])["tool_call_id"] == "s/toolu_1"
    assert json.loads(used("ledger", "--json", "show", "toolu_1")[1])["tool_call_id"] == "s/toolu_1"
    assert used("runs", "start", "--calls", "3", "mine", "--session", "s")[0] == 0
    assert json.loads(used("runs", "show", "--json")[1])["run_id"] == "mine"


def test_what_a_tool_brought_tells_the_terminal_nothing(snell: Any):
    end = {
        **CALL,
        "hook_event_name": "PostToolUse",
        "tool_use_id": "t1",
        "tool_response": "a\x1b]0;title\x07\nb\x9b31m",
    }
    snell("hook", "--client", "claude-code", given=end)
    shown = snell("ledger", "show", "t1")[1]
    assert shown.endswith("a\ufffd]0;title\ufffd\nb\ufffd31m\n")
    assert json.loads(snell("ledger", "show", "t1", "--json")[1])["output"] == end["tool_response"]


def test_charts_are_drawn_with_plain_characters_and_as_svg(used: Any, tmp_path: Path):
    drawn = used("ledger", "stats")[1]
    assert drawn.isascii()
    assert [line for line in drawn.splitlines() if line and line[0] != " "] == [
        "calls by tool",
        "failures by tool",
        "time by tool",
    ]
    assert f"  Bash  {'#' * 27}{'x' * 13} 3, 1 failed" in drawn
    path = tmp_path / "tools.svg"
    assert used("ledger", "stats", "--svg", str(path))[0] == 0
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == [
        *("calls by tool", "succeeded", "denied", "failed", "Bash", "3, 1 failed"),
        *("failures by tool", "Bash", "1 of 3"),
        *("time by tool", "Bash", "1520 ms, mean 507 ms, longest 1500 ms"),
    ]


def test_calls_are_exported_as_json_and_csv(used: Any, tmp_path: Path):
    lines = [json.loads(line) for line in used("ledger", "export")[1].splitlines()]
    assert [line["status"] for line in lines] == ["succeeded", "failed", "running"]
    path = tmp_path / "calls.csv"
    assert used("ledger", "export", "--as", "csv", "--to", str(path))[2] == f"3 calls written to {path}\n"
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    assert (tuple(rows[0]), len(rows)) == (COLUMNS, 4)
    assert path.stat().st_mode & 0o777 == 0o600


def test_parquet_is_written(used: Any, tmp_path: Path):
    path = tmp_path / "calls.parquet"
    assert used("ledger", "export", "--as", "parquet", "--to", str(path))[0] == 0
    assert parquet.read_table(path).num_rows == 3


def test_a_person_frees_a_call_and_an_agent_does_not(used: Any):
    code, _, err = used("ledger", "release", "toolu_3", CLAUDECODE="1")
    assert (code, "needs a person" in err) == (1, True)
    assert used("ledger", "release", "toolu_3")[1] == "s/toolu_3 was not held back\n"
    assert json.loads(used("ledger", "show", "toolu_3", "--json")[1])["status"] == "abandoned_on_resume"


def test_nothing_was_changed_and_then_something_was(used: Any, tmp_path: Path):
    code, out, _ = used("audit", "verify")
    assert (code, out.splitlines()[0].split()) == (0, ["integrity", "ok", "no", "record", "was", "changed"])
    found = json.loads(used("audit", "verify", "--json")[1])
    assert (found["integrity"], found["completeness"], found["calls"], found["waiting"]) == ([], [], 3, 0)
    import apsw

    (path,) = tmp_path.rglob("snell.db")
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE tool_calls SET error_detail = '' WHERE status = 'failed'")
    connection.close()
    code, out, _ = used("audit", "verify", "--all")
    assert (code, "tool call `s/toolu_2` was changed" in out) == (1, True)


def test_a_run_is_begun_looked_at_cancelled_and_holds_its_session(used: Any):
    assert used("runs", "show")[2] == "snell: no runs yet; start one with `snell runs start`\n"
    started = json.loads(used("runs", "start", "mine", "--calls", "5", "--json")[1])
    assert (started["run_id"], started["session_id"], started["max_calls"], started["max_minutes"]) == (
        "mine",
        "s",
        5,
        90,
    )
    assert used("runs", "start", "mine")[0] == 1
    given = {**CALL, "tool_use_id": "toolu_9", "hook_event_name": "PreToolUse"}
    assert used("hook", "--client", "claude-code", given=given)[1] == ""
    assert used("runs", "cancel", "--reason", "enough")[1] == "run mine: done\n"
    answer = json.loads(used("hook", "--client", "claude-code", given={**given, "tool_use_id": "toolu_10"})[1])
    assert "run `mine` is cancelled: enough" in answer["hookSpecificOutput"]["permissionDecisionReason"]
    assert "mine  cancel_requested   1/50 steps, 1/5 calls" in used("runs", "list")[1]
    assert used("runs", "approve", CLAUDECODE="1")[0] == 1


def test_after_a_loss_a_person_is_told_and_ends_it(used: Any, tmp_path: Path):
    assert used("ledger", "release", "lost")[1] == "no ledger was lost\n"
    for file in (tmp_path / "home/state").glob("snell.db*"):
        file.write_bytes(b"damaged" * 1_000)
    doctor = used("doctor", "--all")
    assert "the ledger was lost: " in doctor[1] + doctor[2]
    assert used("ledger", "release", "lost", CLAUDECODE="1")[0] == 1
    assert used("ledger", "release", "lost")[1] == "ledger loss acknowledged; calls are allowed again\n"
    doctor = used("doctor", "--all")
    assert "the ledger was lost: " not in doctor[1] + doctor[2]
