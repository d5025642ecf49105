"""Measure what tracking an effort adds to a tool call."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.measure import interleaved
from snell.model.events import event_from
from snell.records import decisions
from snell.records.decisions import Row
from snell.runtime.app import Runtime
from snell.settings.packs import pack_hooks
from snell.store.sqlite import SqliteDatabase
from snell.work import effort_commands, sessions


def tool_call_of_an_effort_over_plain_insert(rounds: int = 1_000) -> tuple[float, dict[str, float]]:
    """A whole PreToolUse of the pack, over one row of the journal in the same database."""
    with tempfile.TemporaryDirectory() as folder:
        hooks = pack_hooks("sessions", {"heartbeat": 1_000_000})
        database = SqliteDatabase(Path(folder) / "work.db")
        with Runtime.embed(*hooks, database=database) as runtime:
            made = database.run(lambda tx: effort_commands.start_effort(tx, folder, "", "t", "s"))
            database.run(lambda tx: sessions.start(tx, made["effort"]["id"], "w"))
            runtime.store.put("work", "in_use", True)
            given = {"session_id": "w", "cwd": folder, "tool_name": "Bash", "tool_input": {"command": "ls"}}
            event = event_from(given, "PreToolUse")
            (hook,) = [each for each in hooks if each.id == "sessions/check_heartbeat"]
            rows = _rows()
            times = interleaved(
                {
                    "one row": lambda: database.run(lambda tx: decisions.add(tx, next(rows))),
                    "a whole tool call": lambda: runtime.executor.run((hook,), event, runtime.contexts.base),
                },
                rounds=rounds,
                calls=1,
            )
            counted = database.run(lambda tx: sessions.find(tx, made["effort"]["id"]))
            assert counted is not None
            assert counted["heartbeatCounter"] == rounds  # it did what it is measured for
    return times["a whole tool call"] / times["one row"], times


def _rows() -> Iterator[Row]:
    number = 0
    while True:
        number += 1
        yield Row(id=f"row-{number:06}", at=0, session_id="w", client="c", event="e")
