"""What the sessions pack costs, touches and injects."""

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from snell.model.events import event_from
from snell.model.protocols import Transaction
from snell.operations import call_for
from snell.packs.sessions.caller import usage_of
from snell.packs.sessions.tool_results import read_transcript
from snell.records import decisions
from snell.records.decisions import Row
from snell.runtime.app import Runtime
from snell.settings.packs import pack_hooks
from snell.store.in_memory import InMemoryStore
from snell.store.replication import work_rows
from snell.store.sqlite import SqliteDatabase
from snell.work.rows import update

BASE = {"sessionId": "w", "transcriptPath": "/t.jsonl"}
TABLES = ("projects", "tasks", "efforts", "sessions", "phase_history", "messages", "agents", "skills")


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    (tmp_path / "p").mkdir()
    with Runtime.embed(
        *pack_hooks("sessions"), database=SqliteDatabase(tmp_path / "s.db"), env={"AGENT_ID": "ann"}
    ) as made:
        yield made


def call(runtime: Runtime, name: str, tmp_path: Path, **arguments: Any) -> Any:
    command = call_for(name, runtime)
    assert command is not None
    came = command({"cwd": str(tmp_path / "p"), **arguments}, {"CWD": str(tmp_path / "p"), "AGENT_ID": "ann"})
    return asyncio.run(came) if asyncio.iscoroutine(came) else came


def fire(runtime: Runtime, event: str, tmp_path: Path, **fields: Any) -> Any:
    return runtime.fire(event, session_id="w", cwd=str(tmp_path / "p"), transcript_path="/t.jsonl", **fields)


def contents(runtime: Runtime) -> dict[str, Any]:
    assert runtime.database is not None
    return runtime.database.run(lambda tx: {table: tx.rows(f"SELECT * FROM {table} ORDER BY 1") for table in TABLES})


@pytest.mark.proves("S2-10")
@pytest.mark.parametrize(
    ("hook", "fields", "touched"),
    [
        ("sessionStart", {"source": "startup"}, {"sessions", "agents"}),
        ("sessionEnd", {"reason": "x"}, {"sessions", "agents"}),
        ("preCompact", {"trigger": "auto"}, {"sessions"}),
        ("preCompact", {"trigger": "manual"}, set()),
        ("preToolUse", {"toolName": "Bash", "toolInput": {}, "toolUseId": "1"}, {"sessions", "agents"}),
        ("postToolUse", {"toolName": "Bash", "toolInput": {}, "toolUseId": "1"}, {"agents"}),
        ("postToolUse", {"toolName": "AskUserQuestion", "toolInput": {}, "toolUseId": "1"}, {"agents", "messages"}),
        ("postToolUseFailure", {"toolName": "Bash", "toolInput": {}, "toolUseId": "1"}, {"agents", "messages"}),
        ("stop", {}, {"agents"}),
        ("userPrompt", {"prompt": "p"}, {"agents"}),
        ("notification", {"notificationType": "idle_prompt"}, {"agents"}),
        ("permissionRequest", {"toolName": "Bash", "toolInput": {}}, {"agents"}),
        ("teammateIdle", {"teammateName": "bob"}, {"agents"}),
        ("subagentStart", {"agentId": "a"}, {"sessions"}),
        ("subagentStop", {"agentId": "a"}, set()),
        ("taskCompleted", {"taskId": "1", "taskSubject": "s"}, {"messages"}),
        ("configChange", {"source": "user_settings"}, set()),
    ],
)
def test_each_hook_touches_the_layers_it_should_and_no_others(
    runtime: Runtime, tmp_path: Path, hook: str, fields: dict[str, Any], touched: set[str]
):
    call(runtime, "commands.effort.start", tmp_path, taskName="t", skill="s")
    call(runtime, "db.agents.register", tmp_path, id="bob")
    call(runtime, "hooks.sessionStart", tmp_path, **BASE)
    call(runtime, "db.agents.updateStatus", tmp_path, id="ann", status="checked")
    before = contents(runtime)
    call(runtime, f"hooks.{hook}", tmp_path, **BASE, **fields)
    after = contents(runtime)
    assert {table for table in TABLES if before[table] != after[table]} == touched


@pytest.mark.proves("S2-56")
def test_the_next_window_gets_the_files_themselves_as_far_as_they_fit(runtime: Runtime, tmp_path: Path):
    call(runtime, "commands.effort.start", tmp_path, taskName="t", skill="s")
    fire(runtime, "SessionStart", tmp_path, source="startup")
    small, large = tmp_path / "p/plan.md", tmp_path / "p/large.md"
    small.write_text("the plan is simple", encoding="utf-8")
    large.write_text("x" * 100_000, encoding="utf-8")
    (tmp_path / "p/notes").mkdir()
    (tmp_path / "p/notes/near.md").write_text("it is near", encoding="utf-8")
    (tmp_path / "p/rules.md").write_text("tests come first", encoding="utf-8")
    os.mkfifo(tmp_path / "p/pipe")
    assert runtime.database is not None
    found = [str(tmp_path / "p/rules.md"), str(small)]
    runtime.database.run(lambda tx: update(tx, "efforts", "id", 1, {"discovered_directives": found}))
    files = [str(large), str(tmp_path / "p/pipe"), str(small), "notes/near.md", "/gone"]
    payload = {"summary": "s", "lastAction": "l", "nextSteps": [], "requiredFiles": files}
    call(runtime, "commands.session.dehydrate", tmp_path, payload=payload)
    told = fire(runtime, "SessionStart", tmp_path, source="startup").notes[0].text
    listed = ", ".join([*files, found[0]])
    assert f"Read these files first: {listed}." in told
    counts = [told.count(text) for text in ("the plan is simple", "it is near", "tests come first", "xxxx")]
    assert counts == [1, 1, 1, 0]


@pytest.mark.proves("S2-138")
def test_a_window_that_is_being_replaced_asks_for_no_further_one(tmp_path: Path):
    """A client that is ended while its context is full reports that on its way out, or even after the next began."""
    full = tmp_path / "t.jsonl"
    said = {"type": "assistant", "isApiErrorMessage": True, "message": {"content": "Prompt is too long"}}
    full.write_text(json.dumps(said) + "\n", encoding="utf-8")
    marks = InMemoryStore()
    env = {"SNELL_SUPERVISOR": "r"}
    with Runtime.embed(*pack_hooks("sessions"), marks=marks, env=env) as runtime:

        def reports(event: str, window: str, **fields: Any) -> Any:
            runtime.fire(event, session_id=window, cwd=str(tmp_path), transcript_path=str(full), **fields)

        def asked() -> Any:
            poll = call_for("run.poll", runtime)
            assert poll is not None
            restart = poll({"run": "r"}, {})["restart"]
            return restart and restart["reason"]

        reports("SessionStart", "w1", source="startup")
        reports("PreCompact", "w1", trigger="auto")
        reports("StopFailure", "w1")
        assert asked() == "compact"  # the first reason, with the effort's own prompt
        reports("StopFailure", "w1")
        assert asked() is None
        reports("SessionStart", "w2", source="startup")
        reports("StopFailure", "w1")
        assert asked() is None
        reports("StopFailure", "w2")
        assert asked() == "exhausted"
        reports("SessionStart", "w3", source="startup")
        reports("StopFailure", "w1")  # the one before the last
        assert asked() is None


def test_how_full_the_context_is_comes_from_the_transcript_where_no_status_line_tells(runtime: Runtime, tmp_path: Path):
    usage = {"input_tokens": 10, "cache_read_input_tokens": 149_990, "output_tokens": 0}
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({"type": "assistant", "message": {"usage": usage}}) + "\n", encoding="utf-8")
    event = event_from({"session_id": "w", "transcript_path": str(path)}, "PostToolUse")
    read_transcript(event, runtime.contexts.base)
    assert runtime.store.get("session:w", "context_usage") == {"tokens": 150_000, "from": "transcript"}
    assert usage_of(runtime.store.get("session:w", "context_usage")) == 0.75
    assert usage_of({"tokens": 136_000, "window": 272_000}) == 0.5
    runtime.store.put("session:w", "context_usage", {"used_percent": 50})
    read_transcript(event, runtime.contexts.base)
    assert [
        usage_of(mark) for mark in (runtime.store.get("session:w", "context_usage"), None, {}, {"tokens": "x"})
    ] == [
        0.5,
        None,
        None,
        None,
    ]


@pytest.mark.alone
@pytest.mark.parametrize("is_shared", [False, True])
def test_a_whole_call_costs_no_more_than_a_few_rows(
    runtime: Runtime, tmp_path: Path, figure: Callable[..., None], is_shared: bool
):
    """Small rows of the journal; the best of many rounds on both sides. Sharing work makes no difference."""
    call(runtime, "commands.effort.start", tmp_path, taskName="t", skill="s", metadata={"blockAfter": 1_000_000})
    fire(runtime, "SessionStart", tmp_path, source="startup")
    assert runtime.database is not None
    if is_shared:
        runtime.database.run(lambda tx: work_rows.start_sharing(tx, "team"))
    event = event_from(
        {"session_id": "w", "cwd": str(tmp_path / "p"), "tool_name": "Bash", "tool_input": {"command": "ls"}},
        "PreToolUse",
    )
    (hook,) = [each for each in pack_hooks("sessions") if each.id == "sessions/check_heartbeat"]
    rows = iter(range(10_000))

    def insert(tx: Transaction) -> None:
        decisions.add(tx, Row(id=f"row-{next(rows):06}", at=0, session_id="w", client="c", event="e"))

    ours, plain = [], []
    for _ in range(1_000):
        plain.append(_timed(lambda: runtime.database.run(insert)))  # type: ignore[union-attr] # it is there
        ours.append(_timed(lambda: runtime.executor.run((hook,), event, runtime.contexts.base)))
    ratio = min(ours) / min(plain)
    figure(figure="a whole PreToolUse of the pack / one row", ratio=round(ratio, 2), shared=is_shared)
    assert ratio <= 4  # the bar is 3, and the benchmark's; here others may be at work on the same cores


def _timed(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
