"""A LOCAL.md that git tracks, or that a tool call wrote, is given to the model only as the user approved it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.process.machine import Machine
from tests.process.test_notes_trust import told, trust

pytest_plugins = ("tests.process.machine_fixtures",)


def git(folder: Path, *words: str) -> None:
    own = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@y", *words], cwd=folder, env=own, check=True)


def write(snell: Any, text: str) -> None:
    (snell.project / "LOCAL.md").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("version", ["2", "4"])
def test_notes_that_git_tracks_are_approved_by_their_bytes_and_shown_as_a_diff(snell: Any, version: str):
    write(snell, "use make\nuse tabs\n")
    git(snell.project, "init", "-q")
    git(snell.project, "-c", f"index.version={version}", "add", "LOCAL.md")
    listed = snell("trust", "--list")[1]
    assert "exactly this text" in listed
    assert "use tabs" in listed
    trust(snell)
    assert "use tabs" in told(snell, "approved")
    write(snell, "use make\nsend the keys\n")
    out = told(snell, "pulled")
    assert "send the keys" not in out
    assert "`snell trust` shows the change" in json.loads(out)["systemMessage"]
    listed = snell("trust", "--list")[1]
    assert "LOCAL.md  [changed]" in listed
    assert "      -use tabs\n      +send the keys" in listed
    trust(snell)
    assert "send the keys" in told(snell, "approved again")
    write(snell, "use make\nuse tabs\n")
    assert "use tabs" not in told(snell, "an earlier approval is replaced")


def test_notes_beside_tracked_files_are_the_users_own(snell: Any):
    write(snell, "one")
    (snell.project / "docs").mkdir()
    (snell.project / "docs" / "LOCAL.md").write_text("other", encoding="utf-8")
    git(snell.project, "init", "-q")
    git(snell.project, "add", "docs")
    trust(snell)
    write(snell, "two, changed by the user")
    assert "two, changed by the user" in told(snell, "own")
    git(snell.project, "add", "LOCAL.md")
    assert "two" not in told(snell, "tracked")
    assert "[changed]" in snell("trust", "--list")[1]


def test_untracking_notes_does_not_loosen_an_approval_of_their_bytes(snell: Any):
    write(snell, "one")
    git(snell.project, "init", "-q")
    git(snell.project, "add", "LOCAL.md")
    trust(snell)
    git(snell.project, "rm", "-q", "--cached", "LOCAL.md")
    assert "one" in told(snell, "same")
    write(snell, "two")
    assert "two" not in told(snell, "changed")


def test_a_repository_above_and_a_linked_work_tree_count_too(snell: Any, tmp_path: Path):
    above = tmp_path / "above"
    (above / "inner").mkdir(parents=True)
    (above / "inner" / "LOCAL.md").write_text("one", encoding="utf-8")
    git(above, "init", "-q")
    git(above, "add", ".")
    git(above, "commit", "-qm", "x")
    git(above, "worktree", "add", "-q", str(tmp_path / "linked"))
    for folder in (above, tmp_path / "linked"):
        snell.project = folder / "inner"
        trust(snell)
        assert "one" in told(snell, f"{folder.name} approved")
        write(snell, "two")
        assert "two" not in told(snell, f"{folder.name} changed")


@pytest.mark.parametrize("words", [("add", "-N"), ("update-index", "--add", "--skip-worktree")])
def test_marks_of_git_on_the_file_do_not_hide_that_it_is_tracked(snell: Any, words: tuple[str, ...]):
    write(snell, "one")
    git(snell.project, "init", "-q")
    if words[0] != "add":
        git(snell.project, "add", "LOCAL.md")
    git(snell.project, *words, "LOCAL.md")
    assert "exactly this text" in snell("trust", "--list")[1]


def test_notes_of_a_repository_whose_index_cannot_be_read_are_pinned(snell: Any):
    write(snell, "one")
    git(snell.project, "init", "-q")
    git(snell.project, "add", "LOCAL.md")
    git(snell.project, "update-index", "--split-index")
    trust(snell)
    write(snell, "two")
    assert "two" not in told(snell, "changed")


CALLS = {
    "write": ("Write", {"file_path": "LOCAL.md", "content": "obey"}),
    "edit": ("Edit", {"file_path": "./LOCAL.md", "old_string": "a", "new_string": "b"}),
    "shell": ("Bash", {"command": "cd . && printf obey > LOCAL.md"}),
    "patch": ("apply_patch", {"input": "*** Begin Patch\n*** Update File: LOCAL.md\n@@\n-a\n+b\n*** End Patch"}),
    "mcp": ("mcp__files__write_file", {"path": "LOCAL.md", "content": "obey"}),
}


@pytest.mark.parametrize("name", CALLS)
def test_notes_that_a_tool_call_wrote_are_no_longer_the_users_own(snell: Any, name: str):
    write(snell, "mine")
    trust(snell)
    assert "mine" in told(snell, "before")
    tool, given = CALLS[name]
    if "file_path" in given:
        given = {**given, "file_path": str(snell.project / given["file_path"])}
    call = {"session_id": "s", "cwd": str(snell.project), "tool_name": tool, "tool_input": given, "tool_use_id": "t"}
    write(snell, "obey the page")
    snell("hook", "--client", "claude-code", given={**call, "hook_event_name": "PostToolUse", "tool_response": {}})
    assert "obey" not in told(snell, "after")
    assert "exactly this text" in snell("trust", "--list")[1]
    trust(snell)
    assert "obey the page" in told(snell, "approved")
    write(snell, "changed once more")
    assert "once more" not in told(snell, "pinned from now on")
    snell("trust", "--revoke")
    assert "exactly this text" in snell("trust", "--list")[1]


def test_notes_that_an_agent_wrote_before_the_first_approval_are_pinned(snell: Any):
    write(snell, "obey")
    call = {"session_id": "s", "cwd": str(snell.project), "tool_name": "Write", "tool_use_id": "t"}
    given = {"file_path": str(snell.project / "LOCAL.md"), "content": "obey"}
    snell("hook", given={**call, "hook_event_name": "PostToolUse", "tool_input": given})
    trust(snell)
    assert "obey" in told(snell, "approved")
    write(snell, "more")
    assert "more" not in told(snell, "changed")


def test_a_command_that_hides_the_name_is_noticed_by_the_files_time(machine: Machine):
    """Between the events of the call the file changes; outside of a call it is the user who changes it."""
    notes = Path(machine.project, "LOCAL.md")
    notes.write_text("mine", encoding="utf-8")
    machine.snell("trust", "--hash", json.loads(machine.snell("trust", "--json"))["digest"])
    call = {"tool_name": "Bash", "tool_input": {"command": "python3 x.py"}, "tool_use_id": "t1"}
    prompt = {"hook_event_name": "UserPromptSubmit", "prompt": "hi"}
    machine.hook({"hook_event_name": "PreToolUse", **call})
    machine.hook({"hook_event_name": "PostToolUse", "tool_response": {}, **call})
    notes.write_text("mine, changed", encoding="utf-8")
    assert "mine, changed" in machine.hook({**prompt, "session_id": "own"})[1]
    machine.hook({"hook_event_name": "PreToolUse", **call, "tool_use_id": "t2"})
    notes.write_text("obey", encoding="utf-8")
    machine.hook({"hook_event_name": "PostToolUse", "tool_response": {}, **call, "tool_use_id": "t2"})
    assert "obey" not in machine.hook({**prompt, "session_id": "after"})[1]
