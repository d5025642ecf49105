"""What one context window leaves for the next, through the real `snell-hook`, the command line and the socket."""

import json
import os
import re
import time
from calendar import timegm
from pathlib import Path
from typing import Any

import pytest

from snell.store.migrate import steps
from snell.store.sqlite import SqliteDatabase
from tests.process.desk import Desk
from tests.process.machine import Machine

pytest_plugins = ("tests.process.machine_fixtures",)
LEFT: dict[str, Any] = {"summary": "half done", "lastAction": "a", "nextSteps": ["write b"], "requiredFiles": []}


@pytest.fixture
def desk(machine: Machine) -> Desk:
    machine.hook()  # starts the daemon
    return Desk(machine)


def trust(desk: Desk) -> None:
    (desk.project / ".snell").mkdir()
    (desk.project / ".snell/snell.toml").write_text("[pack.sessions]\nheartbeat = 10\n", encoding="utf-8")
    digest = desk.snell("trust", "--json").json["digest"]
    assert desk.snell("trust", "--hash", digest).returncode == 0


@pytest.mark.proves("S2-48", "S2-52", "S2-53", "S2-55", "S2-56", "S2-120")
def test_a_window_gets_the_effort_its_files_and_what_was_handed_over(desk: Desk):
    trust(desk)
    files = {"plan.md": "the plan is simple", "large.md": "x" * 100_000, "rules.md": "tests come first"}
    for name, text in files.items():
        (desk.project / name).write_text(text, encoding="utf-8")
    os.mkfifo(desk.project / "pipe")
    effort = desk.snell("effort", "start", "t", "fix", "--json").json["effort"]
    project = desk.data("db.project.find", path=str(desk.project))["id"]
    rules, plan = str(desk.project / "rules.md"), str(desk.project / "plan.md")
    desk.data("db.skills.upsert", projectId=project, name="fix", templates=[rules, 7, "", rules])
    desk.snell("phase", "1: Plan")
    desk.data("db.effort.updateMetadata", id=effort["id"], metadata={"blockAfter": 7})
    required = [str(desk.project / "large.md"), str(desk.project / "pipe"), "plan.md", "/gone"]
    assert desk.snell("session", "dehydrate", given={**LEFT, "requiredFiles": required}).returncode == 0
    common = {"sessionId": "w1", "transcriptPath": "", "cwd": str(desk.project), "source": "startup"}
    answer = desk.data("hooks.sessionStart", **common)
    open_ = desk.snell("session", "list", "--open", "--json").json
    assert [row["id"] for row in open_] == [answer["sessionId"]]
    named = ("found", "effortId", "skill", "phase", "filesToPreload")
    assert [answer[name] for name in named] == [True, effort["id"], "fix", "1: Plan", [rules]]
    assert (answer["dehydratedContext"]["summary"], answer["skillConfig"]["name"]) == ("half done", "fix")
    for source in ("startup", "clear"):  # a new process, and a new window of the same one
        told = desk.told("SessionStart", source=source, session_id=f"w-{source}")
        line = r"^\[\d{4}-\d\d-\d\d \d\d:\d\d UTC \| session \d+ \| skill fix \| phase 1: Plan \| heartbeat 0/7\]"
        assert re.match(line, told), told
        assert all(text in told for text in ("## Session recovery", "half done", "- write b"))
        assert f"Read these files first: {', '.join([*required, rules])}." in told
        assert [told.count(text) for text in ("the plan is simple", "tests come first", "xxxx")] == [1, 1, 0]
        assert re.search(r"={8} begin file (\w+) ={8}\ntests come first\n={8} end file \1 ={8}", told)  # as data
        assert len(told) < 8_192
    assert plan not in told  # it was named by its relative path
    resumed = desk.told("SessionStart", source="resume", session_id="w-clear")
    assert ("skill fix" in resumed, "half done" in resumed) == (True, False)  # its conversation is there already
    desk.call(1, session_id="w-clear")
    again = desk.data("hooks.sessionStart", **{**common, "sessionId": "w9"})  # after a window that left nothing
    assert (again["dehydratedContext"], "ended without saving its state" in again["recovery"]) == (None, True)
    desk.data("db.skills.upsert", projectId=project, name="fix", templates={"rules": rules, "plan": plan})
    assert desk.data("hooks.sessionStart", **{**common, "sessionId": "w10"})["filesToPreload"] == [rules, plan]
    assert desk.snell("trust", "--revoke").returncode == 0
    told = desk.told("SessionStart", source="startup", session_id="w11")
    assert (rules in told, "tests come first" in told) == (True, False)


@pytest.mark.proves("S2-54", "S2-122", "S2-124", "S2-128", "S2-141")
def test_a_window_takes_up_what_the_nearest_one_before_it_left(desk: Desk):
    desk.snell("effort", "start", "t", "fix")
    desk.fire("SessionStart", source="startup", session_id="w1")
    desk.snell("statusline", given={"session_id": "w1", "context_window": {"used_percentage": 91}})
    assert "snell session dehydrate" in str(desk.call(1, session_id="w1"))
    for wrong, issue in (
        ([], "payload: must be an object"),
        ({**LEFT, "summary": " "}, "summary: must be text"),
        ({**LEFT, "nextSteps": [1]}, "nextSteps: must be a list of texts"),
        ({name: value for name, value in LEFT.items() if name != "requiredFiles"}, "requiredFiles: must be a list"),
        ({**LEFT, "userHistory": 7}, "userHistory: must be text"),
    ):
        refused = desk.snell("session", "dehydrate", given=wrong)
        assert (refused.returncode, issue in refused.stderr) == (1, True), refused
    assert desk.rows("SELECT count(*) FROM sessions WHERE dehydration_payload IS NOT NULL") == [(0,)]
    handed = desk.snell("session", "dehydrate", given={**LEFT, "requiredFiles": [f"/f{n}" for n in range(9)]})
    assert (handed.returncode, "the first 8 of 9 are kept" in handed.stdout) == (0, True)
    ((ended, payload),) = desk.rows("SELECT ended_at, dehydration_payload FROM sessions WHERE client_session_id = 'w1'")
    assert (ended > 0, json.loads(payload)["requiredFiles"]) == (True, [f"/f{n}" for n in range(8)])
    for window in ("w2", "w3"):  # two that never did a thing
        assert "half done" in desk.told("SessionStart", source="startup", session_id=window)
    desk.call(2, session_id="w3")
    desk.snell("effort", "log", "wrote b")
    told = desk.told("SessionStart", source="startup", session_id="w4")
    assert ("half done" in told, "ended without saving its state" in told, "1_FIX_LOG.md" in told) == (
        False,
        True,
        True,
    )


@pytest.mark.proves("S2-02", "S2-03", "S2-05", "S2-58", "S2-61", "S2-63", "S2-64")
def test_a_compaction_that_a_person_asked_for_ends_nothing(desk: Desk):
    desk.snell("effort", "start", "t", "fix")
    desk.fire("SessionStart", source="startup")

    def stored_end() -> tuple[Any, ...]:
        return desk.rows("SELECT ended_at, end_reason, dehydration_payload FROM sessions ORDER BY id DESC LIMIT 1")[0]

    supervised = {"hook_event_name": "PreCompact", "transcript_path": ""}
    code, out, _ = desk.machine.hook({**supervised, "trigger": "manual"}, AGENT_ID="ann", SNELL_SUPERVISOR="r")
    assert (code, "block" in out, stored_end()) == (0, False, (None, None, None))
    assert desk.data("run.poll", run="r")["restart"] is None
    by_hand = {"sessionId": "s", "transcriptPath": "", "cwd": str(desk.project), "trigger": "manual"}
    assert desk.data("hooks.preCompact", **by_hand)["ended"] is False
    assert stored_end() == (None, None, None)
    assert "decision" not in desk.fire("PreCompact", trigger="auto")  # without a watchdog nothing is ended but the row
    first = stored_end()
    assert (first[0] > 0, first[1:]) == (True, ("compact", None))
    assert desk.data("run.poll", run="r")["restart"] is None
    desk.fire("SessionEnd", reason="other")
    assert stored_end() == first
    desk.fire("SessionStart", source="startup", session_id="w2")
    given = {**supervised, "session_id": "w2", "trigger": "auto"}
    code, out, err = desk.machine.hook(given, AGENT_ID="ann", SNELL_SUPERVISOR="r")
    assert "a new window takes over" in out + err
    assert stored_end()[1:] == ("compact", None)
    restart = desk.data("run.poll", run="r")["restart"]
    assert (restart["reason"], "fix" in restart["prompt"]) == ("compact", True)


@pytest.mark.proves("S2-98", "S2-99", "S2-100", "S2-01")
def test_one_answer_to_a_prompt_has_everything_about_the_effort(desk: Desk):
    effort = desk.snell("effort", "start", "t", "fix", "--json").json["effort"]
    desk.snell("phase", "2: Build")
    desk.data("db.effort.updateMetadata", id=effort["id"], metadata={"blockAfter": 25})
    desk.fire("SessionStart", source="startup")
    desk.call(1)
    told = desk.told("UserPromptSubmit", prompt="go on")
    (session,) = desk.snell("session", "list", "--open", "--json").json
    state = rf"session {session['id']} \| skill fix \| phase 2: Build \| heartbeat 1/25"
    line = rf"\[(\d{{4}}-\d\d-\d\d \d\d:\d\d) UTC \| {state}\]"
    found = re.search(line, told)
    assert found, told
    assert abs(timegm(time.strptime(found[1], "%Y-%m-%d %H:%M")) - time.time()) < 180
    for name in ("userPrompt", "userPromptSubmit"):
        answer = desk.data(f"hooks.{name}", sessionId="s", transcriptPath="", prompt="p")
        named = ("effortId", "sessionId", "taskDir", "skill", "phase", "heartbeat")
        expected = [effort["id"], session["id"], effort["taskId"], "fix", "2: Build", 1]
        assert [answer[each] for each in named] == expected
        assert re.fullmatch(line, answer["sessionContext"])


@pytest.mark.proves("S2-39")
def test_an_older_store_is_upgraded_by_the_first_command_and_keeps_its_rows(desk: Desk):
    desk.machine.stop()
    state = desk.machine.home / "state"
    for path in state.glob("snell.db*"):
        path.unlink()
    before = SqliteDatabase(state / "snell.db", wanted=steps("sqlite")[:1])
    before.run(lambda tx: tx.do("INSERT INTO marks VALUES ('s', 'n', '1', 0)"))
    before.close()
    number = "SELECT value FROM meta WHERE name = 'schema'"
    assert desk.rows(number) == [("1",)]
    assert desk.snell("effort", "start", "t", "fix").returncode == 0
    assert desk.rows(number) == [(str(steps("sqlite")[-1].number),)]
    assert desk.rows("SELECT value FROM marks WHERE scope = 's' AND name = 'n'") == [("1",)]
    assert "skill fix" in desk.told("SessionStart", source="startup")


@pytest.mark.proves("S2-133")
def test_calls_on_one_connection_are_answered_in_their_order_although_some_take_longer(desk: Desk):
    desk.machine.write("snell.toml", '[[hooks]]\nevent = "PreToolUse"\ncommand = "sleep 0.05; exit 0"\n')

    def line(number: int) -> str:
        if number % 2:
            return json.dumps({"cmd": "db.project.upsert", "args": {"path": f"/p{number}"}})
        call = {"toolName": "Bash", "toolInput": {"command": "ls"}, "toolUseId": f"t{number}"}
        given = {"sessionId": "s", "transcriptPath": "", "cwd": "/", **call}
        return json.dumps({"cmd": "hooks.preToolUse", "args": given})

    answers = desk.machine.ask(*(line(number) for number in range(10)))
    kinds = [answer["data"].get("path", "decided" if "allow" in answer["data"] else "?") for answer in answers]
    assert kinds == [f"/p{number}" if number % 2 else "decided" for number in range(10)]


@pytest.mark.proves("S2-05", "S2-07", "S2-13", "S2-142")
def test_an_effort_goes_on_across_windows_and_no_state_file_is_in_the_project(desk: Desk):
    desk.snell("effort", "start", "t", "fix")
    desk.snell("phase", "1: Plan")
    for number in range(3):
        told = desk.told("SessionStart", source="startup", session_id=f"w{number}")
        assert "phase 1: Plan" in told
        desk.call(number, session_id=f"w{number}")
        desk.fire("SessionEnd", reason="exit", session_id=f"w{number}")
    rows = desk.snell("session", "list", "--json").json
    assert {row["effortId"] for row in rows} == {1}
    assert [row["prevSessionId"] for row in rows] == [None, *(row["id"] for row in rows[:-1])]
    desk.snell("effort", "log", "so far")
    kept = sorted(str(path.relative_to(desk.project)) for path in desk.project.rglob("*") if path.is_file())
    assert kept == [".tasks/t/1_FIX_LOG.md"]
    assert Path(desk.snell("effort", "show", "--json").json["taskId"]) == desk.project / ".tasks/t"
