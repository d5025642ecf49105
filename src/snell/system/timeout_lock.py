"""A lock with a timeout: two threads that wait for each other get an error instead of a deadlock."""

import threading
from types import TracebackType

from snell.model.errors import StoreError


class BoundedLock:
    """Like `threading.RLock`, but `with` raises `StoreError` when another thread holds it for too long."""

    def __init__(self, what: str, seconds: float) -> None:
        self._what, self._seconds = what, seconds
        self._lock = threading.RLock()
        self._try = self._lock.acquire
        self.release = self._lock.release

    def acquire(self) -> None:
        if not self._try(False) and not self._try(timeout=self._seconds):
            raise StoreError(f"another thread has held it for {self._seconds:g} s", where=self._what)

    __enter__ = acquire

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._lock.release()
