"""The fifteen events of the work layer through the real `snell-hook`: their fields, the status of agents, messages."""

import json
from typing import Any

import pytest

from tests.process.desk import Desk
from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)

TOOL = {"tool_name": "mcp__x__y", "tool_input": {"fileName": 1, "file_name": {"innerKey": [2]}}}
# An event, its own fields that are always there, and those that a client may leave out.
EVENTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "SessionStart": ({"source": "startup"}, {"model": "m", "agent_type": "main"}),
    "SessionEnd": ({"reason": "logout"}, {}),
    "PreCompact": ({"trigger": "manual"}, {"custom_instructions": "keep the plan"}),
    "PreToolUse": ({**TOOL, "tool_use_id": "t1"}, {}),
    "PostToolUse": ({**TOOL, "tool_use_id": "t1", "tool_response": [1, {"anyKey": None}]}, {}),
    "PostToolUseFailure": ({**TOOL, "tool_use_id": "t2", "error": "boom"}, {"is_interrupt": True}),
    "Stop": ({}, {"stop_hook_active": True, "last_assistant_message": "done"}),
    "UserPromptSubmit": ({"prompt": "go on"}, {}),
    "Notification": ({"message": "may I?", "notification_type": "permission_prompt"}, {"title": "a title"}),
    "PermissionRequest": (TOOL, {"permission_suggestions": [{"type": "addRules"}]}),
    "TeammateIdle": ({"teammate_name": "bob", "team_name": "team"}, {}),
    "TaskCompleted": (
        {"task_id": "7", "task_subject": "tests"},
        {"task_description": "d", "teammate_name": "bob", "team_name": "team"},
    ),
    "SubagentStart": ({"agent_id": "a1", "agent_type": "scout"}, {}),
    "SubagentStop": (
        {"stop_hook_active": False, "agent_id": "a1", "agent_type": "scout"},
        {"agent_transcript_path": "/t/a1.jsonl", "last_assistant_message": "found it"},
    ),
    "ConfigChange": ({"source": "user_settings"}, {"file_path": "/f"}),
}
COMMON = {"session_id": "3f2c", "transcript_path": "/t.jsonl", "permission_mode": "plan"}
KEEPS = '[[hooks]]\nevent = "{0}"\n[hooks.command]\ncommand = "cat >> $SNELL_HOME/given; echo >> $SNELL_HOME/given"\n'


@pytest.fixture
def desk(machine: Machine) -> Desk:
    machine.hook()  # starts the daemon
    return Desk(machine)


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


@pytest.mark.proves("S2-40", "S2-41", "S2-42", "S2-43", "S2-49", "S2-57", "S2-62", "S2-65", "S2-82", "S2-92", "S2-95")
@pytest.mark.proves("S2-98", "S2-103", "S2-105", "S2-107", "S2-110", "S2-112", "S2-115", "S2-118")
def test_every_event_brings_hooks_its_own_fields_from_the_hook_program_and_from_the_socket(desk: Desk):
    desk.machine.write("snell.toml", "".join(KEEPS.format(event) for event in EVENTS))
    desk.snell("effort", "start", "t", "fix")
    given = desk.machine.home / "given"

    def kept() -> dict[str, Any]:
        lines = [line for line in given.read_text(encoding="utf-8").split("\n") if line]
        given.unlink()
        return json.loads(lines[-1])

    for event, (own, optional) in EVENTS.items():
        expected = {**COMMON, "cwd": str(desk.project), "hook_event_name": event, **own}
        desk.fire(event, **{**COMMON, **own, **optional, "somethingNew": {"is": "there"}})
        seen = kept()
        assert {name: seen.get(name) for name in {**expected, **optional}} == {**expected, **optional}
        desk.fire(event, **{name: value for name, value in {**COMMON, **own}.items() if name != "permission_mode"})
        seen = kept()
        assert {name: seen[name] for name in own} == own
        assert not [name for name in optional if seen.get(name)]
        reused = {"tool_use_id": "t9"} if "tool_use_id" in own else {}  # another delivery than the first two
        sent = {camel(name): value for name, value in {**COMMON, **own, **optional, **reused}.items()}
        names = ("userPrompt", "userPromptSubmit") if event == "UserPromptSubmit" else (event[0].lower() + event[1:],)
        for name in names:
            answer = desk.ask(f"hooks.{name}", **sent, cwd=str(desk.project))
            seen = kept()
            assert (event, answer["ok"], {field: seen.get(field) for field in own}) == (event, True, {**own, **reused})
        least = {camel(name): value for name, value in {**COMMON, **own, **reused}.items() if name != "permission_mode"}
        assert (event, desk.ask(f"hooks.{names[0]}", **least, cwd=str(desk.project))["ok"]) == (event, True)
        typed = {**own, **optional, "permission_mode": ""}.keys() - {"tool_response", "permission_suggestions"}
        for field in map(camel, typed):
            answer = desk.ask(f"hooks.{names[0]}", **{**sent, field: 5}, cwd=str(desk.project))
            assert (event, field, answer.get("error")) == (event, field, "VALIDATION_ERROR")
        for missing in ("sessionId", "transcriptPath"):
            wrong = {field: value for field, value in sent.items() if field != missing}
            answer = desk.ask(f"hooks.{names[0]}", **wrong, cwd=str(desk.project))
            assert (answer["error"], answer["details"]["issues"]) == ("VALIDATION_ERROR", [f"{missing}: is missing"])
    assert desk.code("hooks.sessionEnd", sessionId=1, transcriptPath="", reason="x") == "VALIDATION_ERROR"
    assert desk.snell("session", "list", "--open", "--json").json == []  # `1` is a row, and no id of a client
    desk.fire("SessionStart", source="startup")
    (row,) = desk.snell("session", "list", "--open", "--json").json
    desk.fire("SessionEnd", session_id=str(row["id"]), reason="x")  # another window, whose own id looks like the row's
    assert desk.snell("session", "list", "--open", "--json").json == [row]


# An event, the type of its subject, the payload's own fields, and what a Python hook reads of them.
READ: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("SessionStart", "Session", {"source": "resume"}, {"id": "s", "source": "resume"}),
    ("UserPromptSubmit", "Prompt", {"prompt": "go on"}, {"text": "go on"}),
    ("PreCompact", "Compaction", {"custom_instructions": "keep"}, {"trigger": "", "instructions": "keep"}),
    ("PreCompact", "Compaction", {"trigger": "manual"}, {"trigger": "manual", "instructions": ""}),
    ("PermissionRequest", "ToolCall", TOOL, {"tool": "mcp__x__y", "input": TOOL["tool_input"]}),
    ("PreToolUse", "ToolCall", TOOL, {"tool": "mcp__x__y", "kind": "mcp", "input": TOOL["tool_input"]}),
    *(
        ("PostToolUse", "ToolCall", {**TOOL, "tool_response": value}, {"response": value})
        for value in ([1, {"anyKey": None}], "done", 0, False, None, {"a": [2]})
    ),
    ("PostToolUseFailure", "ToolCall", {**TOOL, "error": "boom"}, {"error": "boom"}),
    (
        "Notification",
        "Notification",
        {"message": "may I?", "notification_type": "permission_prompt", "title": "a title"},
        {"message": "may I?", "type": "permission_prompt", "title": "a title"},
    ),
    ("SubagentStart", "AgentRun", {"agent_id": "a1", "agent_type": "scout"}, {"id": "a1", "type": "scout"}),
    (
        "SubagentStop",
        "AgentRun",
        {"agent_id": "a1", "agent_type": "scout", "agent_transcript_path": "/a1", "last_assistant_message": "found it"},
        {"id": "a1", "type": "scout", "transcript": "/a1", "last_message": "found it"},
    ),
    ("TeammateIdle", "AgentRun", {"teammate_name": "bob"}, {"type": "bob"}),
    (
        "TaskCompleted",
        "Task",
        {"task_id": "7", "task_subject": "tests", "task_description": "d"},
        {"id": "7", "subject": "tests", "description": "d"},
    ),
    (
        "Stop",
        "Turn",
        {"stop_hook_active": True, "last_assistant_message": "done"},
        {"is_continuation": True, "last_message": "done"},
    ),
    ("Stop", "Turn", {}, {"is_continuation": False, "last_message": ""}),
    ("SessionEnd", "Session", {"reason": "logout"}, {"reason": "logout"}),
    ("Setup", "Session", {"trigger": "init"}, {"source": "init"}),
    ("UserPromptExpansion", "Prompt", {"prompt": "/x y", "command_name": "x"}, {"text": "/x y", "command": "x"}),
    ("PostCompact", "Compaction", {"compact_summary": "short"}, {"summary": "short"}),
    ("FileChanged", "FileEvent", {"file_path": "/f"}, {"path": "/f"}),
]
TELLS = """
@informs("{event}")
def tell_{event}(subject: {type}):
    text = json.dumps({{name: getattr(subject, name) for name in {names}}})
    return Note(text) if "{event}" == "PreCompact" else Tell(text)
"""


@pytest.mark.proves("S1-07", "S2-49", "S2-57", "S2-62", "S2-65", "S2-82", "S2-92", "S2-95", "S2-98", "S2-103", "S2-105")
@pytest.mark.proves("S2-43", "S2-107", "S2-110", "S2-112", "S2-115")
def test_a_python_hook_reads_the_fields_of_an_event_as_attributes(desk: Desk):
    by_event = {event: {"event": event, "type": type_, "names": list(read)} for event, type_, _, read in READ}
    types = ", ".join(sorted({each["type"] for each in by_event.values()}))
    hooks = "".join(TELLS.format(**each) for each in by_event.values())
    desk.machine.write("pack/rules.py", f"import json\nfrom snell import Note, Tell, informs, {types}\n{hooks}")
    for number, (event, _, given, read) in enumerate(READ):
        answer = desk.fire(event, **{**given, "tool_use_id": f"t{number}"})
        told = answer.get("systemMessage") or answer["text"].rpartition("\n")[2]
        assert (event, json.loads(told)) == (event, read)


@pytest.mark.proves("S2-144")
def test_a_client_has_one_entry_for_each_of_the_fifteen_events(desk: Desk):
    entries = _hooks_in(desk.snell("setup", "claude-code", "--print", "--json").json)
    assert [event for event in EVENTS if event not in entries] == []
    for event in EVENTS:
        handlers = [handler for entry in entries[event] for handler in entry["hooks"]]
        assert len(handlers) == 1
        assert "snell-hook" in json.dumps(handlers[0])


def _hooks_in(value: Any) -> dict[str, Any]:
    """Return the entries by event, wherever they are in the printed set-up."""
    if isinstance(value, dict):
        if isinstance(value.get("PreToolUse"), list):
            return value
        return next((found for each in value.values() if (found := _hooks_in(each))), {})
    return next((found for each in value if (found := _hooks_in(each))), {}) if isinstance(value, list) else {}


@pytest.mark.proves("S2-59", "S2-93", "S2-94", "S2-96", "S2-102", "S2-104", "S2-106")
def test_the_status_of_an_agent_follows_its_events(desk: Desk):
    def status(event: str, **fields: Any) -> str:
        desk.fire(event, **fields)
        return str(desk.data("db.agents.get", id="ann")["status"])

    desk.snell("effort", "start", "t", "fix")
    failing = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "1", "error": "boom"}
    assert status("SessionStart", source="startup") == "idle"
    assert status("UserPromptSubmit", prompt="go") == "working"
    assert status("PostToolUseFailure", **failing, is_interrupt=True) == "working"
    assert status("PostToolUseFailure", **{**failing, "tool_use_id": "2"}) == "error"
    for kind in ("permission_prompt", "idle_prompt", "elicitation_dialog"):
        assert status("UserPromptSubmit", prompt=kind) == "working"
        assert status("Notification", notification_type=kind, message="m") == "attention"
    assert status("UserPromptSubmit", prompt="x") == "working"
    assert status("Notification", notification_type="auth_success", message="m") == "working"
    assert status("PermissionRequest", tool_name="Bash", tool_input={"command": "ls"}) == "attention"
    assert [status("Stop", stop_hook_active=False), status("Stop", stop_hook_active=False)] == ["done", "done"]
    assert desk.data("hooks.stop", sessionId="s", transcriptPath="", stopHookActive=False)["status"] == "done"
    (session,) = desk.snell("session", "list", "--open", "--json").json
    kept = desk.data("db.messages.list", sessionId=session["id"])
    assert {(row["role"], row["toolName"]) for row in kept} == {("system", "Bash")}
    named = [json.loads(row["content"]) for row in kept]
    assert [(row["error"], row["tool"], row["interrupt"]) for row in named] == [
        ("boom", "Bash", True),
        ("boom", "Bash", False),
    ]
    status("UserPromptSubmit", prompt="x")
    assert status("SessionEnd", reason="exit") == "done"
    assert desk.snell("session", "list", "--open", "--json").json == []


@pytest.mark.proves("S2-60", "S2-107", "S2-108", "S2-109", "S2-110", "S2-111")
def test_a_coordinator_hears_of_its_agents_and_only_the_idle_one_is_done(desk: Desk):
    desk.snell("agent", "register", "boss", "--manages", "bob")
    desk.snell("agent", "register", "bob")
    for agent in ("ann", "bob", "carl", "boss"):
        desk.fire("UserPromptSubmit", agent, session_id=agent, prompt="x")
    statuses = {row["id"]: row["status"] for row in desk.snell("agent", "list", "--json").json}
    desk.fire("TeammateIdle", teammate_name="bob", team_name="team")
    desk.fire("TeammateIdle", teammate_name="absent", team_name="team")
    after = {row["id"]: row["status"] for row in desk.snell("agent", "list", "--json").json}
    assert after == {**statuses, "bob": "done"}
    effort = desk.snell("effort", "start", "t", "fix", "--json", agent="bob").json["effort"]["id"]
    desk.fire("SessionStart", "bob", source="startup", session_id="wb")

    def is_active() -> bool:
        return bool(desk.snell("effort", "show", str(effort), "--json").json["lifecycle"] == "active")

    desk.fire("TaskCompleted", "bob", session_id="wb", task_id="7", task_subject="tests", teammate_name="bob")
    assert is_active()
    desk.data("db.effort.updateMetadata", id=effort, metadata={"finishOnTask": "8"})
    desk.fire("TaskCompleted", "bob", session_id="wb", task_id="9", task_subject="more")
    assert is_active()
    desk.fire("TaskCompleted", "bob", session_id="wb", task_id="8", task_subject="all")
    assert not is_active()
    second = desk.snell("effort", "start", "u", "fix", "--json", agent="bob").json["effort"]["id"]
    desk.data("db.effort.updateMetadata", id=second, metadata={"finishOnTask": "ship"})
    desk.fire("SessionStart", "bob", source="startup", session_id="wb")
    desk.fire("TaskCompleted", "bob", session_id="wb", task_id="1", task_subject="ship")
    assert desk.snell("effort", "show", str(second), "--json").json["lifecycle"] == "finished"
    logged = [json.loads(content)["subject"] for (content,) in desk.rows("SELECT content FROM messages ORDER BY id")]
    assert logged == ["tests", "more", "all", "ship"]
    desk.fire("UserPromptSubmit", "bob", session_id="wb", prompt="x")
    assert desk.snell("fleet").stdout.count("working") == 4
    desk.fire("SessionEnd", "bob", session_id="wb", reason="exit")
    assert [line.split()[1] for line in desk.snell("fleet").stdout.splitlines() if line.startswith("bob")] == ["done"]
    heard = desk.told("UserPromptSubmit", "boss", session_id="wx", prompt="how is it going?")
    lines = [line for line in heard.split("\n") if line.startswith("- bob")]
    assert lines == ["- bob: done: team", *(f"- bob: done: {task}" for task in logged), "- bob: done"]
    assert "- bob" not in desk.told("UserPromptSubmit", "boss", session_id="wx", prompt="and now?")


@pytest.mark.proves("S2-95", "S2-97")
def test_a_limit_in_the_last_fifty_lines_of_the_transcript_is_told_from_an_end(desk: Desk):
    desk.snell("effort", "start", "t", "fix")
    desk.fire("SessionStart", source="startup")
    path = desk.project / "t.jsonl"

    def stopped(*rows: Any, **fields: Any) -> tuple[str, str]:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        desk.fire("UserPromptSubmit", prompt="x", transcript_path=str(path))
        said = desk.fire("Stop", transcript_path=str(path), **fields).get("systemMessage", "")
        return said[:24], str(desk.data("db.agents.get", id="ann")["status"])

    talk = {"type": "assistant", "message": {"role": "assistant", "content": "rate_limit and prompt is too long"}}
    full = {"type": "assistant", "isApiErrorMessage": True, "message": {"content": "Prompt is too long"}}
    limit = {"type": "assistant", "isApiErrorMessage": True, "message": {"content": "You've hit your limit"}}
    assert stopped(talk, stop_hook_active=False, last_assistant_message="fine") == ("", "done")
    assert stopped(talk, full) == ("the context is used up; ", "error")
    user = {"type": "user", "message": {"role": "user", "content": "go on, rate_limit"}}
    assert stopped(*[talk] * 60, limit, *[user] * 49) == ("the agent stopped at a r", "error")
    assert stopped(*[talk] * 60, limit, *[user] * 50) == ("", "done")
    assert stopped(limit, talk) == ("", "done")  # the model has gone on since


@pytest.mark.proves("S2-80", "S2-112", "S2-113", "S2-114", "S2-115", "S2-116", "S3-03")
def test_a_sub_agent_has_a_session_of_its_own_on_the_effort_of_its_parent(desk: Desk):
    folder = desk.project / "src/.directives"
    folder.mkdir(parents=True)
    for name in ("INVARIANTS.md", "ARCHITECTURE.md", "STYLE.md"):
        (folder / name).write_text("rules", encoding="utf-8")
    (desk.project / "AGENTS.md").write_text("rules", encoding="utf-8")
    desk.snell("effort", "start", "t", "fix")
    desk.data("db.effort.updateMetadata", id=1, metadata={"mine": 1})
    desk.fire("SessionStart", source="startup", transcript_path="/t.jsonl")
    read = {"tool_name": "Read", "tool_input": {"file_path": str(desk.project / "src/a.py")}, "tool_use_id": "1"}
    desk.fire("PreToolUse", **read)
    desk.fire("PostToolUse", **read, tool_response="x")
    told = desk.told("SubagentStart", agent_id="a1", agent_type="scout")
    assert all(text in told for text in ("You work on effort 1", "1_FIX_SCOUT_LOG.md", "AGENTS.md"))
    assert not any(text in told for text in ("INVARIANTS.md", "ARCHITECTURE.md"))
    common = {"sessionId": "s", "transcriptPath": "/t.jsonl", "cwd": str(desk.project)}
    given = desk.data("hooks.subagentStart", **common, agentId="a2", agentType="scout")
    assert (given["effortMetadata"], given["effortId"]) == ({"mine": 1}, 1)
    answers = [desk.call(number, agent_id="a1", agent_type="scout") for number in range(2, 14)]
    assert {answer.get("permissionDecision", "") for answer in answers} == {""}
    assert "12/10 tool calls" in answers[-1]["additionalContext"]

    def open_() -> dict[str, tuple[int, int]]:
        rows = desk.snell("session", "list", "--open", "--json").json
        assert {row["parentSessionId"] for row in rows if row["subagentId"]} <= {rows[0]["id"]}
        return {row["subagentId"]: (row["heartbeatCounter"], row["effortId"]) for row in rows}

    assert open_() == {"": (1, 1), "a1": (12, 1), "a2": (0, 1)}
    desk.fire("SubagentStop", agent_id="unknown", agent_type="scout", stop_hook_active=False)
    assert open_() == {"": (1, 1), "a1": (12, 1), "a2": (0, 1)}
    desk.fire("SubagentStop", agent_id="a1", agent_type="scout", stop_hook_active=False)
    assert open_() == {"": (1, 1), "a2": (0, 1)}


@pytest.mark.proves("S2-118", "S2-119")
def test_only_a_change_of_a_skill_makes_snell_read_skills_anew(desk: Desk):
    desk.snell("effort", "start", "t", "fix")
    project = desk.data("db.project.find", path=str(desk.project))["id"]
    desk.data("db.skills.upsert", projectId=project, name="x", version="1")
    desk.fire("ConfigChange", source="user_settings", file_path="/home/u/settings.json")
    assert [row["name"] for row in desk.data("db.skills.list", projectId=project)] == ["x"]
    for source, path in (("skills", ""), ("project_settings", desk.project / ".claude/skills/x/SKILL.md")):
        desk.data("db.skills.upsert", projectId=project, name="x", version="1")
        desk.fire("ConfigChange", source=source, file_path=str(path))
        assert desk.data("db.skills.list", projectId=project) == []


@pytest.mark.proves("S2-10")
def test_each_event_changes_rows_of_its_own_layers_only(desk: Desk):
    tables = ("projects", "tasks", "efforts", "sessions", "phase_history", "messages", "agents", "skills")
    tool = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "1"}
    asked = {**tool, "tool_name": "AskUserQuestion", "tool_input": {"questions": []}}
    # What an event may change, and what it must.
    touched: list[tuple[str, dict[str, Any], set[str]]] = [
        ("SessionStart", {"source": "startup"}, {"sessions", "agents"}),
        ("PreToolUse", tool, {"sessions"}),
        ("PostToolUse", {**tool, "tool_response": ""}, {"agents"}),
        ("PostToolUse", {**asked, "tool_response": {}}, {"agents", "messages"}),
        ("PostToolUseFailure", {**tool, "error": "e"}, {"agents", "messages"}),
        ("Stop", {"stop_hook_active": False}, {"agents"}),
        ("UserPromptSubmit", {"prompt": "p"}, {"agents"}),
        ("Notification", {"notification_type": "idle_prompt", "message": "m"}, {"agents"}),
        ("PermissionRequest", tool, {"agents"}),
        ("TeammateIdle", {"teammate_name": "bob", "team_name": "t"}, {"agents"}),
        ("SubagentStart", {"agent_id": "a", "agent_type": "t"}, {"sessions"}),
        ("SubagentStop", {"agent_id": "b", "agent_type": "t"}, set()),
        ("TaskCompleted", {"task_id": "1", "task_subject": "s"}, {"messages"}),
        ("ConfigChange", {"source": "user_settings"}, set()),
        ("PreCompact", {"trigger": "manual"}, set()),
        ("PreCompact", {"trigger": "auto"}, {"sessions"}),
        ("SessionEnd", {"reason": "x"}, {"sessions", "agents"}),
    ]
    desk.snell("effort", "start", "t", "fix")
    desk.snell("agent", "register", "bob")
    desk.fire("SessionStart", source="startup")

    def contents() -> dict[str, Any]:
        return {table: desk.rows(f"SELECT * FROM {table} ORDER BY 1") for table in tables}

    for event, fields, expected in touched:
        desk.snell("agent", "status", "checked")
        before = contents()
        desk.fire(event, **fields)
        wait_until(lambda was=before, names=expected: all(contents()[name] != was[name] for name in names))
        after = contents()
        assert (event, {table for table in tables if before[table] != after[table]}) == (event, expected)
