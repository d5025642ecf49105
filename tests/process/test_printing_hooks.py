"""What a Python hook prints is shown to its author by `fire`, `why` and `test -v`, and is no part of its answer."""

import json

import pytest

SOURCE = """
from snell import Deny, ShellCall, judges

@judges("PreToolUse")
def loud(call: ShellCall):
    print("looking at", call.command)
    print("second \\x1b[31mline\\x1b[0m")
    if "fail" in call.command:
        raise ValueError("after printing")
    return Deny("no") if "bad" in call.command else None

@judges("PreToolUse")
def quiet(call: ShellCall):
    return None
"""
CASES = """
[[case]]
name = "bad is denied"
event = { on = "PreToolUse", kind = "shell", command = "bad" }
expect = { deny = "no" }
"""


@pytest.fixture
def loud(snell, tmp_path):
    folder = tmp_path / "home/config/hooks"
    folder.mkdir(parents=True)
    (folder / "own.py").write_text(SOURCE, encoding="utf-8")
    (folder / "own.cases.toml").write_text(CASES, encoding="utf-8")
    return snell


@pytest.mark.parametrize("command", ["bad", "good", "fail"])
def test_fire_and_why_show_what_a_hook_printed(loud, command):
    _, out, _ = loud("fire", "--command", command)
    assert f"  own/loud printed: looking at {command}\n" in out
    assert "\x1b" not in out
    assert "own/quiet printed" not in out
    _, out, _ = loud("why")
    assert f"      printed: looking at {command}\n" in out
    assert "      printed: second " in out
    assert "\x1b" not in out
    record = json.loads(loud("why", "--json")[1])
    (run,) = [run for each in record["rounds"] for run in each["runs"] if run["hook"] == "own/loud"]
    assert run["remarks"][0] == f"printed: looking at {command}"


def test_test_v_shows_what_a_hook_printed_in_a_case_that_passed(loud, tmp_path):
    path = str(tmp_path / "home/config/hooks/own.py")
    code, out, _ = loud("test", path, "-v")
    assert code == 0
    assert "      own/loud printed: looking at bad\n" in out
    assert "printed" not in loud("test", path)[1]


def test_a_hook_that_prints_much_is_cut(snell, tmp_path):
    folder = tmp_path / "home/config/hooks"
    folder.mkdir(parents=True)
    text = 'from snell import judges\n@judges("PreToolUse")\ndef loud():\n    print("x" * 50_000_000)\n'
    (folder / "own.py").write_text(text, encoding="utf-8")
    record = json.loads(snell("fire", "--command", "ls", "--json")[1])
    (run,) = [run for each in record["rounds"] for run in each["runs"] if run["hook"] == "own/loud"]
    assert [len(remark) for remark in run["remarks"]] == [len("printed: ") + 2_000]
