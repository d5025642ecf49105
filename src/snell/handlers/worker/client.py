"""
The worker as the runtime uses it: load files, run their hooks, replace the child process when a hook breaks it.

One round trip serves all hooks of an event. The child is killed and replaced when a hook hangs or crashes it, and the
hooks after that one still run. `process.py` has the process and its pipes.
"""

import os
import threading
import time
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from snell.handlers.worker.worker_error import WorkerError
from snell.model.decision import Failure, Outcome
from snell.model.errors import HookError
from snell.model.events import Event
from snell.model.hooks import Hook
from snell.sdk.decorators import Declaration

if TYPE_CHECKING:
    from snell.handlers.worker.process import Child

OLD_FILES = 100  # unused files and old versions that a child may keep loaded


class HookDescription(msgspec.Struct, frozen=True):
    """A hook that a file declares."""

    name: str
    line: int
    doc: str
    declared: tuple[Declaration, ...]


class Worker:
    """The warm child. One request at a time; threads wait for each other."""

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._env = dict(os.environ if env is None else env)
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._sources: dict[tuple[str, str], bytes] = {}  # files that a new child must load

    def prepare(self) -> None:
        """Start the child in advance, while the caller does other work."""
        if self._lock.acquire(blocking=False):
            try:
                if self._child is None:
                    self._child = _start_child(self._env)
            except WorkerError:
                pass  # the first request reports the error
            finally:
                self._lock.release()

    def load(self, path: str, digest: str, source: bytes) -> list[HookDescription]:
        """Load a file from these bytes and return what it declares; raises HookError when it does not load."""
        with self._lock:
            try:
                answer = self._ready_child().load(path, digest, source)
            except WorkerError as error:
                self._end()
                raise HookError(f"loading it failed: {error}", where=path) from None
        if "error" in answer:
            raise HookError(answer["error"])
        older = [key for key in self._sources if key[0] == path][:-1]  # the last good version may still be in use
        for key in older:
            del self._sources[key]
        self._sources[path, digest] = source
        return msgspec.convert(answer["hooks"], list[HookDescription])

    def forget_all_but(self, paths: Container[str]) -> None:
        """Let new children load only these files."""
        for key in [key for key in self._sources if key[0] not in paths]:
            self._sources.pop(key, None)

    def run(self, hooks: Sequence[Hook], event: Event) -> list[Outcome]:
        """Run hooks of files that were loaded, in order; a hook that hangs or crashes costs only itself."""
        with self._lock:
            return self._run_all(tuple(hooks), event, [])

    def begin(self, hooks: tuple[Hook, ...], event: Event) -> "WorkerCall | None":
        """
        Start a run without waiting; None when that is not possible (no warm child, or it is busy).

        The caller must `finish` the call, in any thread.
        """
        if not self._lock.acquire(blocking=False):
            return None
        child = self._child
        try:
            is_ready = child and child.is_quiet and self._sources.keys() <= child.loaded
            if child and is_ready and child.send_request(hooks, event, at_once=True):
                return WorkerCall(self, child, hooks, event)
        except WorkerError:
            self._end()
        self._lock.release()
        return None

    def close(self) -> None:
        with self._lock:
            self._end()

    def finish(self, call: "WorkerCall") -> list[Outcome]:
        """Wait for the outcomes of a call that `begin` started."""
        try:
            outcomes = self._collect(call.child, call.hooks)
            return self._run_all(call.hooks, call.event, outcomes)
        finally:
            self._lock.release()

    def _run_all(self, hooks: tuple[Hook, ...], event: Event, outcomes: list[Outcome]) -> list[Outcome]:
        while len(outcomes) < len(hooks):
            left = hooks[len(outcomes) :]
            start = time.monotonic()
            try:
                child = self._ready_child()
                child.send_request(left, event)
                outcomes += self._collect(child, left)
            except WorkerError as error:  # it did not start, or ended before it had read the request
                self._end()
                outcomes.append(Outcome(failure=Failure(error.kind, str(error)), seconds=time.monotonic() - start))
        return outcomes

    def _collect(self, child: "Child", hooks: tuple[Hook, ...]) -> list[Outcome]:
        """Return the outcomes of a request, up to that of a hook which ended the child."""
        outcomes, error = child.collect(hooks)
        if error is not None:
            self._end()
        return outcomes

    def twin(self) -> "Worker":
        """Return another worker with the same files, for hooks that no caller waits for."""
        twin = Worker(self._env)
        twin._sources = self._sources
        return twin

    def _ready_child(self) -> "Child":
        most_loaded = 2 * len(self._sources) + OLD_FILES  # a child cannot unload old files
        if not (self._child and self._child.is_alive) or len(self._child.loaded) > most_loaded:
            self._end()  # closes the pipes of a dead child
            self._child = _start_child(self._env)
        for (path, digest), source in tuple(self._sources.items()):
            if (path, digest) not in self._child.loaded:
                self._child.load(path, digest, source)
        return self._child

    def _end(self) -> None:
        child, self._child = self._child, None
        if child:
            child.end()


class WorkerCall(msgspec.Struct, frozen=True):
    """Hooks that are running in the child."""

    worker: Worker
    child: "Child"
    hooks: tuple[Hook, ...]
    event: Event


def _start_child(env: Mapping[str, str]) -> "Child":
    from snell.handlers.worker.process import Child  # slow to import, and only Python files of users need it

    return Child(env)
