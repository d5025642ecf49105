"""Keep marks in a dictionary: for embedded runtimes, single decisions and tests."""

import threading
from collections.abc import Callable
from typing import Any


class InMemoryStore:
    def __init__(self) -> None:
        self._scopes: dict[str, dict[str, Any]] = {}
        self._changing = threading.Lock()

    def get(self, scope: str, name: str) -> Any:
        marks = self._scopes.get(scope)
        return marks.get(name) if marks else None

    def put(self, scope: str, name: str, value: Any) -> None:
        self._scopes.setdefault(scope, {})[name] = value

    def change(self, scope: str, name: str, change: Callable[[Any], Any]) -> None:
        with self._changing:
            self.put(scope, name, change(self.get(scope, name)))

    def drop(self, scope: str, name: str | None = None) -> None:
        if name is None:
            self._scopes.pop(scope, None)
        else:
            self._scopes.get(scope, {}).pop(name, None)
