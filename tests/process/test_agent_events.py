"""What an agent is told about its session, its sub-agents and its failed calls, through the real `snell-hook`."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fork_server import run_snell
from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)


def fire(machine: Machine, event: str, **fields: Any) -> dict[str, Any]:
    """Return the answer to one event; empty if there is nothing to say. Text alone is `text`."""
    payload = {
        "hook_event_name": event,
        "session_id": "s",
        "transcript_path": "",
        "cwd": str(machine.project),
        **fields,
    }
    code, out, err = machine.hook(raw=json.dumps(payload).encode())
    assert (code, err) == (0, "")
    return json.loads(out) if out.startswith("{") else {"text": out} if out else {}


def command(machine: Machine, *words: str, given: Any = None) -> str:
    stdin = json.dumps(given).encode() if given is not None else b""
    code, out, err = run_snell(*words, cwd=machine.project, env=machine.env(), given=stdin)
    assert (code, err) == (0, "")
    return out


def context_in(answer: dict[str, Any]) -> str:
    return str(answer.get("text") or answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def verdict_of(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("permissionDecision", ""))


@pytest.mark.proves("S2-71")
def test_with_a_nearly_full_context_reading_is_warned_about_and_refused_only_by_an_option(machine: Machine):
    command(machine, "effort", "start", "t", "fix")
    fire(machine, "SessionStart", source="startup")
    command(machine, "statusline", given={"session_id": "s", "context_window": {"used_percentage": 91}})
    read = {"tool_name": "Read", "tool_input": {"file_path": str(machine.project / "a.py")}}
    warned = fire(machine, "PreToolUse", tool_use_id="1", **read)
    assert (verdict_of(warned), "91% of the context is used" in context_in(warned)) == ("", True)
    machine.write("snell.toml", "[pack.sessions]\nread_throttle = 0.9\n")
    assert verdict_of(fire(machine, "PreToolUse", tool_use_id="2", **read)) == "deny"


@pytest.mark.proves("S3-56", "S3-59")
@pytest.mark.parametrize(
    ("settings", "prompt"),
    [('[pack.harness]\nreport = ["out/*.csv"]\n', "count the words"), ("", "put your sources into search_results/")],
)
def test_a_declared_file_whose_folder_is_missing_is_missing(machine: Machine, settings: str, prompt: str):
    machine.write("snell.toml", settings)
    agent = {"agent_id": "a1", "agent_type": "scout"}
    given = {"prompt": prompt, "subagent_type": "scout", "description": "scout"}
    fire(machine, "PreToolUse", tool_name="Task", tool_input=given, tool_use_id="t1")
    fire(machine, "SubagentStart", **agent)
    answer = fire(machine, "SubagentStop", stop_hook_active=False, **agent)
    assert answer["decision"] == "block"
    assert "no file was written" in answer["reason"]
    folder = Path(machine.project, "out" if settings else "work_products")
    folder.mkdir()
    (folder / ("a.csv" if settings else "a.html")).write_text("1", encoding="utf-8")
    assert fire(machine, "SubagentStop", stop_hook_active=True, **agent) == {}


@pytest.mark.proves("S3-02", "S3-25", "S3-29")
@pytest.mark.parametrize(
    ("tool", "given", "error", "hint"),
    [
        ("Bash", {"command": "pytest"}, "Exit code 1\n1 validation error: field required", "Read the error"),
        ("Bash", {"command": "pytest"}, "1 validation error for Settings: unknown tool x", "Read the error"),
        ("Bash", {"command": "tree"}, "Exit code 127\nbash: tree: command not found", "not installed"),
        ("Bash", {"command": 3}, "InputValidationError: Bash failed", "did not have the right form"),
        ("Bash", {}, "field required", "did not have the right form"),
        ("mcp__x__send", {"to": "a"}, "1 validation error for call[send]", "did not have the right form"),
    ],
)
def test_a_failed_call_gets_the_hint_of_its_cause(
    machine: Machine, tool: str, given: dict[str, Any], error: str, hint: str
):
    failed = {"tool_name": tool, "tool_input": given, "tool_use_id": "1", "error": error, "is_interrupt": False}
    assert hint in context_in(fire(machine, "PostToolUseFailure", **failed))


@pytest.mark.proves("S3-76", "S3-77")
@pytest.mark.parametrize(
    ("name", "description", "prompt", "is_found"),
    [
        ("xlsx", "Spreadsheet creation, editing and analysis", "create a spreadsheet", True),
        ("excel", "Work with formulas", "create a spreadsheet", True),
        ("tables", "Build spreadsheets from data", "please make me a new spreadsheet of all users", True),
        ("pptx", "Presentation creation and editing", "prepare a presentation for Monday", True),
        ("tables", "Build spreadsheets from data", "the spreadsheet is wrong", False),
        ("tables", "Build spreadsheets from data", "create a file for the users", False),
    ],
)
def test_a_skill_is_found_for_what_a_prompt_asks_to_create(
    machine: Machine, name: str, description: str, prompt: str, is_found: bool
):
    others = {"docx": "Document creation, editing and analysis", "pdf": "Creation and merging of pages"}
    for skill, about in {**others, name: description}.items():
        folder = machine.home / ".claude/skills" / skill
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: {skill}\ndescription: {about}\n---\nHow.\n", encoding="utf-8")
    told = context_in(fire(machine, "UserPromptSubmit", prompt=prompt))
    assert (f"Skill `{name}`" in told, "Skill `docx`" in told) == (is_found, False)


@pytest.mark.proves("S0-04", "S0-47")
def test_notes_come_once_for_a_conversation_and_in_order_with_a_compaction(machine: Machine):
    folder = machine.home / ".claude"
    folder.mkdir()
    for name, text in {"LOCAL.md": "my notes", "RECLAUDE.md": "restore this"}.items():
        (folder / name).write_text(text, encoding="utf-8")
    reports = machine.home / "reports"
    learn = f'[pack.learn]\nenabled = true\nfolder = "{reports}"\n'
    machine.write("snell.toml", f'[pack.notes]\nrules = ["my rule"]\n{learn}')
    fire(machine, "SessionStart", source="startup")
    assert "my notes" in context_in(fire(machine, "UserPromptSubmit", prompt="hello"))
    fire(machine, "SessionEnd", reason="prompt_input_exit")
    fire(machine, "SessionStart", source="resume")
    assert "my notes" not in context_in(fire(machine, "UserPromptSubmit", prompt="hello again"))
    parts = ["my notes", "my rule", "restore this"]
    kept = fire(machine, "PreCompact", trigger="manual", custom_instructions="")["text"]
    assert [kept.index(part) for part in parts] == sorted(kept.index(part) for part in parts)
    assert len(list(reports.glob("*-PreCompact*.md"))) == 1
    told = context_in(fire(machine, "SessionStart", source="compact"))
    assert [told.index(part) for part in parts] == sorted(told.index(part) for part in parts)
    fire(machine, "SessionStart", source="clear")
    assert "my notes" in context_in(fire(machine, "UserPromptSubmit", prompt="hello"))


@pytest.mark.proves("S0-58", "S0-60")
def test_the_report_of_a_session_has_its_last_events(machine: Machine):
    machine.write("snell.toml", f'[pack.learn]\nenabled = true\nfolder = "{machine.home}/reports"\n')
    fire(machine, "SessionStart", source="startup")
    for number in range(3):
        fire(machine, "UserPromptSubmit", prompt=f"prompt {number}")
        call = {"tool_name": "Bash", "tool_input": {"command": f"tool{number} run"}, "tool_use_id": f"t{number}"}
        fire(machine, "PreToolUse", **call)
        fire(machine, "PostToolUseFailure", **call, error=f"error {number}", is_interrupt=False)
        fire(machine, "PreCompact", trigger="manual", custom_instructions="")
        report = max((machine.home / "reports").glob("*-PreCompact*.md"), key=lambda path: path.stat().st_mtime_ns)
        text = report.read_text(encoding="utf-8")
        assert [each for each in (f"prompt {number}", f"tool{number} run", f"error {number}") if each not in text] == []
    asked = [line for line in text.partition("## Questions")[2].splitlines() if line.startswith("- ")]
    assert (len(set(asked)), {line[-1] for line in asked}) == (4, {"?"})


@pytest.mark.proves("S1-23")
def test_the_log_names_the_sub_agent_of_each_decision(machine: Machine):
    call = {"tool_name": "Read", "tool_input": {"file_path": "/a"}}
    fire(machine, "PreToolUse", **call, tool_use_id="1")
    fire(machine, "PreToolUse", **call, tool_use_id="2", agent_id="a1", agent_type="scout")
    fire(machine, "SubagentStop", agent_id="a1", agent_type="scout", stop_hook_active=False)

    def rows() -> list[tuple[str, ...]]:
        found = [json.loads(line) for line in command(machine, "log", "--json").splitlines()]
        return [(row["event"], row["agent_id"], row["agent_type"]) for row in found]

    expected = [("PreToolUse", "", ""), ("PreToolUse", "a1", "scout"), ("SubagentStop", "a1", "scout")]
    assert wait_until(lambda: rows() == expected)  # the details are written after the reply


@pytest.mark.proves("S2-117")
def test_the_files_that_a_sub_agent_read_are_added_to_the_effort(machine: Machine):
    command(machine, "effort", "start", "t", "fix")
    fire(machine, "SessionStart", source="startup")
    agent = {"agent_id": "a1", "agent_type": "scout"}
    fire(machine, "SubagentStart", **agent)
    for number, (name, who) in enumerate([("own.py", {}), ("a.py", agent), ("b.py", agent), ("a.py", agent)]):
        call = {"tool_name": "Read", "tool_input": {"file_path": f"/p/{name}"}, "tool_use_id": f"t{number}", **who}
        fire(machine, "PreToolUse", **call)
        fire(machine, "PostToolUse", **call, tool_response={"type": "text"})
    assert json.loads(command(machine, "effort", "show", "1", "--json"))["loadedFiles"] in ([], ["/p/own.py"])
    fire(machine, "SubagentStop", stop_hook_active=False, **agent)
    effort = json.loads(command(machine, "effort", "show", "1", "--json"))
    assert [name for name in effort["loadedFiles"] if name != "/p/own.py"] == ["/p/a.py", "/p/b.py"]
    other = {"agent_id": "a2", "agent_type": "scout"}
    fire(machine, "SubagentStart", **other)
    call = {"tool_name": "Read", "tool_input": {"file_path": "/p/a.py"}, "tool_use_id": "t9", **other}
    fire(machine, "PostToolUse", **call, tool_response={"type": "text"})
    fire(machine, "SubagentStop", stop_hook_active=False, **other)
    assert json.loads(command(machine, "effort", "show", "1", "--json")) == effort  # each file once
    rows = json.loads(command(machine, "session", "list", "--json"))
    assert {row["subagentId"]: row["endReason"] for row in rows if row["clientSessionId"]} == {
        "": None,
        **dict.fromkeys(("a1", "a2"), "subagent"),
    }


@pytest.mark.proves("S2-139")
def test_the_phases_that_an_effort_declares_are_entered_in_their_order(machine: Machine):
    fire(machine, "SessionStart", source="startup")
    declared = [{"label": "1", "name": "Plan"}, {"label": "2", "name": "Build"}, {"label": "3", "name": "Check"}]
    given = {"taskName": "t", "skill": "fix", "metadata": {"phases": declared}}
    call = {"cmd": "commands.effort.start", "args": given, "env": {"CWD": str(machine.project)}}
    (answer,) = machine.ask(json.dumps(call))
    assert answer["ok"], answer
    assert command(machine, "phase", "1") == "now in phase 1: Plan\n"
    refused = run_snell("phase", "3", cwd=machine.project, env=machine.env())
    assert (refused[0], "`3: Check` does not follow `1: Plan`; next is `2: Build`" in refused[2]) == (1, True)
    assert command(machine, "phase", "3", "--reason", "it is built") == "now in phase 3: Check\n"
    refused = run_snell("phase", "7", cwd=machine.project, env=machine.env())
    assert (refused[0], "7" in refused[2]) == (1, True)
    assert "phase 3: Check" in context_in(fire(machine, "UserPromptSubmit", prompt="go on"))
