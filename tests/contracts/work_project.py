"""A project, a database, and any number of agents that work there."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from snell.model.decision import Decision
from snell.model.protocols import Database
from snell.operations import call_for
from snell.runtime.app import Runtime
from snell.settings.packs import pack_hooks
from snell.store.in_memory import InMemoryStore

on_both = pytest.mark.parametrize(
    "work_project", ["sqlite", pytest.param("postgres", marks=pytest.mark.process)], indirect=True
)


class WorkProject:
    """A project, a database, and any number of agents that work there."""

    def __init__(self, folder: Path, database: Database) -> None:
        self.project = folder / "project"
        self.project.mkdir()
        self.database = database
        self.marks = InMemoryStore()
        self.runtimes: dict[str, Runtime] = {}

    def runtime(self, agent: str = "", **options: Any) -> Runtime:
        key = f"{agent}{options}"
        if key not in self.runtimes:
            hooks = (*pack_hooks("sessions", options), *pack_hooks("fleet"))
            env = {"AGENT_ID": agent} if agent else {}
            self.runtimes[key] = Runtime.embed(*hooks, database=self.database, marks=self.marks, env=env)
        return self.runtimes[key]

    def call(self, name: str, agent: str = "", /, **arguments: Any) -> Any:
        command = call_for(name, self.runtime(agent))
        assert command is not None
        came = command(arguments, {"CWD": str(self.project), **({"AGENT_ID": agent} if agent else {})})
        return asyncio.run(came) if asyncio.iscoroutine(came) else came

    def fire(self, name: str, window: str = "w1", agent: str = "", options: Any = None, **fields: Any) -> Decision:
        given = {"cwd": str(self.project), "session_id": window, "transcript_path": f"/t/{window}.jsonl", **fields}
        decision = self.runtime(agent, **(options or {})).fire(name, **given)
        assert decision.failures == ()
        return decision

    def tool(self, tool: str = "Bash", window: str = "w1", agent: str = "", **fields: Any) -> Decision:
        given = fields.pop("tool_input", {"command": "ls"})
        return self.fire("PreToolUse", window, agent, tool_name=tool, tool_input=given, tool_use_id="", **fields)

    def start(self, window: str = "w1", agent: str = "", source: str = "startup") -> str:
        return notes_of(self.fire("SessionStart", window, agent, source=source))

    def usage(self, percent: float, window: str = "w1") -> None:
        self.marks.put(f"session:{window}", "context_usage", {"used_percent": percent})

    def close(self) -> None:
        for runtime in self.runtimes.values():
            runtime.executor.close()
        self.database.close()


def notes_of(decision: Decision) -> str:
    return "\n".join(note.text for note in decision.notes)
