"""The work layer as remote calls: names, types, codes, and each hook by its own name."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from snell.operations import call_for
from snell.operations.rpc import Rpc
from snell.runtime.app import Runtime
from snell.settings.packs import pack_hooks
from snell.store.sqlite import SqliteDatabase

HOOKS = {
    "sessionStart": {"source": "startup", "model": "m", "agentType": "main"},
    "sessionEnd": {"reason": "exit"},
    "preCompact": {"trigger": "auto", "customInstructions": ""},
    "preToolUse": {"toolName": "Bash", "toolInput": {"command": "ls"}, "toolUseId": "1"},
    "postToolUse": {"toolName": "Bash", "toolInput": {}, "toolUseId": "1", "toolResponse": [1]},
    "postToolUseFailure": {"toolName": "Bash", "toolInput": {}, "toolUseId": "1", "error": "e", "isInterrupt": True},
    "stop": {"stopHookActive": False, "lastAssistantMessage": "m"},
    "userPrompt": {"prompt": "p"},
    "userPromptSubmit": {"prompt": "p"},
    "notification": {"message": "m", "notificationType": "idle_prompt", "title": "t"},
    "permissionRequest": {"toolName": "Bash", "toolInput": {}, "permissionSuggestions": []},
    "teammateIdle": {"teammateName": "ann", "teamName": "t"},
    "taskCompleted": {"taskId": "1", "taskSubject": "s", "taskDescription": "d", "teammateName": "a", "teamName": "t"},
    "subagentStart": {"agentId": "a", "agentType": "t"},
    "subagentStop": {"stopHookActive": False, "agentId": "a", "agentType": "t", "agentTranscriptPath": "/t"},
    "configChange": {"source": "user_settings", "filePath": "/f"},
}
BASE = {"sessionId": "w", "transcriptPath": "/t.jsonl", "cwd": "/p", "permissionMode": "default"}


class Line:
    """One line in, one line out."""

    def __init__(self, runtime: Runtime) -> None:
        self.rpc = Rpc({}, lambda name: call_for(name, runtime))

    def __call__(self, cmd: str, args: Any = None, **env: str) -> Any:
        return self.raw(json.dumps({"cmd": cmd, "args": args or {}, "env": {"CWD": "/p", **env}}).encode())

    def raw(self, line: bytes) -> Any:
        return asyncio.run(self._answered(line))

    async def _answered(self, line: bytes) -> Any:
        came: list[bytes] = []
        waiting = self.rpc.call(line, came.append)
        if waiting:
            await waiting
        return json.loads(came[0])


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    with Runtime.embed(database=SqliteDatabase(tmp_path / "calls.db")) as made:
        yield made


@pytest.fixture
def line(runtime: Runtime) -> Line:
    return Line(runtime)


def start(line: Line, **env: str) -> Any:
    return line("commands.effort.start", {"taskName": "t", "skill": "s"}, **env)["data"]


@pytest.mark.proves("S2-40", "S2-43", "S2-44", "S2-49", "S2-65", "S2-92", "S2-98", "S2-103", "S2-105", "S2-144")
@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_takes_its_own_fields_in_both_spellings_and_says_what_is_missing(line: Line, name: str):
    event = {**BASE, **HOOKS[name], "somethingNew": {"is": "ignored"}}
    first = line(f"hooks.{name}", event)
    assert first["ok"] is True
    snake = {"".join(f"_{c.lower()}" if c.isupper() else c for c in key): value for key, value in event.items()}
    assert line(f"hooks.{name}", snake)["ok"] is True
    for missing in ("sessionId", "transcriptPath"):
        refused = line(f"hooks.{name}", {key: value for key, value in event.items() if key != missing})
        assert (refused["error"], refused["details"]) == ("VALIDATION_ERROR", {"issues": [f"{missing}: is missing"]})
    without_mode = {key: value for key, value in event.items() if key != "permissionMode"}
    assert line(f"hooks.{name}", without_mode)["ok"] is True


@pytest.mark.proves("S2-41")
def test_a_session_id_is_text_and_never_a_number(line: Line):
    refused = line("hooks.sessionEnd", {**BASE, "sessionId": 7})
    assert refused["details"] == {"issues": ["sessionId: must be text"]}


@pytest.mark.proves("S2-01", "S2-52", "S2-74", "S2-99", "S2-100", "S2-75")
def test_one_call_gives_everything_that_a_hook_needs(line: Line):
    begun = start(line)
    session = line("hooks.sessionStart", {**BASE, **HOOKS["sessionStart"]})["data"]
    named = ("found", "effortId", "skill", "phase", "filesToPreload", "dehydratedContext", "skillConfig", "taskDir")
    assert {name: session[name] for name in named} == {
        "found": True,
        "effortId": begun["effort"]["id"],
        "skill": "s",
        "phase": None,
        "filesToPreload": [],
        "dehydratedContext": None,
        "skillConfig": None,
        "taskDir": "/p/.tasks/t",
    }
    before = line("hooks.preToolUse", {**BASE, **HOOKS["preToolUse"]})["data"]
    answer = ("allow", "heartbeatCount", "contextUsage", "overflowWarning", "pendingPreloads", "firedRules")
    assert [before[name] for name in answer] == [True, 1, None, False, [], []]
    prompt = line("hooks.userPrompt", {**BASE, "prompt": "p"})["data"]
    assert prompt["sessionContext"].endswith(
        f"UTC | session {session['sessionId']} | skill s | phase none | heartbeat 1/10]"
    )
    assert len(prompt["sessionContext"]) < 300
    assert (prompt["heartbeat"], prompt["hookSpecificOutput"]["hookEventName"]) == (1, "UserPromptSubmit")
    line("db.effort.updateMetadata", {"id": begun["effort"]["id"], "metadata": {"blockAfter": 0}})
    denied = line("hooks.preToolUse", {**BASE, **HOOKS["preToolUse"]})["data"]
    assert (denied["allow"], denied["hookSpecificOutput"]) == (
        False,
        {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "2/0 tool calls without logging",
        },
    )


@pytest.mark.proves("S2-45", "S2-47")
@pytest.mark.parametrize(
    ("cwd", "is_found"),
    [
        ("/p", True),
        ("/p/deep/down", True),
        ("/pp", False),
        ("/", False),
        ("", False),
        ("p", False),
        ("/p/own/x", False),
    ],
)
def test_a_directory_belongs_to_the_nearest_project_above_it(line: Line, cwd: str, is_found: bool):
    start(line)
    assert line("db.project.upsert", {"path": "/p/own"})["ok"]  # one inside of the other
    found = line("commands.where", {"cwd": cwd})["data"]
    assert (found["effortId"] is not None, found["engineSessionId"] is not None) == (is_found, is_found)


@pytest.mark.proves("S2-47")
def test_trouble_with_the_database_lets_the_agent_go_on(runtime: Runtime, line: Line, tmp_path: Path):
    start(line)
    assert runtime.database is not None
    runtime.database.run(lambda tx: tx.do("DROP VIEW stale_sessions"))
    runtime.database.run(lambda tx: tx.do("ALTER TABLE sessions RENAME TO lost"))
    assert line("hooks.preToolUse", {**BASE, **HOOKS["preToolUse"]})["data"]["allow"] is True
    assert line("hooks.userPrompt", {**BASE, "prompt": "p"})["ok"] is True


@pytest.mark.proves("S2-129", "S2-130", "S2-131")
def test_what_is_not_a_call_gets_a_code_and_the_line_goes_on(line: Line):
    assert line.raw(b"{nonsense")["error"] == "PARSE_ERROR"
    assert line("db.effort.strat")["error"] == "UNKNOWN_COMMAND"
    assert line("db.effort.get", {"id": 1})["error"] == "NOT_FOUND"
    assert line("db.effort.get", {"id": "one"})["details"] == {"issues": ["id: expected a number, got a string"]}
    assert line("db.effort.get")["details"] == {"issues": ["id: is missing"]}
    assert line("commands.log.append", {"content": "x"})["error"] == "NO_ACTIVE_EFFORT"
    assert line("agent.skills.parse", {"path": "/nowhere/SKILL.md"})["error"] == "FS_NOT_FOUND"
    assert line("db.effort.list")["data"] == []


@pytest.mark.proves("S2-91")
def test_a_transcript_is_read_from_where_it_was_left_whole_lines_only(line: Line, tmp_path: Path):
    id_ = start(line)["session"]["id"]
    path = tmp_path / "t.jsonl"
    tool = {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash"}]}}
    path.write_text(json.dumps({"type": "user", "message": {"content": "hi"}}) + "\n" + json.dumps(tool)[:20], "utf-8")
    args = {"sessionId": id_, "path": str(path)}
    assert line("agent.messages.ingest", args)["data"]["ingested"] == 1
    path.write_text(path.read_text("utf-8") + json.dumps(tool)[20:] + "\nnot json\n", "utf-8")
    assert [line("agent.messages.ingest", args)["data"]["ingested"] for _ in range(2)] == [1, 0]
    kept = line("db.messages.list", {"sessionId": id_})["data"]
    assert [(each["role"], each["toolName"]) for each in kept] == [("user", None), ("assistant", "Bash")]
    path.write_text(json.dumps({"type": "user", "message": "written anew"}) + "\n", "utf-8")
    assert line("agent.messages.ingest", args)["data"]["ingested"] == 1
    for quiet in ({"sessionId": 999}, {"sessionId": id_, "path": "/nowhere"}):
        assert line("agent.messages.ingest", quiet)["data"]["ingested"] == 0


@pytest.mark.proves("S2-132")
def test_callers_at_the_same_time_keep_their_own_environment(runtime: Runtime):
    names = [f"a{number}" for number in range(8)]
    lines = {name: Line(runtime) for name in names}
    ids = {
        name: lines[name]("commands.effort.start", {"taskName": name, "skill": "s"}, AGENT_ID=name)["data"]["effort"][
            "id"
        ]
        for name in names
    }
    seen: dict[str, set[int]] = {name: set() for name in names}

    def ask(name: str) -> None:
        for _ in range(20):
            seen[name].add(lines[name]("commands.where", AGENT_ID=name)["data"]["effortId"])

    threads = [threading.Thread(target=ask, args=(name,)) for name in names]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert seen == {name: {ids[name]} for name in names}


def test_secrets_do_not_get_into_what_is_kept(line: Line):
    start(line)
    line("hooks.sessionStart", {**BASE, **HOOKS["sessionStart"]})
    secret = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    line("hooks.postToolUseFailure", {**BASE, **HOOKS["postToolUseFailure"], "error": f"bad token {secret}"})
    payload = {"summary": f"use {secret}", "lastAction": "l", "nextSteps": [], "requiredFiles": []}
    assert secret not in json.dumps(line("commands.session.dehydrate", {"payload": payload}))
    kept = line("db.messages.list", {"sessionId": 2})["data"]
    assert (len(kept), secret in json.dumps(kept)) == (1, False)


def test_a_hook_that_is_called_counts_as_the_settings_say(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "calls.db")
    with Runtime.embed(
        *pack_hooks("sessions", {"heartbeat": 4, "context_window": 1_000}), database=database
    ) as runtime:
        line = Line(runtime)
        start(line)
        line("hooks.sessionStart", BASE)
        runtime.store.put("session:w", "context_usage", {"tokens": 850})
        answers = [line("hooks.preToolUse", {**BASE, **HOOKS["preToolUse"]})["data"] for _ in range(4)]
    assert [each["allow"] for each in answers] == [True, True, True, False]
    assert (answers[-1]["reason"], answers[-1]["contextUsage"]) == ("4/4 tool calls without logging", 0.85)


@pytest.mark.parametrize(
    ("name", "given", "issue"),
    [
        ("db.project.upsert", {"path": ""}, "path: must be an absolute path"),
        ("db.project.upsert", {"path": "here/there"}, "path: must be an absolute path"),
        ("db.project.upsert", {"path": "/a\0b"}, "path: must be an absolute path"),
        ("db.task.upsert", {"dirPath": "t", "projectId": 1}, "dirPath: must be an absolute path"),
        ("db.agents.register", {"id": " "}, "id: must not be empty"),
        ("commands.effort.start", {"taskName": "t", "skill": "s", "cwd": ""}, "path: must be an absolute path"),
    ],
)
def test_a_path_is_whole_and_a_name_is_not_empty(line: Line, name: str, given: Any, issue: str):
    answer = line(name, given)
    assert (answer["error"], answer["details"]) == ("VALIDATION_ERROR", {"issues": [issue]})
