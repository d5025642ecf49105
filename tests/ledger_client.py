"""A runtime with the ledger, and tool calls in one line each."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from snell.model.decision import Decision
from snell.model.hooks import Hook
from snell.records import ledger
from snell.records.ledger import Call
from snell.runtime.app import Runtime
from snell.runtime.database_journal import StoreJournal
from snell.runtime.stored_marks import StoredMarks
from snell.settings.packs import pack_hooks
from snell.store.sqlite import SqliteDatabase

MAIL = "mcp__mail__send_email"
LETTER = {"to": "a@example.com", "subject": "hello", "body": "text"}


class LedgerClient:
    """Everything that happens to one ledger; the same folder again gives what was left there."""

    def __init__(
        self, folder: Path, mode: str = "durable", *more: Hook, packs: tuple[str, ...] = (), **options: Any
    ) -> None:
        self.folder = folder
        self.database = SqliteDatabase(folder / "state" / "snell.db")
        hooks = [
            *pack_hooks("ledger", {"mode": mode, **options}),
            *(h for name in packs for h in pack_hooks(name)),
            *more,
        ]
        self.runtime = Runtime.embed(
            *hooks,
            database=self.database,
            journal=StoreJournal(self.database),
            marks=StoredMarks(self.database),
            env={},
        )
        self.runtime.contexts.base = replace(self.runtime.contexts.base, config=folder, state=folder)

    def before(self, id_: str, tool: str = MAIL, given: Any = None, **fields: Any) -> Decision:
        return self._told("PreToolUse", id_, tool, LETTER if given is None else given, **fields)

    def after(self, id_: str, response: Any = None, tool: str = MAIL, given: Any = None, **fields: Any) -> Decision:
        given = LETTER if given is None else given
        return self._told("PostToolUse", id_, tool, given, tool_response=response, **fields)

    def failed(self, id_: str, error: str = "no", tool: str = MAIL, given: Any = None, **fields: Any) -> Decision:
        return self._told("PostToolUseFailure", id_, tool, LETTER if given is None else given, error=error, **fields)

    def tell(self, name: str, **fields: Any) -> Decision:
        decision = self.runtime.fire(name, **{"session_id": "s", "cwd": str(self.folder), **fields})
        self.runtime.executor.close()  # what comes after the answer is done
        assert decision.failures == ()
        return decision

    def calls(self) -> dict[str, Call]:
        """By number, oldest first."""
        found = self.database.run(lambda tx: ledger.recent(tx, limit=1_000))[::-1]
        return {each.tool_call_id.partition("/")[2]: each for each in found}

    def statuses(self) -> dict[str, str]:
        return {number: each.status for number, each in self.calls().items()}

    def body(self, ref: str) -> str:
        found = self.database.run(lambda tx: ledger.body(tx, ref))
        return found[0] if found else ""

    def close(self) -> None:
        self.runtime.close()

    def _told(self, name: str, id_: str, tool: str, given: Any, **fields: Any) -> Decision:
        return self.tell(name, **{"tool_name": tool, "tool_input": given, "tool_use_id": id_, **fields})
