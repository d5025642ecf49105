"""Whole lives of work, through the packs, on every backend."""

import json
from pathlib import Path
from typing import Any

import pytest

from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.work.artefacts import files_of_effort
from tests.contracts.work_stage import Stage, on_both, said

PAYLOAD = {
    "summary": "the parser is half done",
    "lastAction": "wrote the lexer",
    "nextSteps": ["write the parser", "test it"],
    "requiredFiles": ["/p/plan.md"],
    "userHistory": "please use no regex",
}


@on_both
@pytest.mark.proves("S2-47", "S2-76", "S2-50")
def test_where_no_task_was_begun_nobody_notices_anything(stage: Stage):
    assert stage.start() == ""
    assert [stage.tool().verdict for _ in range(15)] == [Verdict.NO_OPINION] * 15
    assert said(stage.fire("UserPromptSubmit", prompt="hello")) == ""
    assert stage.call("hooks.sessionStart", sessionId="w", transcriptPath="", cwd="/nowhere")["found"] is False
    stage.call("commands.effort.start", taskName="x", skill="y")
    assert stage.tool(cwd="/elsewhere").verdict is Verdict.NO_OPINION
    assert stage.call("commands.where", cwd="/elsewhere") == {
        "projectId": None,
        "effortId": None,
        "engineSessionId": None,
        "effort": None,
        "session": None,
    }


@on_both
@pytest.mark.proves("S2-05", "S2-13", "S2-54", "S2-63", "S2-64", "S2-120", "S2-121", "S2-122", "S2-123", "S2-124")
def test_an_effort_survives_a_full_context_and_the_next_window_knows_what_was_done(stage: Stage):
    begun = stage.call("commands.effort.start", taskName="Parser", skill="implement")
    first = stage.start()
    assert "skill implement" in first
    assert "heartbeat 0/10" in first
    stage.usage(85)
    assert "85% of the context is used" in said(stage.tool())
    assert said(stage.tool()) == ""
    stage.usage(92)
    assert "snell session dehydrate" in said(stage.tool())
    ended = stage.call("commands.session.dehydrate", payload=PAYLOAD)
    assert stage.fire("PreCompact", trigger="auto").verdict is Verdict.NO_OPINION
    second = stage.start("w2")
    for expected in (
        "## Session recovery",
        "the parser is half done",
        "- write the parser",
        "please use no regex",
        "/p/plan.md",
    ):
        assert expected in second
    effort = stage.call("commands.where")
    assert (effort["effortId"], effort["session"]["prevSessionId"]) == (begun["effort"]["id"], ended["sessionId"])
    stage.fire("SessionEnd", "w2", reason="exit")
    assert "the parser is half done" in stage.start("w2b")
    stage.tool(window="w2b")
    again = stage.start("w3")
    assert "the parser is half done" not in again
    assert "ended without saving its state" in again
    assert [stage.tool(window="w3").verdict, stage.tool(window="w1").verdict] == [Verdict.NO_OPINION] * 2
    assert stage.call("commands.where")["session"]["heartbeatCounter"] == 1


@on_both
@pytest.mark.proves("S2-67", "S2-68", "S2-69", "S2-70", "S2-75", "S2-146")
def test_calls_are_counted_until_the_agent_writes_into_its_log(stage: Stage):
    stage.call("commands.effort.start", taskName="t", skill="fix")
    stage.start()
    answers = [stage.tool() for _ in range(10)]
    assert [answer.verdict for answer in answers] == [Verdict.NO_OPINION] * 9 + [Verdict.DENY]
    assert [number for number, answer in enumerate(answers, 1) if "3/10" in said(answer)] == [3]
    assert "10/10 tool calls without logging" in answers[-1].reasons[0].text
    log = {"command": "snell effort log 'found it'"}
    assert stage.tool(tool_input=log).verdict is Verdict.NO_OPINION
    written = stage.call("commands.log.append", content="## Found it\nthe bug is in the lexer")
    text = Path(written["path"]).read_text("utf-8")
    assert (Path(written["path"]).name, text.startswith("## ["), "UTC] Found it\nthe bug" in text) == (
        "1_FIX_LOG.md",
        True,
        True,
    )
    assert stage.tool().verdict is Verdict.NO_OPINION
    assert stage.call("commands.where")["session"]["heartbeatCounter"] == 1
    effort = stage.call("commands.where")["effort"]
    assert [Path(path).name for path in files_of_effort(effort)] == ["1_FIX_LOG.md"]


@on_both
@pytest.mark.proves("S2-77", "S2-81")
def test_what_is_not_work_is_not_counted(stage: Stage):
    id_ = stage.call("commands.effort.start", taskName="t", skill="fix")["effort"]["id"]
    stage.start()

    def count() -> int:
        return int(stage.call("commands.where")["session"]["heartbeatCounter"])

    edit = {"file_path": "/p/a.py", "old_string": "a", "new_string": "b"}
    for _ in range(3):
        stage.tool("Edit", tool_input=edit)
    stage.tool("Edit", tool_input={**edit, "file_path": "/p/b.py"})
    stage.tool("Task", tool_input={"prompt": "x"})
    assert count() == 2
    for flag in ("loading", "dehydrating"):
        stage.call("db.effort.updateMetadata", id=id_, metadata={flag: True, "blockAfter": 0})
        assert stage.tool().verdict is Verdict.NO_OPINION
        stage.call("db.effort.updateMetadata", id=id_, metadata={flag: None})
    assert stage.tool().verdict is Verdict.DENY
    assert count() == 3
    stage.call("db.effort.finish", id=id_)
    assert stage.tool().verdict is Verdict.NO_OPINION


@on_both
@pytest.mark.proves("S2-71", "S2-72", "S2-15")
def test_a_context_that_fills_up_is_said_urged_and_refused_as_configured(stage: Stage):
    stage.call("commands.effort.start", taskName="t", skill="fix")
    stage.start()
    stage.usage(79)
    assert said(stage.tool()) == ""
    stage.usage(89)
    assert "begin no long documents" in said(stage.tool())
    stage.usage(90)
    assert "snell session dehydrate" in said(stage.tool())
    assert stage.tool("Read", tool_input={"file_path": "/x"}).verdict is Verdict.DENY
    assert stage.tool().verdict is Verdict.NO_OPINION
    assert stage.call("commands.where")["session"]["contextUsage"] == 0.9
    assert stage.tool(options={"block": 0.76}).verdict is Verdict.DENY
    assert (
        stage.tool(options={"block": 0.76}, tool_input={"command": "snell session dehydrate"}).verdict
        is Verdict.NO_OPINION
    )


@on_both
@pytest.mark.proves("S2-82", "S2-83", "S2-84", "S2-85", "S2-86", "S2-87", "S2-89", "S2-90", "S2-145")
def test_after_a_call_what_waits_is_delivered_once_and_the_dialogue_is_kept(stage: Stage):
    id_ = stage.call("commands.effort.start", taskName="t", skill="fix")["effort"]["id"]
    stage.start()
    waiting = [{"ruleId": "r1", "content": "remember the tests"}]
    stage.call("db.effort.updateMetadata", id=id_, metadata={"pendingInjections": waiting, "mine": 1})

    def after(tool: str, given: Any, response: Any = "ok") -> Decision:
        return stage.fire("PostToolUse", tool_name=tool, tool_input=given, tool_response=response, tool_use_id="")

    assert [said(after("Bash", {"command": "ls"})) for _ in range(2)] == ["remember the tests", ""]
    assert stage.call("db.effort.getMetadata", id=id_) == {"mine": 1}
    after("Read", {"file_path": "/p/a"})
    session = stage.call("commands.where")["session"]
    assert session["loadedFiles"] == ["/p/a"]
    asked = {"questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}, {"question": "Why?"}]}
    after("AskUserQuestion", asked, {"answers": {"Which?": "B"}})
    after("AskUserQuestion", {"questions": "nonsense"}, None)
    kept = [json.loads(each["content"]) for each in stage.call("db.messages.list", sessionId=session["id"])]
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
def test_rules_of_a_directory_are_found_when_something_there_is_touched_and_the_next_window_knows_them(stage: Stage):
    stage.call("commands.effort.start", taskName="t", skill="fix")
    stage.start()
    inside = stage.project / "src"
    (inside / ".directives/commands").mkdir(parents=True)
    for path in (
        stage.project / "AGENTS.md",
        inside / ".directives/INVARIANTS.md",
        inside / ".directives/commands/CMD_X.md",
    ):
        path.write_text("rules", encoding="utf-8")
    (inside / "TESTING.md").write_text("only when asked", encoding="utf-8")
    given = {"file_path": str(inside / "a.py")}
    notes = [said(stage.fire("PostToolUse", tool_name="Read", tool_input=given, tool_response="")) for _ in range(2)]
    names = ("AGENTS.md", "INVARIANTS.md", "CMD_X.md", "TESTING.md")
    assert ([name in notes[0] for name in names], notes[1]) == ([True, True, True, False], "")
    again = stage.call("hooks.sessionStart", sessionId="w2", transcriptPath="", cwd=str(stage.project), source="resume")
    assert [Path(path).name for path in again["filesToPreload"]] == ["INVARIANTS.md", "CMD_X.md", "AGENTS.md"]
    assert again["hookSpecificOutput"]["additionalContext"].startswith("[")


@on_both
@pytest.mark.proves("S2-77")
def test_an_effort_that_is_finished_between_before_and_after_disturbs_nobody(stage: Stage):
    id_ = stage.call("commands.effort.start", taskName="t", skill="fix")["effort"]["id"]
    stage.start()
    stage.tool()
    stage.call("db.effort.finish", id=id_)
    after = stage.fire("PostToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_response="ok")
    assert (after.verdict, after.notes) == (Verdict.NO_OPINION, ())
    assert stage.start("w2") == ""


@on_both
@pytest.mark.parametrize("finishes", [True, False])
def test_a_window_counts_for_the_effort_that_was_begun_last(stage: Stage, finishes: bool):
    first = stage.call("commands.effort.start", taskName="a", skill="plan")
    stage.start()
    stage.tool()
    if finishes:
        stage.call("db.effort.finish", id=first["effort"]["id"])
        assert stage.call("db.session.list", openOnly=True) == []
    second = stage.call("commands.effort.start", taskName="b", skill="build")
    answers = [stage.tool() for _ in range(10)]
    assert [answer.verdict for answer in answers] == [Verdict.NO_OPINION] * 9 + [Verdict.DENY]
    assert "skill build" in said(stage.fire("UserPromptSubmit", prompt="and now?"))
    stage.call("commands.log.append", content="so far")
    assert stage.tool().verdict is Verdict.NO_OPINION
    assert stage.call("commands.session.dehydrate", payload=PAYLOAD)["effortId"] == second["effort"]["id"]
    again = stage.tool()
    assert (again.verdict, "skill plan" in said(stage.fire("UserPromptSubmit", prompt="x"))) == (
        Verdict.NO_OPINION,
        not finishes,
    )
    stage.fire("SessionEnd", reason="exit")
    assert stage.call("db.session.list", openOnly=True) == []


@on_both
def test_two_windows_keep_an_effort_each(stage: Stage):
    for number, window in enumerate(("w1", "w2")):
        stage.call("commands.effort.start", taskName=f"t{number}", skill=f"s{number}")
        stage.start(window)
    for window in ("w1", "w2", "w1", "w1"):
        stage.tool(window=window)
    rows = stage.call("db.session.list", openOnly=True)
    assert {each["clientSessionId"]: each["heartbeatCounter"] for each in rows} == {"w1": 3, "w2": 1}
