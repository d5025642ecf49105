"""The promise loop, sub-agents and skills, through the real `snell-hook` and the command line."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.process.desk import Desk
from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)


@pytest.fixture
def desk(machine: Machine) -> Desk:
    machine.hook({"session_id": "s"})  # starts the daemon
    return Desk(machine)


def stop(desk: Desk, said: str, event: str = "Stop", **fields: Any) -> tuple[str, str]:
    """Return the reason why an agent is sent back, and what its user is told."""
    answer = desk.fire(event, last_assistant_message=said, stop_hook_active=True, **fields)
    return str(answer.get("reason", "")), str(answer.get("systemMessage", ""))


@pytest.mark.proves("S3-05", "S3-63", "S3-64", "S3-65", "S3-66", "S3-67", "S3-68", "S3-69", "S3-70", "S3-74")
def test_an_agent_is_sent_back_until_it_keeps_its_promise_or_its_rounds_are_used_up(desk: Desk):
    assert stop(desk, "that is all") == ("", "")  # there is no promise
    told = desk.told("UserPromptSubmit", prompt="/harness tidy up")
    assert all(text in told for text in ("tidy up", "TASK_COMPLETE", "10 times at most"))
    loop = desk.snell("loop", "status", "--session", "s", "--json").json
    assert [loop[name] for name in ("promise", "most", "iteration")] == ["TASK_COMPLETE", 10, 0]
    reason, _ = stop(desk, "that is all")
    for text in ("Iteration 1/10", "The objective: tidy up", "do not start over", "End your last message with TASK_C"):
        assert text in reason
    assert [stop(desk, said) for said in ("", "  \n")] == [("", "")] * 2
    desk.machine.kill()  # what was counted is stored before the answer
    assert "Iteration 2/10" in stop(desk, "task_complete, nearly")[0]
    for number in range(3, 11):
        desk.fire(
            "PostToolUse", tool_name="Read", tool_input={"file_path": "a"}, tool_use_id=f"{number}", tool_response=""
        )
        assert f"Iteration {number}/10" in stop(desk, "no", "AgentStop" if number == 5 else "Stop")[0]
    reason, told = stop(desk, "no")
    assert (reason, "10 iterations are used up" in told) == ("", True)
    assert stop(desk, "no") == ("", "")
    assert desk.snell("loop", "start", "--promise", "KEPT", "--session", "s", "--json").json["most"] == 10
    desk.snell("loop", "start", "--promise", "KEPT", "--max", "20", "--session", "s")
    desk.fire("UserPromptSubmit", prompt="mend the parser")
    assert "The objective: mend the parser" in stop(desk, "not yet")[0]
    assert stop(desk, "no", session_id="other") == ("", "")
    reason, told = stop(desk, "it is KEPT.")
    assert (reason, "the promise is kept after 1 more iterations" in told) == ("", True)
    # Past the client's own cap of eight in a row it goes on only under `snell run`.
    desk.snell("loop", "start", "--promise", "KEPT", "--max", "20", "--session", "s")
    assert [bool(stop(desk, "no")[0]) for _ in range(8)] == [True] * 8
    reason, told = stop(desk, "no")
    assert (reason, "ends a turn after hooks have prevented 8 stops" in told) == ("", True)


@pytest.mark.proves("S3-72", "S3-73")
def test_a_mission_in_planning_waits_for_a_person_and_a_full_context_is_handed_over(desk: Desk):
    desk.snell("loop", "start", "--promise", "KEPT", "--session", "s")
    mission = desk.project / "mission.json"
    mission.write_text('{"status": "PLANNING"}', encoding="utf-8")
    reason, told = stop(desk, "here is the plan")
    assert (reason, "approve its plan" in told) == ("", True)
    mission.write_text('{"status": "RUNNING"}', encoding="utf-8")
    assert "Iteration 1/10" in stop(desk, "here is the plan")[0]

    def handed_over(session: str, tokens: int, **env: str) -> list[bool]:
        status = {
            "session_id": session,
            "context_window": {"total_input_tokens": tokens, "context_window_size": 200_000},
        }
        desk.snell("statusline", given=status)
        prompt = {"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": "x"}
        return ["The context is nearly full." in desk.machine.hook(prompt, **env)[1] for _ in range(2)]

    assert handed_over("w1", 180_000) == [False, False]
    assert handed_over("w2", 180_001) == [True, False]
    assert handed_over("w3", 5, SNELL_DEBUG_HANDOFF="1") == [True, False]


@pytest.mark.proves("S3-03", "S3-56", "S3-57", "S3-58", "S3-59", "S3-60")
def test_a_sub_agent_is_sent_back_for_what_it_should_bring(desk: Desk):
    task = {"prompt": "collect sources in search_results and write a report", "subagent_type": "scout"}
    call = {"tool_name": "Task", "tool_input": {**task, "description": "d"}}

    def stopped(agent: str) -> str:
        desk.fire("PreToolUse", **call, tool_use_id=f"t-{agent}")
        desk.fire("SubagentStart", agent_id=agent, agent_type="scout")
        return str(
            desk.fire("SubagentStop", agent_id=agent, agent_type="scout", stop_hook_active=False).get("reason", "")
        )

    reason = stopped("a")
    assert ("no file was written" in reason, "check your task, and try again" in reason) == (True, True)
    told = desk.told("PostToolUse", **call, tool_use_id="t-a", tool_response="done")
    assert "wrote no file. Next: check what it was given, and start it again" in told
    data = desk.project / "search_results"
    data.mkdir()
    desk.fire("PreToolUse", **call, tool_use_id="t-b")
    desk.fire("SubagentStart", agent_id="b", agent_type="scout")
    for name in ("a.md", "b.md"):
        (data / name).write_text("data", encoding="utf-8")
    reason = desk.fire("SubagentStop", agent_id="b", agent_type="scout", stop_hook_active=False)["reason"]
    assert "there are 2 files of data and no report" in reason
    assert "write the report from them now" in reason
    told = desk.told("PostToolUse", **call, tool_use_id="t-x", tool_response="done")
    assert "There are 2 files of data and no report. Next: have the report written from them again" in told
    (desk.project / "work_products").mkdir()
    (desk.project / "work_products/report.html").write_text("<p>", encoding="utf-8")
    assert desk.fire("SubagentStop", agent_id="b", agent_type="scout", stop_hook_active=True) == {}
    told = desk.told("PostToolUse", **call, tool_use_id="t-b", tool_response="done")
    assert "The report exists: work_products/report.html. Next: 1." in told
    desk.machine.write("snell.toml", '[pack.harness]\nreport = ["no/*.pdf", "out/*.csv", "../outside/*"]\ndata = []\n')
    (desk.project / "out").mkdir()
    (desk.project / "out/empty.csv").touch()
    (desk.project / "out/old.csv").write_text("1", encoding="utf-8")
    os.utime(desk.project / "out/old.csv", (1_700_000_000, 1_700_000_000))  # of an earlier sub-agent
    assert "`out/*.csv`" in stopped("c")
    desk.fire("SubagentStart", agent_id="d", agent_type="scout")
    (desk.project / "out/a.csv").write_text("1", encoding="utf-8")
    assert desk.fire("SubagentStop", agent_id="d", agent_type="scout", stop_hook_active=False) == {}


@pytest.mark.proves("S3-60", "S3-61", "S3-62")
def test_the_answer_of_a_sub_agent_is_kept_and_not_asked_for_twice(desk: Desk):
    desk.machine.write("snell.toml", "[pack.harness]\nkeep_subagent_output = true\nreuse_subagent_output = true\n")
    given = {"prompt": "find it", "subagent_type": "x", "description": "d"}
    assert desk.verdict(1, tool_name="Task", tool_input=given) == ""
    answer = {"content": [{"type": "text", "text": "it is here " * 1000}]}
    response = {**answer, "password": "hunter2hunter2"}
    desk.fire("PostToolUse", tool_name="Task", tool_input=given, tool_use_id="t1", tool_response=response)
    kept = desk.machine.home / "state/subagents"
    (summary,) = wait_until(lambda: list(kept.glob("*/summary.md")))
    output = json.loads((summary.parent / "subagent_output.json").read_text(encoding="utf-8"))
    assert "[redacted" in output["output"].pop("password")
    assert (output["output"], len(summary.read_text(encoding="utf-8"))) == (answer, 4000)
    refused = desk.call(2, tool_name="Task", tool_input=dict(reversed(given.items())))
    assert (refused["permissionDecision"], "it is here" in refused["permissionDecisionReason"]) == ("deny", True)
    assert f"read {summary.parent}/subagent_output.json" in refused["permissionDecisionReason"]
    for number, other in enumerate(({"prompt": "another"}, {"subagent_type": "y"}), 3):
        assert desk.verdict(number, tool_name="Task", tool_input={**given, **other}) == ""
    (summary.parent / "subagent_output.json").write_text("{broken", encoding="utf-8")
    assert desk.verdict(5, tool_name="Task", tool_input=given) == ""


def write_skill(desk: Desk, name: str, description: str, body: str = "") -> Path:
    path = desk.machine.home / ".claude/skills" / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    text = f"---\nname: {name}\ndescription: {description}\n---\n{body or f'How to {name}.'}\n"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.proves("S3-04", "S3-76", "S3-77", "S3-78", "S3-80", "S3-81", "S3-82")
def test_skills_come_with_the_prompt_with_a_sub_agent_and_with_a_document(desk: Desk):
    text = "extract tables, merge and split pages"
    deploy = write_skill(desk, "deploy", "Roll a release out to staging and production with a health check.")
    pdf = write_skill(desk, "pdf", "Extract text and tables from PDF documents, merge and split pages.")
    long = write_skill(desk, "long", "word " * 60)
    prompt = "deploy it to production"
    told = desk.told("UserPromptSubmit", prompt=prompt)
    about, text_of_it = told.split("Skill `deploy`")[1].split(" ========\n")[:2]
    assert (about.splitlines()[0], text_of_it.splitlines()[0]) == (f" ({deploy}) is made for this:", "How to deploy.")
    assert "Skill `pdf`" not in told
    assert "Skill `deploy`" not in desk.told("UserPromptSubmit", prompt=prompt)  # once a session
    write_skill(desk, "vague", "Use this when the user wants to make some other changes to their files.")
    for other in (
        "redeployed it yesterday",
        "undeploy it again",
        "write a haiku",
        "when the user wants some other changes, make them",
    ):
        assert "Skill `" not in desk.told("UserPromptSubmit", prompt=other, session_id=other)
    assert str(pdf) in desk.told("UserPromptSubmit", prompt=text, session_id="w1")
    tidy = write_skill(desk, "tidy", "x\ntriggers: [spring cleaning]")
    assert str(tidy) in desk.told("UserPromptSubmit", prompt="time for some spring cleaning!", session_id="w5")
    desk.machine.write("snell.toml", "[pack.skills]\ninject = 20\n")  # enough for one of two
    told = desk.told("UserPromptSubmit", prompt="deploy the pdf skill", session_id="w6")
    assert ["How to deploy." in told, "How to pdf." in told, f"Read {pdf} first." in told] == [True, False, True]
    settings = f'[pack.skills]\ninject = 5\nknowledge = ["{desk.project}/tools.md", "big.md", "absent.md"]\n'
    desk.machine.write("snell.toml", f'{settings}[pack.skills.triggers]\npdf = ["sweep"]\n')
    told = desk.told("UserPromptSubmit", prompt=prompt, session_id="w2")
    assert (f"Read {deploy} first." in told, "How to deploy." in told) == (True, False)
    assert str(pdf) in desk.told("UserPromptSubmit", prompt="sweep the floor", session_id="w3")
    assert str(pdf) not in desk.told("UserPromptSubmit", prompt=text, session_id="w4")
    write_skill(desk, "quiet", "x\ndisable-model-invocation: true")  # a sub-agent cannot use it
    (desk.project / "tools.md").write_text("knew\n", encoding="utf-8")
    (desk.project / "big.md").write_text("more than fits", encoding="utf-8")
    told = desk.told("SubagentStart", agent_id="a", agent_type="x")
    lines = {line.split(":")[0]: line for line in told.splitlines() if line.startswith("- ")}
    assert sorted(lines) == ["- deploy", "- long", "- pdf", "- tidy", "- vague"]
    assert lines["- long"] == f"- long: {'word ' * 29}wo... ({long})"  # 150 characters of it
    assert f"### {desk.project}/tools.md\nknew" in told
    assert (f"Read {desk.project}/big.md first." in told, "absent.md" in told) == (True, False)
    for number, (command, is_told) in enumerate((("ls pdfs", False), ("pdftotext a.pdf", True), ("qpdf a.pdf", False))):
        told = str(desk.call(number, tool_name="Bash", tool_input={"command": command}).get("additionalContext", ""))
        assert (command, str(pdf) in told) == (command, is_told)
    for number, name in enumerate(("docx", "pptx", "xlsx"), 10):
        path = write_skill(desk, name, f"Files of the kind {name}")
        told = desk.call(number, tool_name="Bash", tool_input={"command": f"python fill.py report.{name}"})
        assert (name, str(path) in str(told.get("additionalContext", ""))) == (name, True)


@pytest.mark.proves("S3-83")
def test_an_error_with_skills_is_in_the_journal_and_not_in_the_agents_way(desk: Desk):
    write_skill(desk, "deploy", "Roll a release out to production.")
    desk.machine.write("snell.toml", '[pack.skills]\nfolders = ["not\\u0000a path"]\n')
    answer = desk.fire("UserPromptSubmit", prompt="deploy it to production")
    assert ("decision" in answer, "hookSpecificOutput" in answer) == (False, False)  # the user is warned, no model
    runs = [run for each in desk.snell("why", "last", "--json").json["rounds"] for run in each["runs"]]
    (failure,) = [run["failure"] for run in runs if run["hook"] == "skills/add_to_prompt"]
    assert failure["kind"] == "crash"
