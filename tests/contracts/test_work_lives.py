"""Whole lives of work, through the packs, on every backend."""

import json
from pathlib import Path
from typing import Any

import pytest

from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.work.artefacts import files_of_effort
from tests.contracts.work_project import WorkProject, notes_of, on_both

PAYLOAD = {
    "summary": "the parser is half done",
    "lastAction": "wrote the lexer",
    "nextSteps": ["write the parser", "test it"],
    "requiredFiles": ["/p/plan.md"],
    "userHistory": "please use no regex",
}


@on_both
@pytest.mark.proves("S2-47", "S2-76", "S2-50")
def test_where_no_task_was_begun_agents_are_told_nothing(work_project: WorkProject):
    assert work_project.start() == ""
    assert [work_project.tool().verdict for _ in range(15)] == [Verdict.NO_OPINION] * 15
    assert notes_of(work_project.fire("UserPromptSubmit", prompt="hello")) == ""
    assert work_project.call("hooks.sessionStart", sessionId="w", transcriptPath="", cwd="/nowhere")["found"] is False
    work_project.call("commands.effort.start", taskName="x", skill="y")
    assert work_project.tool(cwd="/elsewhere").verdict is Verdict.NO_OPINION
    assert work_project.call("commands.where", cwd="/elsewhere") == {
        "projectId": None,
        "effortId": None,
        "engineSessionId": None,
        "effort": None,
        "session": None,
    }


@on_both
@pytest.mark.proves("S2-05", "S2-13", "S2-54", "S2-63", "S2-64", "S2-120", "S2-121", "S2-122", "S2-123", "S2-124")
def test_an_effort_survives_a_full_context_and_the_next_window_knows_what_was_done(work_project: WorkProject):
    begun = work_project.call("commands.effort.start", taskName="Parser", skill="implement")
    first = work_project.start()
    assert "skill implement" in first
    assert "heartbeat 0/10" in first
    work_project.usage(85)
    assert "85% of the context is used" in notes_of(work_project.tool())
    assert notes_of(work_project.tool()) == ""
    work_project.usage(92)
    assert "snell session dehydrate" in notes_of(work_project.tool())
    ended = work_project.call("commands.session.dehydrate", payload=PAYLOAD)
    assert work_project.fire("PreCompact", trigger="auto").verdict is Verdict.NO_OPINION
    second = work_project.start("w2")
    for expected in (
        "## Session recovery",
        "the parser is half done",
        "- write the parser",
        "please use no regex",
        "/p/plan.md",
    ):
        assert expected in second
    effort = work_project.call("commands.where")
    assert (effort["effortId"], effort["session"]["prevSessionId"]) == (begun["effort"]["id"], ended["sessionId"])
    work_project.fire("SessionEnd", "w2", reason="exit")
    assert "the parser is half done" in work_project.start("w2b")
    work_project.tool(window="w2b")
    again = work_project.start("w3")
    assert "the parser is half done" not in again
    assert "ended without saving its state" in again
    assert [work_project.tool(window="w3").verdict, work_project.tool(window="w1").verdict] == [Verdict.NO_OPINION] * 2
    assert work_project.call("commands.where")["session"]["heartbeatCounter"] == 1


@on_both
@pytest.mark.proves("S2-67", "S2-68", "S2-69", "S2-70", "S2-75", "S2-146")
def test_calls_are_counted_until_the_agent_writes_into_its_log(work_project: WorkProject):
    work_project.call("commands.effort.start", taskName="t", skill="fix")
    work_project.start()
    answers = [work_project.tool() for _ in range(10)]
    assert [answer.verdict for answer in answers] == [Verdict.NO_OPINION] * 9 + [Verdict.DENY]
    assert [number for number, answer in enumerate(answers, 1) if "3/10" in notes_of(answer)] == [3]
    assert "10/10 tool calls without logging" in answers[-1].reasons[0].text
    log = {"command": "snell effort log 'found it'"}
    assert work_project.tool(tool_input=log).verdict is Verdict.NO_OPINION
    written = work_project.call("commands.log.append", content="## Found it\nthe bug is in the lexer")
    text = Path(written["path"]).read_text("utf-8")
    assert (Path(written["path"]).name, text.startswith("## ["), "UTC] Found it\nthe bug" in text) == (
        "1_FIX_LOG.md",
        True,
        True,
    )
    assert work_project.tool().verdict is Verdict.NO_OPINION
    assert work_project.call("commands.where")["session"]["heartbeatCounter"] == 1
    effort = work_project.call("commands.where")["effort"]
    assert [Path(path).name for path in files_of_effort(effort)] == ["1_FIX_LOG.md"]


@on_both
@pytest.mark.proves("S2-77", "S2-81")
def test_what_is_not_work_is_not_counted(work_project: WorkProject):
    id_ = work_project.call("commands.effort.start", taskName="t", skill="fix")["effort"]["id"]
    work_project.start()

    def count() -> int:
        return int(work_project.call("commands.where")["session"]["heartbeatCounter"])

    edit = {"file_path": "/p/a.py", "old_string": "a", "new_string": "b"}
    for _ in range(3):
        work_project.tool("Edit", tool_input=edit)
    work_project.tool("Edit", tool_input={**edit, "file_path": "/p/b.py"})
    work_project.tool("Task", tool_input={"prompt": "x"})
    assert count() == 2
    for flag in ("loading", "dehydrating"):
        work_project.call("db.effort.updateMetadata", id=id_, metadata={flag: True, "blockAfter": 0})
        assert work_project.tool().verdict is Verdict.NO_OPINION
        work_project.call("db.effort.updateMetadata", id=id_, metadata={flag: None})
    assert work_project.tool().verdict is Verdict.DENY
    assert count() == 3
    work_project.call("db.effort.finish", id=id_)
    assert work_project.tool().verdict is Verdict.NO_OPINION


@on_both
@pytest.mark.proves("S2-71", "S2-72", "S2-15")
def test_a_context_that_fills_up_is_said_urged_and_refused_as_configured(work_project: WorkProject):
    work_project.call("commands.effort.start", taskName="t", skill="fix")
    work_project.start()
    work_project.usage(79)
    assert notes_of(work_project.tool()) == ""
    work_project.usage(89)
    assert "begin no long documents" in notes_of(work_project.tool())
    work_project.usage(90)
    assert "snell session dehydrate" in notes_of(work_project.tool())
    read = {"tool_input": {"file_path": "/x"}}
    assert work_project.tool("Read", **read).verdict is Verdict.NO_OPINION
    assert work_project.tool("Read", **read, options={"read_throttle": 0.9}).verdict is Verdict.DENY
    assert work_project.tool(options={"read_throttle": 0.9}).verdict is Verdict.NO_OPINION
    assert work_project.call("commands.where")["session"]["contextUsage"] == 0.9
    assert work_project.tool(options={"block": 0.76}).verdict is Verdict.DENY
    assert (
        work_project.tool(options={"block": 0.76}, tool_input={"command": "snell session dehydrate"}).verdict
        is Verdict.NO_OPINION
    )


@on_both
@pytest.mark.proves("S2-82", "S2-83", "S2-84", "S2-85", "S2-86", "S2-87", "S2-89", "S2-90", "S2-145")
def test_after_a_call_what_waits_is_delivered_once_and_the_dialogue_is_kept(work_project: WorkProject):
    id_ = work_project.call("commands.effort.start", taskName="t", skill="fix")["effort"]["id"]
    work_project.start()
    waiting = [{"ruleId": "r1", "content": "remember the tests"}]
    work_project.call("db.effort.updateMetadata", id=id_, metadata={"pendingInjections": waiting, "mine": 1})

    def after(tool: str, given: Any, response: Any = "ok") -> Decision:
        return work_project.fire(
            "PostToolUse", tool_name=tool, tool_input=given, tool_response=response, tool_use_id=""
        )

    assert [notes_of(after("Bash", {"command": "ls"})) for _ in range(2)] == ["remember the tests", ""]
    assert work_project.call("db.effort.getMetadata", id=id_) == {"mine": 1}
    after("Read", {"file_path": "/p/a"})
    session = work_project.call("commands.where")["session"]
    assert session["loadedFiles"] == ["/p/a"]
    asked = {"questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}, {"question": "Why?"}]}
    after("AskUserQuestion", asked, {"answers": {"Which?": "B"}})
    after("AskUserQuestion", {"questions": "nonsense"}, None)
    kept = [json.loads(each["content"]) for each in work_project.call("db.messages.list", sessionId=session["id"])]
    assert kept == [
        {
            "source": "hook",
            "preamble": "",
            "questions": [
                {"question": "Which?", "options": ["A", "B"], "answer": "B"},
                {"question": "Why?", "options": [], "answer": ""},
            ],
        },
        {"source": "hook", "preamble": "", "questions": []},
    ]


@on_both
@pytest.mark.proves("S2-88", "S2-148", "S2-26", "S2-53", "S2-55")
def test_rules_of_a_directory_are_found_when_something_there_is_touched_and_the_next_window_knows_them(
    work_project: WorkProject,
):
    work_project.call("commands.effort.start", taskName="t", skill="fix")
    work_project.start()
    inside = work_project.project / "src"
    (inside / ".directives/commands").mkdir(parents=True)
    for path in (
        work_project.project / "AGENTS.md",
        inside / ".directives/INVARIANTS.md",
        inside / ".directives/commands/CMD_X.md",
    ):
        path.write_text("rules", encoding="utf-8")
    (inside / "TESTING.md").write_text("only when asked", encoding="utf-8")
    given = {"file_path": str(inside / "a.py")}
    notes = [
        notes_of(work_project.fire("PostToolUse", tool_name="Read", tool_input=given, tool_response=""))
        for _ in range(2)
    ]
    names = ("AGENTS.md", "INVARIANTS.md", "CMD_X.md", "TESTING.md")
    assert ([name in notes[0] for name in names], notes[1]) == ([True, True, True, False], "")
    again = work_project.call(
        "hooks.sessionStart", sessionId="w2", transcriptPath="", cwd=str(work_project.project), source="resume"
    )
    assert [Path(path).name for path in again["filesToPreload"]] == ["INVARIANTS.md", "CMD_X.md", "AGENTS.md"]
    assert again["hookSpecificOutput"]["additionalContext"].startswith("[")


@on_both
@pytest.mark.proves("S2-77")
def test_an_effort_that_is_finished_between_before_and_after_disturbs_no_agent(work_project: WorkProject):
    id_ = work_project.call("commands.effort.start", taskName="t", skill="fix")["effort"]["id"]
    work_project.start()
    work_project.tool()
    work_project.call("db.effort.finish", id=id_)
    after = work_project.fire("PostToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_response="ok")
    assert (after.verdict, after.notes) == (Verdict.NO_OPINION, ())
    assert work_project.start("w2") == ""


@on_both
@pytest.mark.parametrize("finishes", [True, False])
def test_a_window_counts_for_the_effort_that_was_begun_last(work_project: WorkProject, finishes: bool):
    first = work_project.call("commands.effort.start", taskName="a", skill="plan")
    work_project.start()
    work_project.tool()
    if finishes:
        work_project.call("db.effort.finish", id=first["effort"]["id"])
        assert work_project.call("db.session.list", openOnly=True) == []
    second = work_project.call("commands.effort.start", taskName="b", skill="build")
    answers = [work_project.tool() for _ in range(10)]
    assert [answer.verdict for answer in answers] == [Verdict.NO_OPINION] * 9 + [Verdict.DENY]
    assert "skill build" in notes_of(work_project.fire("UserPromptSubmit", prompt="and now?"))
    work_project.call("commands.log.append", content="so far")
    assert work_project.tool().verdict is Verdict.NO_OPINION
    assert work_project.call("commands.session.dehydrate", payload=PAYLOAD)["effortId"] == second["effort"]["id"]
    again = work_project.tool()
    assert (again.verdict, "skill plan" in notes_of(work_project.fire("UserPromptSubmit", prompt="x"))) == (
        Verdict.NO_OPINION,
        not finishes,
    )
    work_project.fire("SessionEnd", reason="exit")
    assert work_project.call("db.session.list", openOnly=True) == []


@on_both
def test_two_windows_keep_an_effort_each(work_project: WorkProject):
    for number, window in enumerate(("w1", "w2")):
        work_project.call("commands.effort.start", taskName=f"t{number}", skill=f"s{number}")
        work_project.start(window)
    for window in ("w1", "w2", "w1", "w1"):
        work_project.tool(window=window)
    rows = work_project.call("db.session.list", openOnly=True)
    assert {each["clientSessionId"]: each["heartbeatCounter"] for each in rows} == {"w1": 3, "w2": 1}
