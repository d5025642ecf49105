"""A runtime with the pack `remember`, its inbox, and a transcript to write."""

import json
import os
from pathlib import Path
from typing import Any

from snell.memory.inbox import Inbox
from snell.memory.inbox_entry import InboxEntry, decode_entry
from snell.model.context import Context
from snell.model.events import Event, event_from
from snell.runtime.app import Runtime, database_of
from snell.settings.packs import pack_hooks
from snell.system.paths import Places

DECIDED = "We decided to use uv for packages because pip was slow."
SECRET = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"


class RememberRuntime:
    """A runtime with the pack, its inbox, and a transcript to write."""

    def __init__(self, folder: Path, options: dict[str, Any]) -> None:
        self.folder = folder
        self.where = Places(folder / "config", folder / "state", folder / "run")
        self.database = database_of(self.where)
        self.runtime = Runtime.embed(*pack_hooks("remember", options), database=self.database, where=self.where)
        self.inbox = Inbox(self.where.state / "memory")
        self.transcript = folder / "t.jsonl"

    def fire(self, name: str, **payload: Any) -> Any:
        given = {"session_id": "s1", "cwd": str(self.folder), **payload}
        return self.runtime.fire(name, **given)

    def finish(self) -> None:
        self.runtime.executor.later(lambda: None).result(10)
        self.runtime.executor._threads("later", 2).shutdown(wait=True)
        self.runtime.executor._pools.clear()

    def say(self, *texts: str) -> None:
        with self.transcript.open("a", encoding="utf-8") as file:
            for text in texts:
                row = {"type": "assistant", "uuid": os.urandom(4).hex(), "message": {"content": [{"text": text}]}}
                file.write(json.dumps(row) + "\n")

    def captures(self) -> list[InboxEntry]:
        self.finish()
        return [decode_entry(path.read_bytes()) for path in self.inbox.waiting(100)]

    @property
    def context(self) -> Context:
        return Context(state=self.where.state, options={"capture": True})

    def event(self, name: str, **payload: Any) -> Event:
        return event_from({"session_id": "s1", "cwd": str(self.folder), **payload}, name, "claude-code")
