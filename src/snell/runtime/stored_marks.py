"""
Marks that survive a restart. They are written through to the database and read from memory, so that reading one is
fast.

INVARIANT: one process at a time serves a session, so memory and database have the same marks.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from snell.model.errors import StoreError
from snell.model.events import json_equal
from snell.model.protocols import Database, Transaction
from snell.records import marks
from snell.system.json_output import json_value
from snell.system.lazy_regex import lazy_regex

SCOPES = 1_024
UNSAVED = 10_000
SIGN = " #"  # between a redacted name and a hash that keeps it apart from others
LONGEST_PLAIN = 24  # characters; no secret that is recognised by its form is as short and all lower case
_PLAIN = lazy_regex(r"[a-z_]+(?:/[a-z_]+)?")

Change = Callable[[Transaction], object]


class StoredMarks:
    """A `Store`. A database that cannot be written fails no event: `problem` reports it, and it is tried again."""

    def __init__(self, database: Database, redactor: Callable[[Any], Any] | None = None) -> None:
        self.problem = ""
        self._database = database
        self._redactor = redactor or _redact
        self._scopes: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._redacted_scopes: set[str] = set()  # scopes with marks that were read back under redacted names
        self._unsaved: list[Change] = []
        # Late hooks finish in threads of their own. INVARIANT: a thread that holds this lock never waits for the
        # database: a thread in the middle of a transaction may be waiting for a mark.
        self._lock = threading.Lock()

    def get(self, scope: str, name: str) -> Any:
        with self._lock:  # once, and without a call: every event does this
            known = self._scopes.get(scope)
            if known is not None and scope not in self._redacted_scopes:
                self._scopes.move_to_end(scope)
                return known.get(name)
        known = self._scope(scope)
        with self._lock:
            return known.get(name, known.get(self._stored_name(name)) if scope in self._redacted_scopes else None)

    def put(self, scope: str, name: str, value: Any) -> None:
        self.change(scope, name, lambda _: value)

    def change(self, scope: str, name: str, change: Callable[[Any], Any]) -> None:
        known = self._scope(scope)
        with self._lock:
            value = json_value(change(known.get(name)))  # as it would come back after a restart
            if name in known and json_equal(known[name], value):
                return
            known[name] = value
            self._scopes[scope] = known
            self._unsaved.append(lambda tx: marks.put(tx, scope, self._stored_name(name), self._stored_value(value)))
        self._save()

    def drop(self, scope: str, name: str | None = None) -> None:
        known = {} if name is None else self._scope(scope)
        with self._lock:
            if name is None:
                self._scopes[scope] = known
            else:
                known.pop(name, None)
                if scope in self._redacted_scopes:
                    known.pop(self._stored_name(name), None)
            self._unsaved.append(lambda tx: marks.drop(tx, scope, name and self._stored_name(name)))
        self._save()

    def _scope(self, scope: str) -> dict[str, Any]:
        with self._lock:
            known = self._scopes.get(scope)
            if known is not None:
                self._scopes.move_to_end(scope)
                return known
        try:
            loaded = self._database.run(lambda tx: marks.in_scope(tx, scope), only_reads=True)
        except StoreError as error:
            self.problem = f"marks could not be read: {error}"
            return {}  # read again next time
        with self._lock:
            if any(SIGN in name for name in loaded):
                self._redacted_scopes.add(scope)
            known = self._scopes.setdefault(scope, loaded)  # another thread may have been faster
            # Marks that are not saved yet are only in memory.
            while len(self._scopes) > SCOPES and not self._unsaved:
                self._redacted_scopes.discard(self._scopes.popitem(last=False)[0])
            return known

    def _stored_name(self, name: str) -> str:
        """Return the name as it is written: redacted, with a short hash that keeps two such names apart."""
        if is_plain(name):
            return name
        kept = str(self._redactor(name))
        if kept == name:
            return name
        return f"{kept}{SIGN}{hashlib.blake2b(name.encode('utf-8', 'replace'), digest_size=4).hexdigest()}"

    def _stored_value(self, value: Any) -> Any:
        return value if value is None or isinstance(value, bool | int | float) else self._redactor(value)

    def _save(self) -> None:
        done: list[Change] = []

        def save(tx: Transaction) -> None:
            with self._lock:
                done[:] = self._unsaved
            for each in done:
                each(tx)

        try:
            self._database.run(save)
        except StoreError as error:
            self.problem = f"marks could not be written: {error}"
            with self._lock:
                del self._unsaved[:-UNSAVED]
        else:
            self.problem = ""
            with self._lock:
                self._unsaved = [each for each in self._unsaved if each not in done]


def is_plain(name: str) -> bool:
    """
    Return whether a name needs no redaction, such as `harness/began`: a session's first reply would wait for the
    redactor's patterns to be compiled. INVARIANT: the redactor leaves every such name as it is.
    """
    return len(name) <= LONGEST_PLAIN and _PLAIN.fullmatch(name) is not None


def _redact(value: Any) -> Any:
    from snell.redact import redact_data  # slow to import, and not needed before the first mark

    return redact_data(value)
