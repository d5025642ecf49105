"""`snell replay` decides what was recorded again, names what changes, and touches nothing."""

import json
import re
import socket
from pathlib import Path
from xml.etree import ElementTree

import pytest

from snell.system.paths import places
from tests.process.recorded_conversations import SESSIONS, Recorded

HARMLESS = ("ls -la", "echo one", "git status")
DENY_ONE = """
from snell import Deny, judges

@judges("PreToolUse", kind="shell")
def no_one(call):
    return Deny("one is not allowed") if "one" in call.command else None
"""
ASK_STATUS = """
from snell import Ask, judges

@judges("PreToolUse", kind="shell")
def ask_status(call):
    return Ask("status?") if "status" in call.command else None
"""
TOUCHES = """
import datetime, os, socket, time
from snell import Deny, judges

def attempt(action):
    try:
        action()
        return "done"
    except OSError:
        return "refused"

@judges("PreToolUse", kind="shell")
def touch(call):
    found = {
        "write": attempt(lambda: open("%(folder)s/written", "w").close()),
        "delete": attempt(lambda: os.unlink("%(folder)s/kept")),
        "mode": attempt(lambda: os.chmod("%(folder)s/kept", 0o777)),
        "connect": attempt(lambda: socket.create_connection(("127.0.0.1", %(port)d), 5).close()),
        "child": "done" if os.system("touch %(folder)s/written") == 0 else "refused",
    }
    age = abs(time.time() - datetime.datetime.now().timestamp())
    return Deny(", ".join(f"{key} {value}" for key, value in found.items()) + f" age {age < 1} at {int(time.time())}")
"""


@pytest.fixture
def home(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


def decide(home: Recorded, *commands: str, session: str = "s1", **more: object) -> None:
    for number, command in enumerate(commands):
        event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}}
        home.report("claude_code", {**event, "session_id": session, "tool_use_id": f"{session}-{number}", **more})


def replay(home: Recorded, *words: str) -> dict:
    code, out, said = home.snell("replay", "--json", *words)
    assert code == 0, said
    return json.loads(out)


def counts(report: dict) -> dict[str, int]:
    return {name: number for name, number in report["results"].items() if number}


def write(home: Recorded, name: str, text: str) -> str:
    path = home.project / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_today_s_hooks_decide_the_same(home: Recorded):
    decide(home, *HARMLESS, "rm -rf /")
    report = replay(home)
    assert (counts(report), report["per_1000"]) == ({"unchanged": 4}, {"asks": 0.0, "denials": 250.0})
    [group] = report["groups"]
    assert (group["hook"], group["calls"], group["events"][0]["given"]) == ("guard/command", 1, "rm -rf /")
    assert "rm -rf /" in home.snell("why", group["events"][0]["id"])[1]


def test_another_hook_denies_and_asks_more(home: Recorded):
    decide(home, *HARMLESS)
    added = [
        word
        for name, text in (("d.py", DENY_ONE), ("a.py", ASK_STATUS))
        for word in ("--with", write(home, name, text))
    ]
    report = replay(home, *added)
    assert counts(report) == {"unchanged": 1, "newly_denied": 1, "newly_asked": 1}
    assert {(each["verdict"], each["hook"], each["cause"]) for each in report["groups"]} == {
        ("deny", "d/no_one", "one is not allowed"),
        ("ask", "a/ask_status", "status?"),
    }
    assert home.snell("replay", "--exit-code", *added)[0] == 1
    assert home.snell("replay", "--exit-code")[0] == 0


def test_without_a_hook_its_denials_are_gone(home: Recorded):
    decide(home, "ls", "rm precious.txt")
    assert counts(replay(home)) == {"unchanged": 2}
    assert counts(replay(home, "--without", "mine/no_precious")) == {"unchanged": 1, "no_longer_denied": 1}
    code, _, said = home.snell("replay", "--without", "no_precius")
    assert (code, "did you mean `no_precious`" in said) == (1, True)


def test_one_decision_is_decided_again_after_what_came_before_it(home: Recorded):
    decide(home, "ls", "rm -rf /", "git status")
    rows = [json.loads(line) for line in home.snell("log", "--json")[1].splitlines()]
    (denied,) = [row for row in rows if row["verdict"] == "deny"]
    found = replay(home, "--decision", denied["id"][:14])
    assert (found["events"], found["decision"]["id"]) == (1, denied["id"])
    assert (found["decision"]["before"], found["decision"]["after"]) == ("deny", "deny")
    assert home.snell("replay", "--decision", "nothing")[0] == 1


def test_other_settings_and_presets_decide(home: Recorded):
    decide(home, "rm -rf /", "git push --force", "cat .env")
    before = [each["verdict"] for each in replay(home)["groups"]]
    strict = replay(home, "--preset", "strict")
    assert strict["per_1000"]["denials"] >= 1000 * before.count("deny") / 3
    assert counts(strict).get("newly_denied", 0) == before.count("ask")
    off = write(home, "off.toml", "[pack.guard]\nenabled = false\n")
    assert counts(replay(home, "--settings", off)).get("no_longer_denied", 0) == before.count("deny")
    code, _, said = home.snell("replay", "--settings", write(home, "bad.toml", "pack = 3\n"))
    assert (code, "bad.toml:1" in said, "Traceback" in said) == (1, True, False)


def test_what_was_redacted_is_counted_apart(home: Recorded):
    decide(home, "ls", f"curl -H 'Authorization: Bearer ghp_{'a1B2c3D4e5' * 4}' https://example.org")
    report = replay(home)
    assert counts(report) == {"unchanged": 1, "cannot_be_replayed": 1}
    assert report["cannot_be_replayed"] == {"a value was redacted": 1}


def test_a_denial_of_a_command_hook_cannot_be_replayed_unless_it_runs(home: Recorded):
    settings = home.home / "config" / "snell.toml"
    text = '[[hooks]]\nevent = "PreToolUse"\ncommand = "echo no >&2; exit 2"\nid = "shouts"\n'
    settings.write_text(settings.read_text("utf-8") + text, encoding="utf-8")
    decide(home, "ls")
    report = replay(home)
    assert counts(report) == {"cannot_be_replayed": 1}
    assert report["skipped_hooks"] == {"command hook `shouts`": 1}
    assert counts(replay(home, "--run-commands")) == {"unchanged": 1}


SILENT = '[[hooks]]\nevent = "PreToolUse"\ncommand = "true"\nid = "silent"\n'
SHOUTS = '[[hooks]]\nevent = "PreToolUse"\ncommand = "echo no >&2; exit 2"\nid = "shouts"\n'
CONNECTS = """
import socket
from snell import Deny, judges

@judges("PreToolUse", kind="shell", on_failure="%s")
def connects(call):
    socket.create_connection(("127.0.0.1", 9), 5)
    return Deny("the server says no")
"""


def test_what_a_hook_that_was_not_run_would_say_is_not_counted_as_unchanged(home: Recorded):
    decide(home, "ls", "rm -rf /")
    added = ("--with", write(home, "shouts.toml", SHOUTS))
    report = replay(home, *added)
    assert counts(report) == {"unchanged": 1, "cannot_be_replayed": 1}  # the guard refuses the second by itself
    why = "shouts is a command hook, which a replay does not run; add --run-commands"
    assert report["cannot_be_replayed"] == {why: 1}
    assert counts(replay(home, *added, "--run-commands")) == {"unchanged": 1, "newly_denied": 1}


def test_a_command_hook_that_was_silent_then_is_taken_to_be_silent_again(home: Recorded):
    settings = home.home / "config" / "snell.toml"
    settings.write_text(settings.read_text("utf-8") + SILENT, encoding="utf-8")
    decide(home, "ls")
    assert counts(replay(home)) == {"unchanged": 1}


@pytest.mark.parametrize("on_failure", ["allow", "block"])
def test_a_hook_that_fails_only_in_the_replay_leaves_the_verdict_unknown(home: Recorded, on_failure: str):
    decide(home, "ls", "rm -rf /")
    report = replay(home, "--with", write(home, "connects.py", CONNECTS % on_failure))
    assert counts(report) == {"unchanged": 1, "cannot_be_replayed": 1}
    why = "connects/connects fails in a replay: it may need a file or a connection"
    assert report["cannot_be_replayed"] == {why: 1}


ASKS_A_SERVER = """
import asyncio
import socket
from snell import Deny, judges

@judges("PreToolUse", kind="shell")
def asks(call):
    asyncio.run(asyncio.sleep(0))
    if "one" not in call.command:
        return None
    try:
        socket.create_connection(("127.0.0.1", 9), 5)
    except OSError:
        return None
"""


def test_a_hook_that_copes_without_its_connection_leaves_the_verdict_unknown(home: Recorded):
    decide(home, "ls", "echo one", "echo one; rm -rf /")
    report = replay(home, "--with", write(home, "asks.py", ASKS_A_SERVER))
    assert counts(report) == {"unchanged": 2, "cannot_be_replayed": 1}
    assert report["cannot_be_replayed"] == {"asks/asks tried to open a connection, which a replay refuses": 1}


COUNTS = """
from snell import Deny, judges

CALLS = []

@judges("PreToolUse", kind="shell")
def third(call):
    CALLS.append(call.command)
    return Deny(f"call {len(CALLS)}") if len(CALLS) % 3 == 0 else None
"""


def test_a_hook_that_counts_its_calls_gives_the_same_bytes(home: Recorded):
    for number in range(8):
        decide(home, *HARMLESS[: 1 + number % 3], session=f"s{number}")
    added = write(home, "counts.py", COUNTS)
    shown = [home.snell("replay", "--json", "--with", added)[1] for _ in range(3)]
    assert "newly_denied" in shown[0]
    assert shown[0] == shown[1] == shown[2]


def test_hooks_can_neither_write_nor_connect_and_see_the_time_of_the_event(home: Recorded, tmp_path: Path):
    decide(home, "ls")
    (tmp_path / "kept").write_text("kept", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        text = TOUCHES % {"folder": tmp_path, "port": server.getsockname()[1]}
        report = replay(home, "--with", write(home, "touches.py", text))
    [event] = report["groups"][0]["events"]
    if report["not_denied_to_hooks"]:
        pytest.skip(f"this system cannot deny {report['not_denied_to_hooks']}")
    found = "write refused, delete refused, mode refused, connect refused, child refused age True at"
    assert event["why"].startswith(found)
    assert int(event["why"].rpartition(" ")[2]) == event["at"] // 1000
    assert (tmp_path / "kept").read_text("utf-8") == "kept"
    assert not (tmp_path / "written").exists()


def test_the_same_replay_gives_the_same_bytes(home: Recorded):
    for number in range(6):
        decide(home, *HARMLESS, "rm -rf /", "git push --force", session=f"s{number}")
    files = [home.project / name for name in ("a.xml", "b.xml", "a.sarif", "b.sarif")]
    shown = [
        home.snell("replay", "--junit", str(files[n]), "--sarif", str(files[n + 2]), "--preset", "strict")
        for n in (0, 1)
    ]
    assert shown[0] == shown[1]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[2].read_bytes() == files[3].read_bytes()
    suite = ElementTree.parse(files[0]).getroot()[0]
    changed = len(suite.findall("testcase/failure"))
    assert (suite.get("tests"), suite.get("failures")) == ("30", str(changed))
    assert len(json.loads(files[2].read_bytes())["runs"][0]["results"]) == changed
    assert replay(home) == replay(home)


@pytest.mark.parametrize("client", SESSIONS)
def test_transcripts_from_before_snell_are_decided(home: Recorded, client: str):
    home.record(client)
    report = replay(home, "--transcripts", "--client", client)
    assert counts(report) == {"unchanged": 2, "newly_denied": 1}
    assert report["groups"][0]["hook"] == "mine/no_precious"


def test_transcripts_of_a_folder_are_decided(home: Recorded):
    home.record("claude_code")
    home.record("codex")
    report = replay(home, "--transcripts", str(home.user_home))
    assert (report["sessions"], report["results"]["newly_denied"]) == (2, 2)


def test_parts_of_a_transcript_that_cannot_be_read_are_counted(home: Recorded):
    home.record("claude_code", lambda text: text.replace('"command":"echo harmless"', '"command":"echo'))
    report = replay(home, "--transcripts")
    assert counts(report) == {"unchanged": 1, "newly_denied": 1, "cannot_be_replayed": 1}
    [why] = report["cannot_be_replayed"]
    assert why.startswith("a part of the transcript is damaged")


def test_nothing_to_replay_is_said(home: Recorded):
    assert home.snell("replay")[2].startswith("snell: there are no recorded decisions")
    assert "does not exist" in home.snell("replay", "--transcripts", "/nowhere")[2]
    assert "`--since never` is not a duration" in home.snell("replay", "--since", "never")[2]
    decide(home, "ls")
    assert "does not exist" in home.snell("replay", "--with", "/nowhere.py")[2]
    said = home.snell("replay", "--with", write(home, "broken.py", "def"))[2]
    assert (re.search(r"broken\.py:1", said) is not None, "Traceback" in said) == (True, False)


STOP = """
from snell import Deny, judges

@judges("Stop")
def never(event):
    return Deny("go on") if event.payload.get("mood") == "lazy" else None
"""


def record_stop(home: Recorded, mood: str) -> None:
    home.report("claude_code", {"hook_event_name": "Stop", "mood": mood, "key": f"ghp_{'a1B2c3D4e5' * 4}"})


def test_whole_events_are_kept_when_a_person_wants_it_and_replayed(home: Recorded):
    record_stop(home, "lazy")
    assert home.snell("record", "on")[:2] == (0, home.snell("record", "status")[1])
    home.report("claude_code", {"hook_event_name": "Stop", "mood": "lazy"})
    record_stop(home, "lazy")
    report = replay(home, "--with", write(home, "stop.py", STOP))
    assert counts(report) == {"newly_denied": 1, "cannot_be_replayed": 1}
    [file] = (home.home / "state" / "recorded").iterdir()
    assert ("ghp_" in file.read_text("utf-8"), file.stat().st_mode & 0o777) == (False, 0o600)
    assert json.loads(home.snell("record", "status", "--json")[1])["events"] == 2
    assert home.snell("record", "off", "--delete")[0] == 0
    record_stop(home, "lazy")
    status = json.loads(home.snell("record", "status", "--json")[1])
    assert (status["on"], status["events"], status["bytes"]) == (False, 0, 0)


OVERWRITE = """
import os

from snell import Deny, WriteCall, judges

@judges("PreToolUse", kind="write")
def no_overwrite(call: WriteCall):
    return Deny("it is there") if os.path.exists(call.path) else None
"""


def test_a_file_that_is_not_what_it_was_is_no_new_denial(home: Recorded):
    """The hook that ran then saw another file; one that is added now is judged by what is there."""
    hook = places(home.env).config / "hooks" / "no_overwrite.py"
    hook.parent.mkdir(parents=True, exist_ok=True)
    hook.write_text(OVERWRITE, encoding="utf-8")
    assert home.snell("record", "on")[0] == 0
    path = home.project / "new.txt"
    given = {"file_path": str(path), "content": "x"}
    home.report("claude_code", {"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": given})
    assert counts(replay(home)) == {"unchanged": 1}
    path.write_text("written by the call", encoding="utf-8")
    report = replay(home)
    assert counts(report) == {"cannot_be_replayed": 1}
    assert report["cannot_be_replayed"] == {"... is not what it was": 1}
    added = write(home, "keep_files.py", OVERWRITE.replace("no_overwrite", "keep_files"))
    assert counts(replay(home, "--without", "no_overwrite", "--with", added)) == {"newly_denied": 1}


def test_kept_events_take_no_more_than_the_limit(home: Recorded):
    assert home.snell("record", "on", "--max-megabytes", "1")[0] == 0
    for number in range(7):
        home.report("claude_code", {"hook_event_name": "Stop", "number": number, "text": "words " * 40_000})
    status = json.loads(home.snell("record", "status", "--json")[1])
    assert (status["bytes"] <= 1_048_576, status["events"]) == (True, 4)  # the newest, also those of one day
    assert "out of range" in home.snell("record", "on", "--max-megabytes", "0")[2]


def test_neither_an_agent_nor_a_project_switches_the_recording_on(home: Recorded):
    assert "needs a person" in home.on_terminal("record", "on", CLAUDECODE="1")
    (home.project / ".snell").mkdir(exist_ok=True)
    (home.project / ".snell" / "snell.toml").write_text("[pack.recording]\nenabled = true\n", encoding="utf-8")
    digest = json.loads(home.snell("trust", "--list", "--json")[1])["digest"]
    assert home.snell("trust", "--hash", digest)[0] == 0
    record_stop(home, "lazy")
    assert json.loads(home.snell("record", "status", "--json")[1])["events"] == 0
