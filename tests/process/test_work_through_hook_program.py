"""The work layer as a client's user has it: the real `snell-hook`, the command line, the socket and the stored rows."""

import json
from typing import Any

import apsw
import pytest

from tests.process.desk import Desk
from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)

WORK_TABLES = ("projects", "tasks", "efforts", "sessions", "phase_history", "messages", "agents")
KEEPS_INPUT = """
[[hooks]]
event = "PostToolUseFailure"
[hooks.command]
command = "cat > $SNELL_HOME/given.json"
"""


@pytest.fixture
def desk(machine: Machine) -> Desk:
    machine.write("snell.toml", KEEPS_INPUT)
    return Desk(machine)


@pytest.mark.proves("S2-21")
def test_no_effort_is_without_a_skill(desk: Desk):
    refused = desk.snell("effort", "start", "parser")
    assert (refused.returncode, "skill" in refused.stderr) == (1, True)
    desk.fire("SessionStart", source="startup")  # starts the daemon
    assert desk.ask("commands.effort.start", taskName="parser")["error"] == "VALIDATION_ERROR"
    assert desk.snell("effort", "start", "parser", "implement").returncode == 0
    with desk.database() as database, pytest.raises(apsw.ConstraintError, match="skill"):
        database.execute("UPDATE efforts SET skill = NULL")


@pytest.mark.proves("S2-101")
def test_a_prompt_changes_nothing_but_the_status_of_the_agent(desk: Desk):
    desk.snell("effort", "start", "parser", "implement")
    desk.fire("SessionStart", source="startup")
    desk.snell("statusline", given={"session_id": "s", "context_window": {"used_percentage": 50}})
    for number in range(2):
        desk.call(
            number, tool_name="Edit", tool_input={"file_path": f"/p/{number}", "old_string": "a", "new_string": "b"}
        )
    waiting = {"pendingInjections": [{"ruleId": "r", "content": "after the next call"}]}
    desk.data("db.effort.updateMetadata", id=1, metadata=waiting)
    desk.fire("Notification", message="may I?", notification_type="permission_prompt")

    def work() -> dict[str, list[tuple[Any, ...]]]:
        return {table: desk.rows(f"SELECT * FROM {table}") for table in WORK_TABLES}

    wait_until(lambda: desk.rows("SELECT status FROM agents") == [("attention",)])
    before = work()
    assert "heartbeat" in json.dumps(desk.fire("UserPromptSubmit", prompt="go on"))
    wait_until(lambda: desk.rows("SELECT status FROM agents") == [("working",)])
    after = work()
    assert [table for table in WORK_TABLES if before[table] != after[table]] == ["agents"]


@pytest.mark.proves("S1-03", "S2-92", "S2-94")
def test_a_failed_call_reaches_hooks_with_its_error_and_becomes_a_message(desk: Desk):
    desk.snell("effort", "start", "parser", "implement")
    desk.fire("SessionStart", source="startup")
    failed = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t1"}
    desk.fire("PostToolUseFailure", **failed, error="make: no target", is_interrupt=True)
    given = json.loads((desk.machine.home / "given.json").read_text(encoding="utf-8"))
    assert (given["error"], given["is_interrupt"], given["tool_name"]) == ("make: no target", True, "Bash")
    secret = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    again = {**failed, "tool_use_id": "t2"}
    desk.fire("PostToolUseFailure", **again, error=f"make: failed with {secret}", is_interrupt=False)
    wait_until(lambda: desk.rows("SELECT status FROM agents") == [("error",)])
    rows = wait_until(lambda: desk.rows("SELECT role, content FROM messages ORDER BY id"))
    assert [role for role, _ in rows] == ["system", "system"]
    assert [json.loads(content) for _, content in rows] == [
        {"event": "PostToolUseFailure", "tool": "Bash", "error": "make: no target", "interrupt": True},
        {
            "event": "PostToolUseFailure",
            "tool": "Bash",
            "error": "make: failed with [redacted:github-token]",
            "interrupt": False,
        },
    ]


@pytest.mark.proves("S2-02", "S2-03", "S2-58", "S2-59")
def test_the_end_of_a_session_is_noted_once(desk: Desk):
    desk.snell("effort", "start", "parser", "implement")
    desk.fire("SessionStart", source="startup")
    desk.fire("SessionEnd", reason="other")
    wait_until(lambda: desk.rows("SELECT status FROM agents") == [("done",)])
    ended = desk.rows("SELECT ended_at FROM sessions")
    assert ended[0][0] > 0
    desk.fire("SessionEnd", reason="logout")
    assert desk.rows("SELECT ended_at FROM sessions") == ended


@pytest.mark.proves("S2-69")
def test_calls_are_refused_from_the_limit_on_until_the_log_has_an_entry(desk: Desk):
    desk.snell("effort", "start", "parser", "implement")
    desk.fire("SessionStart", source="startup")
    verdicts = [desk.call(number).get("permissionDecision") for number in range(1, 12)]
    assert verdicts == [None] * 9 + ["deny", "deny"]
    desk.snell("effort", "log", "read the grammar")
    assert desk.call(12).get("permissionDecision") is None
    ((effort,),) = desk.rows("SELECT id FROM efforts")
    assert desk.ask("db.effort.updateMetadata", id=effort, metadata={"blockAfter": 0})["ok"]
    desk.snell("effort", "log", "read the lexer")
    assert desk.call(13).get("permissionDecision") == "deny"


@pytest.mark.proves("S2-07", "S2-120")
def test_the_next_window_finds_the_effort_and_what_was_handed_over(desk: Desk):
    (desk.machine.project / "grammar.md").write_text("expr := term", encoding="utf-8")
    desk.snell("effort", "start", "parser", "implement")
    desk.fire("SessionStart", source="startup")
    assert desk.snell("phase", "1: Plan").returncode == 0
    left = {"summary": "the lexer is written", "lastAction": "a", "nextSteps": ["the parser"]}
    handed = desk.snell("session", "dehydrate", given={**left, "requiredFiles": ["grammar.md"]})
    assert handed.returncode == 0, handed.stderr
    told = json.dumps(desk.fire("SessionStart", source="startup", session_id="next"))
    expected = ("the lexer is written", "Read these files first: grammar.md", "1: Plan")
    assert [text for text in expected if text not in told] == []
    assert desk.rows("SELECT current_phase FROM efforts") == [("1: Plan",)]
    ended = desk.rows("SELECT end_reason FROM sessions ORDER BY id")
    assert ended == [("replaced",), ("dehydrated",), (None,)]


@pytest.mark.proves("S3-79")
def test_a_malformed_skill_hides_no_other(desk: Desk):
    skills = desk.machine.home / ".claude" / "skills"
    good = "---\nname: deploy\ndescription: roll out a release to production\n---\nRun the checklist first.\n"
    for name, content in (("a-bad", b"---\nname: [\x00\xff never closed"), ("b-good", good.encode()), ("c-bad", b"")):
        (skills / name).mkdir(parents=True)
        (skills / name / "SKILL.md").write_bytes(content)
    for name, target in (("a-loop", "SKILL.md"), ("a-closed", "/proc/self/mem")):  # reading the second is an error
        (skills / name).mkdir()
        (skills / name / "SKILL.md").symlink_to(target)
    told = json.dumps(desk.fire("UserPromptSubmit", prompt="deploy the release to production"))
    assert "Run the checklist first." in told


@pytest.mark.proves("S2-46")
def test_a_window_without_a_name_joins_the_effort_of_an_agent_only_if_the_settings_say_so(machine: Machine) -> None:
    desk = Desk(machine)
    assert "parser" in desk.snell("effort", "start", "parser", "implement").stdout
    desk.fire("SessionStart", source="startup", session_id="hers")

    def told(window: str) -> str:
        return machine.hook({"hook_event_name": "SessionStart", "source": "startup", "session_id": window})[1]

    assert "implement" not in told("plain")
    machine.write("snell.toml", "[pack.sessions]\njoins_agents = true\n")
    assert "implement" in told("another")
