"""Agents, sub-agents and how they are doing, through the packs, on every backend."""

import json
from pathlib import Path
from typing import Any

import pytest

from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.work import agents, efforts, messages
from tests.contracts.work_project import WorkProject, notes_of, on_both


@on_both
@pytest.mark.proves("S2-80", "S2-112", "S2-113", "S2-114", "S2-115", "S2-116", "S2-117")
def test_a_subagent_has_a_session_of_its_own_and_is_only_told(work_project: WorkProject):
    work_project.call("commands.effort.start", taskName="t", skill="fix")
    work_project.start()
    work_project.tool()
    note = notes_of(work_project.fire("SubagentStart", agent_id="a1", agent_type="explorer"))
    assert "1_FIX_EXPLORER_LOG.md" in note
    answers = [work_project.tool(agent_id="a1") for _ in range(12)]
    assert {answer.verdict for answer in answers} == {Verdict.NO_OPINION}
    assert "12/10 tool calls" in notes_of(answers[-1])
    work_project.fire(
        "PostToolUse", agent_id="a1", tool_name="Read", tool_input={"file_path": "/p/seen.py"}, tool_response="x"
    )
    found = work_project.call("commands.where")
    assert found["session"]["heartbeatCounter"] == 1
    open_ = work_project.call("db.session.list", effortId=found["effortId"], openOnly=True)
    assert [(each["subagentId"], each["heartbeatCounter"]) for each in open_] == [("", 1), ("a1", 12)]
    work_project.fire("SubagentStop", agent_id="a1", agent_type="explorer")
    assert [each["subagentId"] for each in work_project.call("db.session.list", openOnly=True)] == [""]
    assert work_project.call("db.effort.get", id=found["effortId"])["loadedFiles"] == ["/p/seen.py"]
    other = work_project.tool(transcript_path="/t/another.jsonl")
    assert (other.verdict, work_project.call("commands.where")["session"]["heartbeatCounter"]) == (
        Verdict.NO_OPINION,
        1,
    )


@on_both
@pytest.mark.proves("S2-46", "S2-132", "S2-143")
def test_two_agents_in_one_directory_never_see_each_others_effort(work_project: WorkProject):
    ids = {
        agent: work_project.call("commands.effort.start", agent, taskName=agent, skill="fix")["effort"]["id"]
        for agent in ("ann", "bob")
    }
    for agent in ids:
        work_project.start(agent, agent)
    for number in range(12):
        agent = "ann" if number % 3 else "bob"
        work_project.tool(window=agent, agent=agent)
    found = {agent: work_project.call("commands.where", agent) for agent in ids}
    assert {agent: each["effortId"] for agent, each in found.items()} == ids
    assert {agent: each["session"]["heartbeatCounter"] for agent, each in found.items()} == {"ann": 8, "bob": 4}


@on_both
@pytest.mark.proves("S2-143")
def test_an_effort_without_an_agent_becomes_that_of_the_first_to_open_a_window(work_project: WorkProject):
    work_project.call("commands.effort.start", taskName="t", skill="fix")
    assert "skill fix" in work_project.start("hers", "ann")
    assert work_project.start("his", "bob") == ""
    assert work_project.call("commands.where", "bob")["effortId"] is None


@on_both
@pytest.mark.proves("S2-46", "S2-143")
def test_a_window_without_a_name_takes_no_effort_from_an_agent_until_it_is_asked_to(work_project: WorkProject):
    effort = work_project.call("commands.effort.start", "ann", taskName="t", skill="fix")["effort"]
    work_project.start("hers", "ann")
    session = work_project.call("commands.where", "ann")["session"]
    assert work_project.start("plain") == ""
    assert [work_project.tool(window="plain").verdict for _ in range(12)] == [Verdict.NO_OPINION] * 12
    work_project.call("commands.effort.resume", effortId=effort["id"])
    assert work_project.start("plain") == ""
    assert work_project.call("db.session.get", id=session["id"]) == session
    work_project.fire("SessionEnd", "hers", "ann", reason="exit")
    assert work_project.start("plain") == ""
    work_project.call("commands.effort.resume", effortId=effort["id"])
    assert "skill fix" in work_project.start("plain")


@on_both
@pytest.mark.proves(
    "S2-57", "S2-58", "S2-59", "S2-61", "S2-62", "S2-93", "S2-94", "S2-96", "S2-102", "S2-104", "S2-106"
)
def test_the_status_of_an_agent_follows_its_events(work_project: WorkProject):
    work_project.call("commands.effort.start", "ann", taskName="t", skill="fix")

    def status(name: str, **fields: Any) -> str:
        work_project.fire(name, "w1", "ann", **fields)
        return str(work_project.database.run(lambda tx: agents.get(tx, "ann"))["status"])

    assert status("SessionStart", source="startup") == "idle"
    assert status("UserPromptSubmit", prompt="go") == "working"
    failing = {"tool_name": "Bash", "tool_input": {}, "error": "boom"}
    assert status("PostToolUseFailure", **failing, is_interrupt=True) == "working"
    assert status("PostToolUseFailure", **failing) == "error"
    assert status("PostToolUse", tool_name="Bash", tool_input={}, tool_response="") == "working"
    for kind in ("permission_prompt", "idle_prompt", "elicitation_dialog"):
        status("UserPromptSubmit", prompt="x")
        assert status("Notification", notification_type=kind, message="m") == "attention"
    status("UserPromptSubmit", prompt="x")
    assert status("Notification", notification_type="auth_success", message="m") == "working"
    for _ in range(2):
        assert status("PermissionRequest", tool_name="Bash", tool_input={}) == "attention"
        assert work_project.call("db.agents.updateStatus", "ann", id="ann", status="checked")["status"] == "checked"
    assert [status("Stop"), status("Stop")] == ["done", "done"]
    session = work_project.call("commands.where", "ann")["session"]
    kept = work_project.database.run(lambda tx: messages.list_(tx, session["id"]))
    assert [json.loads(each["content"])["error"] for each in kept] == ["boom", "boom"]
    status("PreCompact", trigger="manual")
    assert work_project.call("commands.where", "ann")["session"]["endedAt"] is None
    status("UserPromptSubmit", prompt="x")
    assert status("SessionEnd", reason="exit") == "done"
    ended = work_project.call("db.session.get", id=session["id"])
    assert (ended["endedAt"] is not None, ended["endReason"]) == (True, "exit")


@on_both
@pytest.mark.proves("S2-107", "S2-108", "S2-109", "S2-110", "S2-111", "S2-60")
def test_a_coordinator_hears_of_its_agents(work_project: WorkProject):
    work_project.database.run(lambda tx: agents.register(tx, "boss", manages=["bob"]))
    work_project.database.run(lambda tx: agents.register(tx, "ann", parent="boss"))
    work_project.database.run(lambda tx: agents.register(tx, "bob"))
    work_project.fire("TeammateIdle", teammate_name="ann", team_name="team")
    work_project.fire("TeammateIdle", teammate_name="bob", team_name="team")
    work_project.fire("TeammateIdle", teammate_name="absent", team_name="team")
    work_project.fire("UserPromptSubmit", "wb", "bob", prompt="go on")
    work_project.fire("SessionEnd", "wb", "bob", reason="exit")
    id_ = work_project.call("commands.effort.start", "ann", taskName="t", skill="fix")["effort"]["id"]
    work_project.start("wa", "ann")
    work_project.fire("TaskCompleted", "wa", "ann", task_id="7", task_subject="write tests")
    assert work_project.database.run(lambda tx: efforts.get(tx, id_))["lifecycle"] == "active"
    work_project.call("db.effort.updateMetadata", id=id_, metadata={"finishOnTask": "8"})
    work_project.fire("TaskCompleted", "wa", "ann", task_id="8", task_subject="all")
    assert work_project.database.run(lambda tx: efforts.get(tx, id_))["lifecycle"] == "finished"
    heard = notes_of(work_project.fire("UserPromptSubmit", "wx", "boss", prompt="how is it going?"))
    assert heard.split("\n") == [
        "Your agents:",
        "- ann: done: team",
        "- bob: done: team",
        "- bob: done",
        "- ann: done: write tests",
        "- ann: done: all",
    ]
    assert notes_of(work_project.fire("UserPromptSubmit", "wx", "boss", prompt="and now?")) == ""


@on_both
@pytest.mark.proves("S2-78")
def test_the_skill_effort_starts_resumes_and_logs_without_a_command(work_project: WorkProject):
    def effort(args: str, skill: str = "effort") -> Decision:
        return work_project.tool("Skill", tool_input={"skill": skill, "args": args})

    begun = effort("start parser implement")
    assert (begun.verdict, "Effort 1 starts" in notes_of(begun)) == (Verdict.NO_OPINION, True)
    assert "continues" in notes_of(effort("resume", "mine:effort"))
    assert "1_IMPLEMENT_LOG.md" in notes_of(effort("log wrote the lexer"))
    for wrong in ("", "start", "start a b c d", "resume x", "resume 999", "log", "dance"):
        refused = effort(wrong)
        assert refused.verdict is Verdict.DENY
        assert "start TASK SKILL" in refused.reasons[0].instead
    assert effort("start x y", "efforts").verdict is Verdict.NO_OPINION
    assert len(work_project.call("db.effort.list")) == 1


@on_both
@pytest.mark.proves("S2-79")
def test_a_phase_command_that_names_its_task_begins_the_effort(work_project: WorkProject):
    project = work_project.call("db.project.upsert", path=str(work_project.project))
    work_project.call(
        "db.skills.upsert", projectId=project["id"], name="analyse", phases=[{"label": "0", "name": "Setup"}]
    )
    command = 'engine session phase "0" <<\'EOF\'\n{"taskName": "Look around"}\nEOF'
    assert work_project.tool(tool_input={"command": command}).verdict is Verdict.NO_OPINION
    (effort,) = work_project.call("db.effort.list")
    assert (effort["skill"], Path(effort["taskId"]).name) == ("analyse", "look-around")
    for harmless in ("snell phase 0 <<EOF\nnot json\nEOF", "snell phase 0 <<EOF\n[]\nEOF", "echo snell phase 0"):
        work_project.tool(tool_input={"command": harmless})
    assert len(work_project.call("db.effort.list")) == 1


@on_both
@pytest.mark.proves("S2-97", "S2-95")
def test_a_limit_is_told_from_an_end(work_project: WorkProject, tmp_path: Path):
    work_project.call("commands.effort.start", "ann", taskName="t", skill="fix")
    work_project.start("w1", "ann")

    def stopped(*rows: Any) -> tuple[list[str], str]:
        path = tmp_path / "t.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        work_project.fire("UserPromptSubmit", "w1", "ann", prompt="x")
        decision = work_project.fire("Stop", "w1", "ann", transcript_path=str(path), stop_hook_active=False)
        return [each.text[:24] for each in decision.tells], work_project.database.run(lambda tx: agents.get(tx, "ann"))[
            "status"
        ]

    talk = {"type": "assistant", "message": {"role": "assistant", "content": "rate_limit and prompt is too long"}}
    full = {
        "type": "assistant",
        "isApiErrorMessage": True,
        "message": {"content": [{"type": "text", "text": "Prompt is too long"}]},
    }
    limit = {"type": "assistant", "isApiErrorMessage": True, "message": {"content": "You've hit your limit"}}
    assert stopped(talk) == ([], "done")
    assert stopped(talk, full) == (["the context is used up; "], "error")
    assert stopped(talk, limit) == (["the agent stopped at a r"], "error")
    assert stopped(limit, *[talk] * 60) == ([], "done")


@on_both
@pytest.mark.proves("S2-118", "S2-119")
def test_what_was_read_of_skills_is_forgotten_when_one_of_their_files_changes(work_project: WorkProject):
    project = work_project.call("db.project.upsert", path=str(work_project.project))
    work_project.call("db.skills.upsert", projectId=project["id"], name="x", version="1")
    work_project.fire("ConfigChange", source="user_settings", file_path="/home/u/settings.json")
    assert len(work_project.call("db.skills.list", projectId=project["id"])) == 1
    work_project.fire("ConfigChange", source="skills", file_path="/p/.claude/skills/x/SKILL.md")
    assert work_project.call("db.skills.list", projectId=project["id"]) == []


@on_both
def test_twenty_agents_keep_their_own_counts(work_project: WorkProject):
    names = [f"agent-{number:02}" for number in range(20)]
    for name in names:
        work_project.call("commands.effort.start", name, taskName=name, skill="fix", metadata={"blockAfter": 1000})
        work_project.start(name, name)
    for round_ in range(5):
        for number, name in enumerate(names):
            for _ in range(number % 3 + 1 if round_ else 1):
                work_project.tool(window=name, agent=name)
    fleet = {each["id"]: each for each in work_project.database.run(agents.fleet)}
    assert {name: fleet[name]["heartbeatCounter"] for name in names} == {
        name: 1 + 4 * (number % 3 + 1) for number, name in enumerate(names)
    }
    assert all(Path(fleet[name]["taskId"]).name == name for name in names)
    windows = [work_project.call("db.session.get", id=each["sessionId"])["clientSessionId"] for each in fleet.values()]
    assert windows == names
