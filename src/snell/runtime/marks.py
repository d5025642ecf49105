"""
Marks that survive a restart. Everything is written through to the database and read from memory, so that a hook's
question costs a look-up.

INVARIANT: one process at a time answers for a session, so what is in memory is what is in the database.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from snell.machine.json_plain import plain
from snell.model.errors import StoreError
from snell.model.events import same
from snell.model.ports import Database, Transaction
from snell.work import marks

SCOPES = 1_024
UNSAVED = 10_000

Change = Callable[[Transaction], object]


class StoredMarks:
    """A `Store`. A database that cannot be written costs nobody an answer: `problem` says so, and it is tried again."""

    def __init__(self, database: Database, redactor: Callable[[Any], Any] | None = None) -> None:
        self.problem = ""
        self._database = database
        self._redactor = redactor or _redacted
        self._scopes: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._unsaved: list[Change] = []
        self._lock = threading.RLock()  # late hooks finish in threads of their own

    def get(self, scope: str, name: str) -> Any:
        with self._lock:
            return self._scope(scope).get(name)

    def put(self, scope: str, name: str, value: Any) -> None:
        value = plain(value)  # as it would come back after a restart
        with self._lock:
            known = self._scope(scope)
            if name in known and same(known[name], value):
                return
            known[name] = value
            self._scopes[scope] = known
            self._save(lambda tx: marks.put(tx, scope, name, self._redactor(value)))

    def drop(self, scope: str, name: str | None = None) -> None:
        with self._lock:
            if name is None:
                self._scopes[scope] = {}
            else:
                self._scope(scope).pop(name, None)
            self._save(lambda tx: marks.drop(tx, scope, name))

    def _scope(self, scope: str) -> dict[str, Any]:
        known = self._scopes.get(scope)
        if known is not None:
            self._scopes.move_to_end(scope)
            return known
        loaded = self._loaded(scope)
        if loaded is None:
            return {}  # asked again next time
        self._scopes[scope] = loaded
        # What is not saved yet is nowhere but here.
        while len(self._scopes) > SCOPES and not self._unsaved:
            self._scopes.popitem(last=False)
        return loaded

    def _loaded(self, scope: str) -> dict[str, Any] | None:
        try:
            return self._database.run(lambda tx: marks.in_scope(tx, scope))
        except StoreError as error:
            self.problem = f"marks could not be read: {error}"
            return None

    def _save(self, change: Change) -> None:
        self._unsaved.append(change)
        try:
            self._database.run(lambda tx: [each(tx) for each in self._unsaved])
        except StoreError as error:
            self.problem = f"marks could not be written: {error}"
            del self._unsaved[:-UNSAVED]
        else:
            self.problem = ""
            self._unsaved.clear()


def _redacted(value: Any) -> Any:
    from snell.kit.redact import redacted  # slow to import, and not needed before the first mark

    return redacted(value)
