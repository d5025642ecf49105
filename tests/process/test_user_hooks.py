"""Python hooks in the user's own folder: active in every project, without an approval, reloaded when they change."""

import json
from pathlib import Path

import pytest

from tests.process.machine import HOOK, Machine

DENIES = """
from snell import Deny, ShellCall, judges

@judges("PreToolUse")
def no_{word}(call: ShellCall):
    if "{word}" in call.command:
        return Deny("{reason}")
"""


@pytest.fixture
def hooks(snell, tmp_path) -> Path:
    folder = tmp_path / "home/config/hooks"
    folder.mkdir(parents=True)
    return folder


def write(folder: Path, name: str, word: str, reason: str) -> None:
    (folder / name).write_text(DENIES.format(word=word, reason=reason), encoding="utf-8")


def test_a_hook_of_the_user_is_active_in_every_folder_without_approval(snell, hooks, tmp_path):
    write(hooks, "own.py", "banana", "no fruit here")
    write(hooks, "_helper.py", "ls", "a file that begins with _ is no hook")
    assert snell("fire", "--command", "echo banana")[1].splitlines()[0] == "deny: no fruit here"
    snell.project = tmp_path
    record = json.loads(snell("fire", "--command", "echo banana", "--json")[1])
    (run,) = [run for each in record["rounds"] for run in each["runs"] if run["hook"] == "own/no_banana"]
    assert (record["verdict"], run["layer"], run["scope"]) == ("deny", "user", "session")
    assert snell("fire", "--command", "ls")[1].splitlines()[0] == "no opinion"
    assert "own/no_banana" in snell("settings")[1]


def test_hooks_of_user_and_project_with_the_same_name_both_run(snell, hooks):
    write(hooks, "same.py", "banana", "of the user")
    own = snell.project / ".snell/hooks"
    own.mkdir(parents=True)
    write(own, "same.py", "banana", "of the project")
    digest = json.loads(snell("trust", "--json")[1])["digest"]
    assert snell("trust", "--hash", digest)[0] == 0
    record = json.loads(snell("fire", "--command", "echo banana", "--json")[1])
    assert [each["text"] for each in record["reasons"]] == ["of the user", "of the project"]


def test_a_hook_of_the_user_that_does_not_load_is_reported_and_breaks_nothing(snell, hooks):
    (hooks / "bad.py").write_text("def (:\n", encoding="utf-8")
    write(hooks, "good.py", "banana", "no fruit here")
    code, out, err = snell("fire", "--command", "echo banana")
    assert (code, out.splitlines()[0]) == (0, "deny: no fruit here")
    assert "hooks/bad.py:1" in err
    assert "hooks/bad.py" in snell("status")[1]


def test_a_running_daemon_takes_in_a_hook_that_is_added_and_changed(tmp_path):
    if not HOOK.exists():
        pytest.skip("snell-hook is not installed beside this Python")
    machine = Machine(tmp_path, forks_daemon=True)
    payload = {"tool_input": {"command": "echo banana"}}
    try:
        assert machine.reason(payload) == ""
        folder = machine.config / "hooks"
        folder.mkdir()
        write(folder, "own.py", "banana", "no fruit here")
        assert "no fruit here" in machine.reason(payload)
        write(folder, "own.py", "banana", "still no fruit")
        assert "still no fruit" in machine.reason(payload)
    finally:
        machine.stop()


def test_an_agent_cannot_write_a_hook_of_the_user(snell, hooks):
    for words in (
        ("--command", f"echo x > {hooks}/own.py"),
        ("--tool", "Write", "--input", json.dumps({"file_path": f"{hooks}/own.py", "content": "x"})),
    ):
        assert json.loads(snell("fire", *words, "--json")[1])["verdict"] == "deny"
