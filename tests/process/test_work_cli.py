"""The work layer from the command line, over several processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from snell.store.migrate import steps
from snell.store.sqlite import SqliteDatabase

LEFT = {"summary": "half done", "lastAction": "a", "nextSteps": ["b"], "requiredFiles": [f"/f{n}" for n in range(200)]}


def fired(snell, event: str, window: str = "w1", **fields):
    given = {
        "hook_event_name": event,
        "session_id": window,
        "transcript_path": "/t",
        "cwd": str(snell.project),
        **fields,
    }
    out = snell("hook", "--client", "claude-code", given=given)[1]
    return json.loads(out or "{}")


@pytest.mark.proves("S2-48", "S2-128", "S2-142")
def test_an_effort_lives_through_commands_and_windows(snell):
    started = snell("effort", "start", "Parser", "implement")
    assert started[0::2] == (0, "")
    assert started[1].startswith("effort 1 (implement, no 1) started in ")
    assert snell("task", "list")[1].split("\n")[1].split()[1:] == ["Parser", "active", "1", "-"]
    told = fired(snell, "SessionStart", source="startup")["hookSpecificOutput"]["additionalContext"]
    assert "skill implement" in told
    logged = snell("effort", "log", given=b"## Lexer\nis written")
    assert (logged[0], Path(logged[1].split()[-1]).read_text("utf-8").splitlines()[1]) == (0, "is written")
    assert snell("phase", "1: Plan", "--proof", '{"plan": "there"}')[1] == "now in phase 1: Plan\n"
    assert snell("phase", "2: Build", given=b'{"more": 1}')[1] == "now in phase 2: Build\n"
    assert [each["proof"] for each in json.loads(snell("phase", "--json")[1])] == [{"plan": "there"}, {"more": 1}]
    code, _, err = snell("session", "dehydrate", given=b"{nope")
    assert (code, "the payload is not JSON" in err, "nothing was stored" in err) == (1, True, True)
    code, _, err = snell("session", "dehydrate", given={"summary": "x"})
    assert (code, "lastAction: must be text" in err) == (1, True)
    code, out, err = snell("session", "dehydrate", given=LEFT)
    assert (code, err, "the first 8 of 200 are kept" in out) == (0, "", True)
    told = fired(snell, "SessionStart", "w2", source="startup")["hookSpecificOutput"]["additionalContext"]
    assert all(text in told for text in ("half done", "phase 2: Build", "/f7"))
    assert "/f8" not in told
    rows = json.loads(snell("session", "list", "--json")[1])
    assert [each["endReason"] for each in rows] == ["replaced", "dehydrated", None]
    assert snell("effort", "finish", "--keywords", "parser")[1] == "effort 1 finished\n"
    code, _, err = snell("effort", "finish", "1")
    assert (code, err) == (1, "snell: effort 1 is finished; start a new one\n")
    state = Path(snell.project.parent / "home/state")
    assert [name for name in os.listdir(state) if name.endswith(".json")] == []


def test_what_is_not_there_is_said_in_one_line(snell):
    for words in (
        ("effort", "log", "x"),
        ("effort", "finish"),
        ("effort", "resume"),
        ("phase", "1"),
        ("effort", "show"),
    ):
        code, out, err = snell(*words)
        assert (code, out, err) == (
            1,
            "",
            "snell: no active effort in this project; `snell effort start TASK SKILL` starts one\n",
        )
    unknown = "snell: there is no session `7`; `snell session list` shows all\n"
    assert snell("session", "show", "7")[0::2] == (1, unknown)
    assert "there is no task" in snell("task", "show", "nope")[2]
    assert snell("task", "list")[1] == "no tasks yet; `snell effort start` creates one\n"
    assert snell("agent", "list")[1].startswith("no agents yet; `snell agent register NAME` adds one")
    assert "no named agents yet" in snell("fleet")[1]


def test_a_project_that_was_moved_takes_its_efforts_along(snell, tmp_path):
    made = json.loads(snell("effort", "start", "t", "fix", "--json")[1])
    assert made["task"]["state"] == "active"
    snell("effort", "log", "one")
    fired(snell, "SessionStart", source="startup")
    before, after = snell.project, tmp_path / "elsewhere/project"
    after.parent.mkdir()
    before.rename(after)
    snell.project = after
    assert "skill fix" in str(fired(snell, "SessionStart", source="startup"))
    assert snell("effort", "log", "--effort", "1", "two")[1] == f"logged in {after}/.tasks/t/1_FIX_LOG.md\n"
    assert (before.exists(), (after / ".tasks/t/1_FIX_LOG.md").read_text("utf-8").count("UTC]")) == (False, 2)
    rows = json.loads(snell("session", "list", "--json")[1])
    assert {each["taskId"] for each in rows} == {f"{after}/.tasks/t"}


def test_a_project_that_was_moved_before_it_wrote_anything_is_taken_along_when_asked(snell, tmp_path):
    snell("effort", "start", "t", "fix")
    before, after = snell.project, tmp_path / "elsewhere"
    before.rename(after)
    snell.project = after
    code, _, err = snell("effort", "log", "--effort", "1", "one")
    assert (code, f"`{before}`, does not exist any more" in err, before.exists()) == (1, True, False)
    assert snell("effort", "resume", "1")[0] == 0
    assert snell("effort", "log", "one")[1] == f"logged in {after}/.tasks/t/1_FIX_LOG.md\n"


def test_a_task_whose_directory_is_gone_goes_on_and_is_made_again_for_the_log(snell):
    snell("effort", "start", "t", "fix")
    snell("effort", "log", "one")
    folder = snell.project / ".tasks/t"
    (folder / "1_FIX_LOG.md").unlink()
    folder.rmdir()
    assert "skill fix" in str(fired(snell, "SessionStart", source="startup"))
    assert snell("effort", "log", "two")[0] == 0
    assert (folder / "1_FIX_LOG.md").exists()


def test_agents_are_named_by_their_environment(snell):
    assert snell("effort", "start", "t", "fix", AGENT_ID="ann")[0] == 0
    snell("agent", "register", "boss", "--manages", "ann")
    assert snell("agent", "status", "attention", AGENT_ID="ann")[1] == "agent ann is attention\n"
    assert [line.split()[:3] for line in snell("fleet")[1].split("\n")[1:3]] == [
        ["ann", "attention", "fix"],
        ["boss", "idle", "-"],
    ]
    assert snell("agent", "status", "done")[0::2] == (1, "snell: no agent was named; give its name, or set AGENT_ID\n")


def test_the_commands_of_the_page_work(snell, tmp_path: Path):
    page = (Path(__file__).resolve().parents[2] / "docs/howto/long-work.md").read_text("utf-8")
    commands = [line.removeprefix("$ ") for line in page.split("\n") if line.startswith("$ ")]
    assert len(commands) == 10
    program = tmp_path / "bin/snell"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m snell "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    env = {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "SNELL_HOME": str(tmp_path / "home"),
    }
    for command in commands:
        done = subprocess.run(
            ["sh", "-c", command], cwd=snell.project, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=60
        )
        assert (command, done.returncode, done.stderr) == (command, 0, b"")


@pytest.mark.proves("S2-39")
def test_an_older_database_gets_the_work_layer_and_keeps_what_it_had(tmp_path: Path):
    path = tmp_path / "snell.db"
    before = SqliteDatabase(path, wanted=steps("sqlite")[:1])
    before.run(lambda tx: tx.do("INSERT INTO marks VALUES ('s', 'n', '1', 0)"))
    before.close()
    after = SqliteDatabase(path)
    assert after.run(lambda tx: tx.rows("SELECT name FROM marks")) == [("n",)]
    assert after.run(lambda tx: tx.rows("SELECT count(*) FROM efforts")) == [(0,)]
    after.close()


def test_names_that_other_users_chose_send_no_codes_to_the_terminal(snell):
    odd = "a\x1b]0;owned\x07\x1b[31mb"
    assert snell("effort", "start", "t", odd, AGENT_ID=odd)[0] == 0
    answers = [snell(*words) for words in (("agent", "list"), ("fleet",), ("effort", "list"), ("effort", "show"))]
    answers += [snell("agent", "status", "done", odd), snell("agent", "status", "done", f"{odd}!")]
    assert [code for code, _, _ in answers] == [0, 0, 0, 0, 0, 1]
    assert not any(letter in out + err for _, out, err in answers for letter in "\x1b\x07")


def test_what_is_not_text_is_said(snell):
    code, out, err = snell("effort", "start", b"caf\xe9", "fix")
    assert (code, out, err) == (1, "", "snell: an argument contains `\\udce9`, which is not UTF-8; write it in UTF-8\n")


def test_a_log_is_not_written_through_a_link_out_of_the_project(snell, tmp_path):
    (tmp_path / "outside").mkdir()
    (snell.project / ".tasks").symlink_to(tmp_path / "outside")
    assert snell("effort", "start", "t", "fix")[0] == 0
    code, _, err = snell("effort", "log", "x")
    assert (code, "is a link out of the project" in err, list((tmp_path / "outside").iterdir())) == (1, True, [])


def test_an_empty_phase_is_none(snell):
    snell("effort", "start", "t", "fix")
    code, _, err = snell("phase", "")
    assert (code, "phase: must not be empty" in err) == (1, True)
