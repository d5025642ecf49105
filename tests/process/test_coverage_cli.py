"""`snell coverage` names every call that hooks did not see, from what real clients recorded, and no other."""

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from snell.system.paths import places
from tests.fork_server import run_snell
from tests.process.recorded_conversations import SESSIONS, Recorded, first_time, results

CLIENTS = tuple(SESSIONS)
CLAUDE = ".claude/projects/-home-dev-project/e4252ad2-43da-469a-b583-5d13e5652915.jsonl"


@pytest.fixture
def home(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_call_is_a_hole_until_a_hook_has_seen_it(home: Recorded, client: str):
    home.set_up(client)
    home.record(client)
    home.report_calls(client, 2)
    code, report = home.coverage("--client", client)
    # This client's record tells only that the second call failed, not whether it ran.
    second = "unknown" if client == "kimi" else "missed"
    assert (code, results(report)) == (1, ["missed", second, "seen"])
    assert [each["given"] for each in report["calls"]] == ["echo harmless", "exit 3", ""]
    assert all(each["why"] for each in report["calls"][:2])
    home.report_calls(client, 0)
    code, report = home.coverage("--client", client)
    assert (code, results(report)) == (int(client != "kimi"), ["seen", second, "seen"])
    home.report_calls(client, 1)
    code, report = home.coverage("--client", client)
    assert (code, results(report), report["counts"]) == (0, ["seen"] * 3, {"seen": 3})


@pytest.mark.parametrize("client", CLIENTS)
def test_a_call_that_a_hook_refused_and_that_ran_is_named(home: Recorded, client: str):
    home.set_up(client)
    rules = home.home / "config" / "mine" / "rules.py"
    rules.write_text(rules.read_text("utf-8").replace("precious", "harmless"), encoding="utf-8")
    home.record(client)
    home.report_calls(client, 0, 1, 2)
    code, report = home.coverage("--client", client)
    assert (code, results(report)) == (1, ["ran_anyway", "seen", "seen"])
    assert report["calls"][0]["decision"]


def test_calls_that_the_client_refused_by_itself_are_no_holes(home: Recorded):
    for client in ("claude-code", "codex"):
        home.set_up(client)
    home.record("claude_code_sub_agent")
    home.record("codex_refusals")
    code, report = home.coverage("--client", "claude-code")
    assert (code, report["counts"]) == (1, {"missed": 2, "not_run": 3})
    code, report = home.coverage("--client", "codex")
    assert (code, report["counts"]) == (1, {"missed": 2, "not_run": 3})


@pytest.mark.parametrize(
    ("recording", "session", "main", "inside"),
    [
        ("claude_code_sub_agent", "08125283-fb84-4a8a-afc7-60cabe17b9fd", ["toolu_1_0", "toolu_5_0"], "toolu_2_0"),
        ("codex_sub_agent", "01a1ed68-0a20-78c0-8320-40581398fa6e", ["call_1_0", "call_2_0"], "call_3_0"),
    ],
)
def test_a_sub_agent_without_hooks_is_named(home: Recorded, recording: str, session: str, main: list[str], inside: str):
    client = recording.removesuffix("_sub_agent")
    home.set_up(client)
    home.record(recording)
    event = {"hook_event_name": "PreToolUse", "session_id": session, "tool_name": "Agent", "tool_input": {}}
    home.report(client, *({**event, "tool_use_id": number} for number in main))
    code, report = home.coverage("--client", client)
    missed = [each for each in report["calls"] if each["result"] == "missed"]
    assert (code, [(each["number"], bool(each["agent"])) for each in missed]) == (1, [(inside, True)])
    assert "has no hooks: 1 call, none seen" in report["remarks"][0]
    assert missed[0]["agent"] in report["remarks"][0]
    home.report(client, {**event, "tool_use_id": inside, "agent_id": missed[0]["agent"]})
    code, report = home.coverage("--client", client)
    assert (code, "missed" in report["counts"], "sub-agent" in str(report["remarks"])) == (0, False, False)


def test_nothing_is_missed_where_snell_is_not_set_up(home: Recorded):
    home.record("claude_code")
    code, report = home.coverage("--client", "claude-code")
    assert (code, report["counts"]) == (0, {"unknown": 2, "not_run": 1})
    assert report["calls"][0]["why"] == "Snell is not set up in this client"


def test_nothing_is_missed_before_set_up(home: Recorded):
    home.record("claude_code", lambda text: text.replace(_today(text), "2001-01-01"))
    os.utime(home.user_home / CLAUDE)
    home.set_up("claude-code")
    code, report = home.coverage("--client", "claude-code", "--since", "2000w")
    assert (code, report["counts"]) == (0, {"unknown": 2, "not_run": 1})
    assert report["calls"][0]["why"] == "it was before Snell was set up in this client"


def test_set_up_in_a_project_counts_for_conversations_in_it(home: Recorded):
    code, _, said = home.snell("setup", "claude-code", "--scope", "project", "--yes")
    assert code == 0, said
    home.record("claude_code")
    assert home.coverage("--client", "claude-code")[1]["counts"] == {"unknown": 2, "not_run": 1}
    home.record("claude_code", lambda text: text.replace("/home/dev/project", str(home.project)))
    assert home.coverage("--client", "claude-code")[1]["counts"] == {"missed": 2, "not_run": 1}


def test_after_uninstalling_nothing_is_missed_any_more(home: Recorded):
    home.set_up("claude-code")
    home.report_calls("claude_code", 0)
    assert home.snell("setup", "claude-code", "--uninstall", "--yes")[0] == 0
    home.record("claude_code")
    code, report = home.coverage("--client", "claude-code")
    assert (code, results(report)) == (0, ["seen", "unknown", "not_run"])


def test_the_entry_that_is_missing_in_the_settings_is_named(home: Recorded):
    home.set_up("claude-code")
    settings = json.loads(home.settings.read_bytes())
    del settings["hooks"]["PreToolUse"]
    home.settings.write_text(json.dumps(settings), encoding="utf-8")
    home.record("claude_code")
    home.report_calls("claude_code", 0, 1, name="PostToolUse", tool_response={})
    code, report = home.coverage("--client", "claude-code")
    assert (code, results(report)) == (1, ["missed", "missed", "not_run"])
    assert report["calls"][0]["why"] == "hooks saw only its end"
    assert report["cause"] == "not registered in the client's settings: PreToolUse"
    assert report["advice"] == "run `snell setup claude-code`"


def test_events_that_never_came_are_named(home: Recorded):
    home.set_up("claude-code")
    home.record("claude_code")
    home.report_calls("claude_code", 0, 1, 2)
    code, report = home.coverage("--client", "claude-code")
    expected = ["`UserPromptSubmit` never came, and should have 1 time"]
    expected += ["`PostToolUse` never came, and should have 2 times"]
    assert (code, report["remarks"]) == (0, expected)
    home.report_calls("claude_code", 0, name="PostToolUse", tool_response={})
    home.report("claude_code", {"hook_event_name": "UserPromptSubmit", "prompt": "Please work."})
    assert home.coverage("--client", "claude-code")[1]["remarks"] == []


def test_a_client_that_is_silent_since_its_update_is_named(home: Recorded):
    home.set_up("codex")
    home.record("codex")
    home.report_calls("codex", 0, 1, 2)
    home.record("codex_refusals", lambda text: text.replace('"0.166.0"', '"0.167.0"'))
    _code, report = home.coverage("--client", "codex")
    assert report["remarks"][0] == (
        "it has been silent since its last event: 1 conversation without any event; it was updated from 0.166.0 to"
        " 0.167.0"
    )


@pytest.mark.parametrize(
    ("attachment", "why"),
    [
        ({"type": "hook_cancelled"}, "the client ended the hook before it answered"),
        (
            {"type": "hook_non_blocking_error", "command": "/usr/bin/snell-hook --client x", "exitCode": 137},
            "the client could not use the hook's answer (exit code 137)",
        ),
    ],
)
def test_a_hook_that_failed_in_the_client_is_named(home: Recorded, attachment: dict, why: str):
    row = {"type": "attachment", "attachment": {**attachment, "hookEvent": "PreToolUse", "toolUseID": "toolu_1_0"}}
    home.set_up("claude-code")
    home.record("claude_code", lambda text: f"{text}{json.dumps(row)}\n")
    home.report_calls("claude_code", 1, 2)
    _code, report = home.coverage("--client", "claude-code")
    assert (results(report), report["calls"][0]["why"]) == (["missed", "seen", "seen"], why)
    home.report_calls("claude_code", 0)
    _code, report = home.coverage("--client", "claude-code")
    assert report["calls"][0]["why"] == f"it ran without the answer: {why}"


def test_the_failure_of_another_programs_hook_is_not_ours(home: Recorded):
    failed = {
        "type": "hook_non_blocking_error",
        "command": "lint.sh",
        "hookEvent": "PreToolUse",
        "toolUseID": "toolu_1_0",
    }
    home.set_up("claude-code")
    home.record("claude_code", lambda text: f"{text}{json.dumps({'type': 'attachment', 'attachment': failed})}\n")
    home.report_calls("claude_code", 0, 1, 2)
    assert results(home.coverage("--client", "claude-code")[1]) == ["seen"] * 3


def test_a_tool_that_the_client_does_not_report_is_counted_apart(home: Recorded):
    part = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}

    def add(text: str) -> str:
        row = {"type": "assistant", "timestamp": first_time(text), "message": {"content": [part]}}
        return f"{text}{json.dumps(row)}\n"

    home.set_up("claude-code")
    home.record("claude_code", add)
    home.report_calls("claude_code", 0, 1, 2)
    code, report = home.coverage("--client", "claude-code")
    assert (code, results(report)) == (0, ["seen", "seen", "seen", "unreported"])
    assert report["calls"][3]["why"] == "the model's server runs this tool, not the client"


def test_calls_that_a_continued_session_repeats_are_counted_once(home: Recorded):
    home.set_up("claude-code")
    home.record("claude_code")
    home.report_calls("claude_code", 0, 1, 2)
    path = home.user_home / CLAUDE
    copied = path.read_text("utf-8").replace("e4252ad2", "ffffffff")
    path.with_name("ffffffff-43da-469a-b583-5d13e5652915.jsonl").write_text(copied, encoding="utf-8")
    code, report = home.coverage("--client", "claude-code")
    assert (code, results(report)) == (0, ["seen"] * 3)


def test_the_same_number_in_another_session_is_another_call(home: Recorded):
    home.set_up("claude-code")
    home.report_calls("claude_code", 0, 1, 2, session_id="another")
    home.record("claude_code", lambda text: text.replace(_today(text), "2099-01-01"))
    code, report = home.coverage("--client", "claude-code")
    assert (code, results(report)) == (1, ["missed", "missed", "not_run"])


def test_the_report_for_people_names_holes_their_cause_and_the_sum(home: Recorded):
    home.set_up("claude-code")
    secret = "curl -H 'x-api-key: sk-ant-api03-" + "a1B2" * 20 + "'"
    home.record("claude_code", lambda text: text.replace("exit 3", secret))
    home.report_calls("claude_code", 0, 2)
    code, out, said = home.snell("coverage")
    assert (code, said) == (1, "")
    lines = out.splitlines()
    assert lines[0] == "claude-code  1 conversation: 2 seen, 1 missed"
    assert "missed" in lines[1]
    assert "a1B2" not in out  # an input is shown without its secrets
    assert "it ran, and no hook was asked" in lines[2]
    assert lines[-1] == "1 of 3 tool calls ran without hooks or against them"


def test_a_session_a_client_and_a_time_can_be_chosen(home: Recorded):
    for client in ("claude_code", "codex"):
        home.set_up(client)
        home.record(client)

    def named(*words: str) -> list[str]:
        return [each["client"] for each in json.loads(home.snell("coverage", "--json", *words)[1])["clients"]]

    assert {"claude_code", "codex"} <= set(named())
    assert named("--client", "openai-codex") == ["codex"]
    chosen = json.loads(home.snell("coverage", "--json", "--session", "e4252")[1])["clients"]
    assert [(each["client"], len(each["calls"])) for each in chosen if each["calls"]] == [("claude_code", 3)]
    os.utime(home.user_home / CLAUDE, (1, 1))
    assert home.coverage("--client", "claude-code", "--since", "30m")[1]["calls"] == []


def test_clients_without_a_readable_record_are_said_to_be_unknown(home: Recorded):
    code, report = home.coverage("--client", "cursor")
    assert (code, report["unknown"]) == (0, "Snell cannot read a record of this client's calls")


@pytest.mark.parametrize("words", [("--since", "soon"), ("--since", "0d"), ("--client", "no-such-client")])
def test_a_wrong_choice_is_explained(home: Recorded, words: tuple[str, ...]):
    code, out, said = home.snell("coverage", *words)
    assert (code, out) == (1, "")
    assert words[1] in said


def test_junit_has_a_failure_for_each_hole_and_skips_what_cannot_be_known(home: Recorded, tmp_path: Path):
    home.set_up("claude-code")
    home.record("claude_code_sub_agent")
    file = tmp_path / "coverage.xml"
    assert home.snell("coverage", "--junit", str(file))[0] == 1
    suite = ElementTree.parse(file).getroot().find("testsuite[@name='claude-code']")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("5", "2", "3")
    assert len(suite.findall("testcase/failure")) == 2
    assert len(suite.findall("testcase/skipped")) == 3


def test_the_next_session_and_the_doctor_say_what_was_found(home: Recorded):
    home.set_up("claude-code")
    home.record("claude_code")
    home.report_calls("claude_code", 1, 2)
    start = {"session_id": "next", "cwd": str(home.project), "hook_event_name": "SessionStart", "source": "startup"}

    def said_at_start() -> str:
        return home.answer("claude_code", start)

    assert "ran without hooks" not in said_at_start()
    assert home.snell("coverage")[0] == 1
    found = "1 of 3 tool calls ran without hooks or against them"
    assert f"{found}; `snell coverage` lists them" in said_at_start()
    assert f"coverage  {found} (compared in the last hour)" in home.snell("status")[1]
    assert status_line(home) == f"{found}\n"
    doctor = json.loads(home.snell("doctor", "--json")[1])["checks"]
    home.stop_daemon()
    check = next(each for each in doctor if each["name"] == "coverage claude-code")
    assert check["status"] == "warn"
    assert check["detail"].startswith("1 conversation: 2 seen, 1 missed")
    home.report_calls("claude_code", 0)
    assert home.snell("coverage")[0] == 0
    assert "ran without hooks" not in said_at_start()
    assert status_line(home) == ""


@pytest.mark.parametrize("hours", [24, 0])
def test_a_session_that_begins_compares_by_itself_once_a_day(home: Recorded, hours: int):
    home.set_up("claude-code")
    home.record("claude_code")
    settings = places(home.env).config / "snell.toml"
    settings.write_text(f"{settings.read_text('utf-8')}[pack.coverage]\nevery_hours = {hours}\n", encoding="utf-8")
    start = {"session_id": "next", "cwd": str(home.project), "hook_event_name": "SessionStart", "source": "startup"}
    assert "not compared yet" in home.snell("status")[1]
    home.answer("claude_code", {**start, "transcript_path": str(home.user_home / "missing.jsonl")})
    assert "not compared yet" in home.snell("status")[1]
    home.answer("claude_code", {**start, "transcript_path": str(home.user_home / CLAUDE)})
    expected = "2 of 2 tool calls ran without hooks" if hours else "not compared yet"
    assert expected in home.snell("status")[1]


def status_line(home: Recorded) -> str:
    return run_snell("statusline", cwd=home.project, env=home.env, given=b"{}")[1]


def _today(text: str) -> str:
    return first_time(text)[:10]
