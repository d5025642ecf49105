"""Memory that captures itself, through the real `snell-hook`: from an event to the inbox and to the next session."""

import json
import os
import re
from contextlib import suppress
from typing import Any

import pytest

from tests.process.desk import Desk
from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)
ON = "[pack.remember]\nenabled = true\n"
DECIDED = "We decided to use uv for packages because pip was slow."
SECRET = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
READING = ("Read", "NotebookRead", "Glob", "Grep", "LS", "LSP", "WebSearch", "WebFetch", "Task", "Agent")
MARK = "We decided to mark this place"
KEY = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 8 + "-----END PRIVATE KEY-----"


class Notes:
    """A session whose agent works and talks, and what was captured of it."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.made = desk, 0
        self.root = desk.machine.home / "state/memory"
        self.transcript = desk.project / "t.jsonl"

    def tool(self, tool: str, given: Any, response: Any = "", **fields: Any) -> dict[str, Any]:
        self.made += 1
        call = {"tool_name": tool, "tool_input": given, "tool_use_id": f"t{self.made}", "tool_response": response}
        return self.desk.fire("PostToolUse", **{"session_id": "s1", **call, **fields})

    def run(self, output: str, command: str = "cat notes") -> dict[str, Any]:
        return self.tool("Bash", {"command": command}, {"stdout": output})

    def say(self, *texts: str, **row: Any) -> None:
        with self.transcript.open("a", encoding="utf-8") as file:
            for text in texts:
                message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
                file.write(json.dumps({"type": "assistant", "message": message, **row}) + "\n")

    def end(self, event: str = "Stop", **fields: Any) -> dict[str, Any]:
        given = {"session_id": "s1", "transcript_path": str(self.transcript), **fields}
        return self.desk.fire(event, **given)

    @property
    def captures(self) -> list[dict[str, Any]]:
        """What is in the inbox, or has been."""
        found = {}
        for path in (*self.root.glob("new/*"), *self.root.glob("processed/*")):
            with suppress(FileNotFoundError):  # the daemon moves it just now
                found[path.name] = json.loads(path.read_bytes())
        return [each for _, each in sorted(found.items()) if MARK not in each["content"]]

    def all(self) -> list[dict[str, Any]]:
        """What was captured of the events so far: two later ones have gone the same way, in as many threads."""
        for _ in range(2):
            self.run(f"{MARK} number {self.made}.")
        texts = [f"{MARK} number {self.made - number}." for number in (1, 2)]
        files = ("new/*", "processed/*")

        def is_there(text: str) -> bool:
            return any(
                text in path.read_text("utf-8") for each in files for path in self.root.glob(each) if path.exists()
            )

        wait_until(lambda: all(map(is_there, texts)), 20)
        return self.captures

    def elsewhere(self) -> list[Any]:
        """What of the state is neither the inbox nor what every call leaves there: files and marks."""
        usual = ("snell.db", "audit", "pending")
        files = [name for name in sorted(os.listdir(self.root.parent)) if not name.startswith(usual)]
        return [*files, *self.desk.rows("SELECT scope, name FROM marks WHERE name NOT LIKE 'guard/%' ORDER BY 1, 2")]

    def wait_for(self, count: int) -> list[dict[str, Any]]:
        """So many captures, and not one more."""
        wait_until(lambda: len(self.captures) >= count, 20)
        found = self.all()
        assert len(found) == count, found
        return found


@pytest.fixture
def notes(machine: Machine) -> Notes:
    machine.write("snell.toml", ON)
    machine.hook({"session_id": "warm"})  # starts the daemon
    return Notes(Desk(machine))


@pytest.mark.proves("S4-08", "S4-46", "S4-47", "S4-48", "S4-49", "S4-50", "S4-51", "S4-52", "S4-53", "S4-88", "S4-91")
@pytest.mark.proves("S4-97", "S4-41", "S4-45", "S4-55", "S4-59")
def test_what_a_tool_call_says_is_classified_redacted_and_put_into_the_inbox(notes: Notes):
    def told(text: str) -> str:
        """What `snell why` says of a call."""
        notes.run(text)
        decision = json.loads(notes.desk.snell("log", "--json").stdout.splitlines()[-1])["id"]
        found = wait_until(lambda: json.loads(notes.desk.snell("why", decision, "--json").stdout).get("late"), 20)
        ours = [each for each in found if "remember/" in each["hook"]]
        assert {each["role"] for each in ours} == {"watches"}  # no caller waits for it
        return str(ours)

    assert "not captured: no signal (tier 3, score 0, no signal, 0 redactions, 34 characters)" in told(
        "3 files changed"
    )
    assert notes.elsewhere() == []
    assert notes.run(f"{DECIDED} The token is {SECRET}") == {}
    (capture,) = notes.wait_for(1)
    assert capture["content"].startswith(f"Command: cat notes\n{DECIDED}")
    assert (SECRET in capture["content"], "[redacted:" in capture["content"]) == (False, True)
    named = ("source_hook", "suggested_namespace", "suggested_tags", "suggested_importance", "signal_tier", "client")
    expected = ["PostToolUse", "decisions", ["bash", "decision"], 0.8, 1, "claude_code"]
    assert [capture[name] for name in named] == expected
    assert capture["context"] == {"tool_name": "Bash", "session_id": "s1"}
    moderate = "A shard is a part of the table that lives on one machine."
    notes.tool("Write", {"file_path": "/p/plan.md", "content": moderate}, {"filePath": "/p/plan.md"})
    (capture,) = [each for each in notes.wait_for(2) if each["signal_tier"] == 2]
    assert capture["content"] == f"File: /p/plan.md\n{moderate}"
    assert capture["context"] == {"tool_name": "Write", "session_id": "s1", "file_path": "/p/plan.md"}
    assert [capture[name] for name in named[1:5]] == ["definitions", ["write", "definition"], 0.48, 2]

    assert "not captured: too secret (tier 1, score 0.8, decision, 1 redactions" in told(f"{DECIDED}\n{KEY}")
    assert re.search(
        r"captured in /\S+/memory/new/\S+ \(tier 1, score 0.85, solution", told("The fix was to wait longer.")
    )
    (fix,) = [each for each in notes.wait_for(3) if each["suggested_tags"] == ["bash", "solution"]]
    assert fix["suggested_namespace"] == "troubleshooting"
    assert notes.elsewhere() == ["memory"]


@pytest.mark.proves("S4-38", "S4-39", "S4-40", "S4-41", "S4-42", "S4-43", "S4-44", "S4-52", "S4-56", "S4-95", "S4-98")
def test_only_the_fields_that_matter_of_tools_that_change_something_are_captured(notes: Notes):
    for tool in (*READING, "mcp__snell__recall", "mcp__plugin_snell_snell__remember", "mcp__unknown__recall"):
        notes.tool(tool, {"command": DECIDED, "file_path": "/f", "content": DECIDED, "query": DECIDED}, DECIDED)
    notes.run(DECIDED, command="snell memory recall uv")
    nameless = {"tool_name": "", "tool_input": {"command": DECIDED}, "tool_response": DECIDED}
    code, out, err = notes.desk.machine.hook({"hook_event_name": "PostToolUse", "session_id": "s1", **nameless})
    assert (code, out, "`tool_name` is empty" in err) == (0, "", True)
    notes.tool("Telescope", {"command": DECIDED}, DECIDED)  # an unknown tool
    notes.tool("Edit", {"file_path": "/f"}, DECIDED)
    notes.tool("Edit", {"file_path": "/f", "old_string": DECIDED, "new_string": "x"}, DECIDED)
    assert notes.all() == []
    looked_at = "SELECT d.tool FROM decisions d JOIN traces t ON t.decision_id = d.id WHERE t.late LIKE '%captured%'"
    assert notes.desk.rows(f"{looked_at} AND d.tool <> 'Bash'") == [("Edit",)]  # that with a new text
    notes.tool("Edit", {"file_path": "/f", "old_string": "x", "new_string": DECIDED}, "ok")
    notes.tool("MultiEdit", {"file_path": "/g", "edits": [{"old_string": "a", "new_string": DECIDED}, 3]}, "ok")
    notes.tool("NotebookEdit", {"notebook_path": "/n.ipynb", "new_source": DECIDED}, "ok")
    notes.tool("mcp__db__query", {"q": 1}, [{"type": "text", "text": DECIDED}])
    notes.tool("Write", {"file_path": "/w", "content": f"{DECIDED}\n" + "word " * 2_000}, "ok")
    notes.run(f"{DECIDED}\n" + "word " * 2_000, command=f"echo {'c' * 3_100}")
    notes.tool("PowerShell", {"command": "go"}, {"stdout": "3 files", "stderr": DECIDED, "interrupted": False})
    captures = notes.wait_for(7)
    files = {capture["context"]["tool_name"]: capture["context"].get("file_path", "") for capture in captures}
    given = {"Edit": "/f", "MultiEdit": "/g", "NotebookEdit": "/n.ipynb", "Write": "/w"}
    assert files == {**dict.fromkeys(("mcp__db__query", "Bash", "PowerShell"), ""), **given}
    found = {capture["context"]["tool_name"]: capture["content"] for capture in captures}
    written, shell = found.pop("Write"), found.pop("Bash")
    assert found == {
        "Edit": f"File: /f\n{DECIDED}",
        "MultiEdit": f"File: /g\n{DECIDED}",
        "NotebookEdit": f"Notebook: /n.ipynb\n{DECIDED}",
        "mcp__db__query": f"Tool: mcp__db__query\n{DECIDED}",
        "PowerShell": f"Command: go\n3 files\n{DECIDED}",
    }
    assert (len(written.partition("\n")[2]) <= 5_000, written.endswith("...")) == (True, True)
    command, _, output = shell.partition("\n")
    assert (len(command.removeprefix("Command: ")) <= 3_000, len(output) <= 3_000) == (True, True)
    assert (command.endswith("..."), output.endswith("...")) == (True, True)


@pytest.mark.proves("S4-09", "S4-10", "S4-65", "S4-70", "S4-71", "S4-73", "S4-74", "S4-75", "S4-76", "S4-92", "S4-93")
@pytest.mark.proves("S4-103", "S4-104", "S4-105", "S4-118")
def test_what_the_agent_said_is_captured_once_before_a_compaction_and_at_the_end(notes: Notes):
    notes.desk.machine.write("snell.toml", f"{ON}[pack.notes]\nenabled = false\n")
    notes.run(DECIDED.upper())
    notes.wait_for(1)
    notes.say("I looked at the files.", f"Remember that the password={SECRET} is rotated by ops weekly.")
    notes.say("We decided to ignore what a sub-agent said in passing.", isSidechain=True)
    row = {"type": "user", "message": {"role": "user", "content": "We decided to ignore what a user said."}}
    with notes.transcript.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    texts = ("The fix was to wait. ", "", "It took an hour.")
    blocks = [{"type": "text", "text": text} for text in texts]
    with notes.transcript.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"type": "assistant", "message": {"role": "assistant", "content": blocks}}) + "\n")
    assert notes.end("PreCompact", trigger="auto") == {}  # not a word
    first, second = [capture for capture in notes.wait_for(3) if capture["source_hook"] == "PreCompact"]
    assert second["content"] == "The fix was to wait.\n\nIt took an hour."
    assert (SECRET in first["content"], first["source_hook"]) == (False, "PreCompact")
    assert first["suggested_tags"][0] == "transcript"
    assert first["context"] == {"session_id": "s1", "hook_event": "PreCompact", "trigger": "auto"}
    before = 3
    notes.say(f"Remember that the password={SECRET} is rotated by ops weekly.")  # as it is in the inbox, redacted
    assert notes.end(stop_hook_active=False) == {}
    assert len(notes.all()) == before  # the same is not queued twice
    held = "Important: the cache must be cleared before a release."
    notes.say(held, f"  {held.upper()} ")
    assert notes.end(stop_hook_active=True) == {}  # a stop that a hook held back
    assert len(notes.all()) == before
    assert notes.end(stop_hook_active=False) == {}
    (last,) = [capture for capture in notes.wait_for(before + 1) if capture["source_hook"] == "Stop"]
    assert (last["content"], last["source_hook"], last["context"]["trigger"]) == (held, "Stop", "session_end")
    log = [json.loads(line) for line in notes.desk.snell("log", "--json").stdout.splitlines()]
    ended = [each["id"] for each in log if each["event"] == "Stop"][-1]
    assert wait_until(
        lambda: re.search(r"captured in /\S+/memory/new/", notes.desk.snell("why", ended, "--json").stdout)
    )
    notes.say(f"{held.lower()}\n")  # said again, and it is in the inbox
    notes.end(stop_hook_active=False)
    assert len(notes.all()) == before + 1


@pytest.mark.proves("S4-66", "S4-67", "S4-68", "S4-69", "S4-72", "S4-96", "S4-102")
def test_a_transcript_is_read_from_where_it_was_left_whole_lines_only(notes: Notes):
    notes.say(DECIDED)
    whole = notes.transcript.read_bytes()
    notes.transcript.write_bytes(whole[:-10])
    notes.end()
    assert notes.all() == []
    notes.transcript.write_bytes(whole)
    notes.end()
    notes.wait_for(1)
    kept = notes.root / "state/s1.json"  # it outlives the daemon
    assert json.loads(kept.read_bytes())["last_offset"] == len(whole)
    notes.say("x" * 1_100_000 + DECIDED, "The fix was to raise the limit in nginx.conf.")
    notes.end()
    assert sorted(capture["content"][:11] for capture in notes.wait_for(2)) == ["The fix was", "We decided "]
    notes.transcript.unlink()
    notes.say("Important: the port is 8080 in every environment.")  # shorter than it was
    notes.end()
    notes.wait_for(3)
    parts = ["We decided to keep the long story.", "word " * 3_000, "Remember that the end counts too."]
    notes.say("\n\n".join(parts))
    notes.end()
    found = [capture["content"] for capture in notes.wait_for(5)]
    assert [part in found for part in (parts[0], parts[2])] == [True, True]  # nothing of a long message is lost


@pytest.mark.proves("S4-06", "S4-07", "S4-89", "S4-90")
def test_a_session_is_told_to_recall_first_once_memory_is_on(notes: Notes):
    def is_told(source: str) -> bool:
        return "Before you start, recall" in notes.desk.told("SessionStart", source=source, session_id=source)

    def marks() -> set[tuple[Any, ...]]:
        rows = notes.desk.rows("SELECT scope, name FROM marks")
        return {(re.sub(r"(\w+:)(clear|compact|other|startup|resume)\Z", r"\1", scope), name) for scope, name in rows}

    assert [is_told(source) for source in ("clear", "compact", "other")] == [False] * 3
    before = marks()
    assert [is_told(source) for source in ("startup", "resume")] == [True] * 2
    assert marks() == before  # the note leaves nothing behind
    notes.desk.machine.write("snell.toml", "# nothing is switched on\n")
    assert notes.desk.told("SessionStart", source="startup", session_id="off") == ""
    notes.run(DECIDED)
    notes.desk.machine.write("snell.toml", ON)
    assert notes.all() == []


@pytest.mark.proves("S4-77", "S4-114", "S4-116", "S4-54")
def test_hostile_fields_and_a_broken_inbox_disturb_no_session_and_reach_no_model(notes: Notes):
    notes.say(DECIDED)
    (notes.desk.project / "x").mkdir()
    link = notes.desk.project / "link.jsonl"
    link.symlink_to(notes.transcript)
    os.mkfifo(notes.desk.project / "pipe.jsonl")
    hostile = [
        {"session_id": "../../x"},
        {"session_id": "con"},
        {"transcript_path": "t.jsonl"},
        {"transcript_path": f"{notes.desk.project}/x/../t.jsonl"},
        {"transcript_path": str(link)},
        {"transcript_path": str(notes.desk.project / "pipe.jsonl")},
        {"transcript_path": "/dev/zero"},
    ]
    for fields in hostile:
        answer = notes.end(**fields)
        assert (fields, "decision" in answer, "hookSpecificOutput" in answer) == (fields, False, False)
    assert notes.all() == []
    notes.desk.machine.stop()
    for path in sorted(notes.root.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    notes.root.rmdir()
    notes.root.write_text("in the way", encoding="utf-8")
    answers = [notes.run(DECIDED), notes.end(), notes.end("PreCompact", trigger="auto")]
    assert not any("hookSpecificOutput" in answer or "decision" in answer for answer in answers)
    assert wait_until(
        lambda: "is not a directory" in notes.desk.snell("why", "last").stdout + json.dumps(notes.run("x"))
    )


@pytest.mark.proves("S4-114")
def test_a_damaged_memory_stops_no_prompt_and_the_failure_is_recorded(notes: Notes):
    assert notes.desk.snell("memory", "remember", DECIDED).returncode == 0
    prompt = {"session_id": "two", "prompt": "which package manager did we choose, pip or uv?"}
    assert DECIDED in notes.desk.told("UserPromptSubmit", **prompt)
    notes.desk.machine.stop()
    with notes.desk.database() as database:
        database.execute("UPDATE memories SET created_at = 'yesterday'")
    answer = notes.desk.fire("UserPromptSubmit", **{**prompt, "session_id": "three"})
    assert (answer.get("decision"), answer.get("continue", True), "hookSpecificOutput" in answer) == (None, True, False)
    hooks = [run for each in notes.desk.snell("why", "last", "--json").json["rounds"] for run in each["runs"]]
    failed = {run["hook"]: run["failure"]["kind"] for run in hooks if run.get("failure")}
    assert failed == {"remember/add_to_prompt": "crash"}


@pytest.mark.proves("S4-100")
def test_what_is_stored_beside_a_text_is_redacted_too(notes: Notes):
    notes.tool("Write", {"file_path": f"/srv/{SECRET}/notes.md", "content": DECIDED})
    (capture,) = notes.wait_for(1)
    assert (capture["context"]["tool_name"], DECIDED in capture["content"]) == ("Write", True)
    assert SECRET not in json.dumps(capture)


@pytest.mark.proves("S4-87")
def test_a_timer_captures_a_running_session(notes: Notes):
    notes.desk.machine.write("snell.toml", f"{ON}every_minutes = 10\n")
    notes.say(DECIDED)
    call = {"transcript_path": str(notes.transcript)}
    notes.tool("Bash", {"command": "ls"}, "x", **call)
    mark = "SELECT count(*) FROM marks WHERE name = 'remember/timer'"
    wait_until(lambda: notes.desk.rows(mark) == [(1,)], 20)
    notes.tool("Bash", {"command": "ls"}, "x", **call)
    assert notes.all() == []
    notes.desk.machine.stop()
    with notes.desk.database() as database:
        database.execute("UPDATE marks SET value = CAST(value AS INTEGER) - 600001 WHERE name = 'remember/timer'")
    notes.tool("Bash", {"command": "ls"}, "x", **call)
    (capture,) = notes.wait_for(1)
    assert (capture["content"], capture["context"]["trigger"]) == (DECIDED, "timer")


@pytest.mark.proves("S4-11", "S4-121")
def test_the_next_session_of_the_same_project_knows_it_and_another_project_does_not(notes: Notes):
    notes.run(DECIDED)
    wait_until(lambda: notes.captures)
    prompt = "which package manager did we choose, pip or uv?"
    # A recall takes in what it can in a short time; on a busy machine the next one continues.
    found = wait_until(lambda: notes.desk.snell("memory", "recall", prompt, "--json").json["memories"])
    assert [DECIDED in each["content"] for each in found] == [True]
    assert DECIDED in notes.desk.told("UserPromptSubmit", session_id="two", prompt=prompt)
    other = notes.desk.project.parent / "other"
    other.mkdir()
    assert DECIDED not in notes.desk.told("UserPromptSubmit", session_id="three", prompt=prompt, cwd=str(other))
    config = '[remote "fork"]\n\turl = /srv/fork\n[remote "origin"]\n\turl = {}\n'
    for number, url in enumerate(("https://example.com/team/work", "git@example.com:team/work.git")):
        folder = notes.desk.project.parent / f"clone{number}"
        (folder / ".git").mkdir(parents=True)
        (folder / ".git/config").write_text(config.format(url), encoding="utf-8")
        notes.desk.project = folder
        if not number:
            assert notes.desk.snell("memory", "remember", "The login cookie is called `sid_v2`.").returncode == 0
    found = notes.desk.snell("memory", "recall", "login cookie", "--json").json["memories"]
    assert [each["content"] for each in found] == ["The login cookie is called `sid_v2`."]
