"""`snell coverage` reads what clients write beside the usual: sub-agents, forks, repeated numbers, earlier versions."""

import json
from pathlib import Path

import pytest

from tests.process.recorded_conversations import FORMS, SESSIONS, Recorded, first_time, moved, results


@pytest.fixture
def home(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


@pytest.mark.parametrize(
    ("recording", "session", "known_as", "agent"),
    [
        ("copilot", "b2c64ba9-d767-4980-abc6-b14fcc31e5ec", "091b5b12-f49b-4452-b166-cb9c39e3bb1d", "call_15_0"),
        ("gemini", "991790e2-48a8-477e-8be3-c343c2cdc0eb", "", "bdc20fdf-4abb-4871-b2a7-acd189fd87b8"),
        ("qwen", "80f8b30c-0316-4dd6-989f-84f77ec9a676", "", "general-purpose-call_15_0"),
    ],
)
def test_a_sub_agent_is_found_by_the_session_that_hooks_are_told(
    home: Recorded, recording: str, session: str, known_as: str, agent: str
):
    home.set_up(recording)
    home.record(f"{recording}_sub_agent")
    name = "BeforeTool" if recording == "gemini" else "PreToolUse"
    tool = "Bash" if recording == "copilot" else "run_shell_command"
    given = {"command": "echo inside", "description": "work"}
    event = {"hook_event_name": name, "session_id": session, "tool_name": tool, "tool_input": given}

    def inside() -> list[tuple[str, str]]:
        report = home.coverage("--client", recording)[1]
        return [(each["agent"], each["result"]) for each in report["calls"] if each["agent"]]

    assert inside() == [(agent, "missed")]
    home.report(recording, {**event, "session_id": known_as or session})
    assert inside() == [(agent, "seen")]


def test_calls_that_hooks_cannot_tell_apart_are_unknown(home: Recorded):
    """Copilot gives them no number and the same time, so the second event is answered like the first."""

    def change(text: str) -> str:
        rows = [each for each in text.splitlines(keepends=True) if "call_1_0" in each]
        return text + "".join(each.replace("call_1_0", "call_1_1") for each in rows)

    home.set_up("copilot")
    home.record("copilot", change)
    home.report_calls("copilot", 0, 1, 2)
    code, report = home.coverage("--client", "copilot")
    assert (code, results(report)) == (0, ["seen", "seen", "seen", "unknown"])
    assert "nothing to tell the two apart" in report["calls"][3]["why"]


def test_a_tool_that_a_client_does_not_have_is_no_hole(home: Recorded):
    home.set_up("kimi")
    home.record("kimi", lambda text: text.replace("REFUSED-BY-HOOK: it is precious", 'Tool \\"Bash\\" not found'))
    home.report_calls("kimi", 0, 1)
    home.report_calls("kimi", 2, name="PostToolUseFailure", error="not found")
    assert results(home.coverage("--client", "kimi")[1]) == ["seen", "seen", "not_run"]


def test_a_fork_of_a_session_repeats_calls_at_a_later_time(home: Recorded):
    """Codex writes the calls of the parent again into the file of the fork, with the time of the fork."""
    home.set_up("codex")
    home.record("codex")
    home.report_calls("codex", 0, 1, 2)
    [path] = home.user_home.glob(".codex/sessions/*/*/*/*.jsonl")
    parent, fork = SESSIONS["codex"][1], "01a1ed5a-ffff-7dd2-a00d-5fad45bb84f7"
    text = path.read_text("utf-8")
    later = text.replace(first_time(text)[:13], "2099-01-01T00")
    head = later.splitlines()[0].replace(parent, fork)
    path.with_name(path.name.replace(parent, fork)).write_text(f"{head}\n{later}", encoding="utf-8")
    code, report = home.coverage("--client", "codex")
    assert (code, results(report)) == (0, ["seen"] * 3)


@pytest.mark.parametrize("client", ["claude_code", "codex", "gemini", "qwen"])
def test_a_number_that_a_model_gives_twice_is_of_two_calls(home: Recorded, client: str):
    home.set_up(client)
    home.record(client, lambda text: text.replace("call_2_0", "call_1_0").replace("toolu_2_0", "toolu_1_0"))
    tool, given, own = FORMS[client](0)
    event = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given, **own}
    home.report(client, event)
    home.report_calls(client, 2)
    code, report = home.coverage("--client", client)
    assert (code, sorted(results(report))) == (1, ["missed", "seen", "seen"])


@pytest.mark.parametrize("client", ["copilot", "gemini", "qwen"])
def test_of_two_calls_with_the_same_input_the_one_without_hooks_is_named(home: Recorded, client: str):
    def change(line: str) -> str:
        return moved(line, 300_000) if "call_1_0" in line else line.replace("exit 3", "echo harmless")

    home.set_up(client)
    home.report_calls(client, 0, 2)
    home.record(client, lambda text: "".join(map(change, text.splitlines(keepends=True))))
    code, report = home.coverage("--client", client)
    assert (code, results(report)) == (1, ["missed", "seen", "seen"])


def test_what_a_call_prints_is_no_refusal(home: Recorded):
    home.set_up("claude_code")
    printed = '"content":"PreToolUse: [Request interrupted"'
    home.record("claude_code", lambda text: text.replace('"content":"harmless"', printed))
    assert results(home.coverage("--client", "claude-code")[1]) == ["missed", "missed", "not_run"]


def test_sub_agents_of_earlier_versions_belong_to_their_session(home: Recorded):
    home.set_up("claude_code")
    home.record("claude_code_sub_agent")
    [inside] = home.user_home.glob(".claude/projects/*/*/subagents/*.jsonl")
    inside.rename(inside.parents[2] / inside.name)
    _code, report = home.coverage("--client", "claude-code")
    assert (report["conversations"], "sub-agent" in report["remarks"][0]) == (1, True)


def test_a_session_of_an_earlier_gemini_is_one_document(home: Recorded):
    home.set_up("gemini")
    home.record("gemini")
    home.report_calls("gemini", 0, 2)
    [path] = home.user_home.glob(".gemini/tmp/*/chats/*.jsonl")
    head, *messages = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    path.unlink()
    document = path.with_suffix(".json")
    document.write_text(json.dumps({**head, "messages": messages}, indent=2), encoding="utf-8")
    code, report = home.coverage("--client", "gemini")
    assert (code, results(report)) == (1, ["seen", "missed", "seen"])
    document.write_text("{", encoding="utf-8")
    assert "1 part of" in home.coverage("--client", "gemini")[1]["remarks"][0]


def test_a_database_in_a_folder_with_an_odd_name_is_read(tmp_path: Path):
    home = Recorded(tmp_path / "100% #1?")
    home.set_up("opencode")
    home.record("opencode")
    assert home.coverage("--client", "opencode")[1]["remarks"] != []


def test_a_record_whose_head_is_damaged_raises_no_alarm(home: Recorded):
    """Only the head says which session it is of in Gemini CLI; a byte order mark before it does no harm."""
    home.set_up("gemini")
    home.record("gemini", lambda text: "\ufeff" + text)
    home.report_calls("gemini", 0, 1, 2)
    assert results(home.coverage("--client", "gemini")[1]) == ["seen"] * 3
    home.record("gemini", lambda text: "{" + text)
    code, report = home.coverage("--client", "gemini")
    assert (code, results(report)) == (0, ["unknown", "unknown", "not_run"])
