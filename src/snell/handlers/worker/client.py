"""
The warm child in which other people's Python hooks run, as everybody else sees it.

One round trip serves all hooks of an event. The child is ended and replaced when a hook hangs or takes it down, and
the hooks after that one still run. `worker_child.py` has the process and its pipes.
"""

import os
import threading
import time
from collections.abc import Container, Mapping, Sequence

import msgspec

from snell.handlers.worker.process import Child, WorkerError
from snell.model.decision import Failure, Outcome
from snell.model.errors import HookError
from snell.model.events import Event
from snell.model.hooks import Hook
from snell.sdk.decorators import Declaration

OLD_FILES = 100  # files and earlier versions of files that a child may hold beside those in use


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
        self._sources: dict[tuple[str, str], bytes] = {}  # what a replaced child must load again

    def prepare(self) -> None:
        """Let the child start while its parent has other things to do."""
        if self._lock.acquire(blocking=False):
            try:
                if self._child is None:
                    self._child = Child(self._env)
            except WorkerError:
                pass  # whoever needs it will be told
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
        older = [key for key in self._sources if key[0] == path][:-1]  # the last good version may still be in force
        for key in older:
            del self._sources[key]
        self._sources[path, digest] = source
        return msgspec.convert(answer["hooks"], list[HookDescription])

    def forget_all_but(self, paths: Container[str]) -> None:
        """Let a child that starts from now on load only these files."""
        for key in [key for key in self._sources if key[0] not in paths]:
            self._sources.pop(key, None)

    def run(self, hooks: Sequence[Hook], event: Event) -> list[Outcome]:
        """Run hooks of files that were loaded, in order; a hook that hangs or crashes costs only itself."""
        with self._lock:
            return self._run_all(tuple(hooks), event, [])

    def begin(self, hooks: tuple[Hook, ...], event: Event) -> "WorkerCall | None":
        """
        Start a run without waiting for anything; None when that cannot be promised (no warm child, or it is busy).

        Whoever gets a flight must `finish` it, in any thread.
        """
        if not self._lock.acquire(blocking=False):
            return None
        child = self._child
        try:
            is_ready = child and child.is_quiet and self._sources.keys() <= child.loaded
            if child and is_ready and child.ask(hooks, event, at_once=True):
                return WorkerCall(self, child, hooks, event)
        except WorkerError:
            self._end()
        self._lock.release()
        return None

    def close(self) -> None:
        with self._lock:
            self._end()

    def finish(self, flight: "WorkerCall") -> list[Outcome]:
        """Wait for the rest of a flight."""
        try:
            outcomes = self._collected(flight.child, flight.hooks)
            return self._run_all(flight.hooks, flight.event, outcomes)
        finally:
            self._lock.release()

    def _run_all(self, hooks: tuple[Hook, ...], event: Event, outcomes: list[Outcome]) -> list[Outcome]:
        while len(outcomes) < len(hooks):
            left = hooks[len(outcomes) :]
            start = time.monotonic()
            try:
                child = self._ready_child()
                child.ask(left, event)
                outcomes += self._collected(child, left)
            except WorkerError as error:  # it did not start, or went away before it had heard us out
                self._end()
                outcomes.append(Outcome(failure=Failure(error.kind, str(error)), seconds=time.monotonic() - start))
        return outcomes

    def _collected(self, child: Child, hooks: tuple[Hook, ...]) -> list[Outcome]:
        """The outcomes of a request, up to and including that of a hook which ended the child."""
        outcomes, error = child.collect(hooks)
        if error is not None:
            self._end()
        return outcomes

    def twin(self) -> "Worker":
        """Another child with the same files, for hooks that nobody waits for."""
        twin = Worker(self._env)
        twin._sources = self._sources
        return twin

    def _ready_child(self) -> Child:
        if not (self._child and self._child.is_alive) or self._is_full(self._child):
            self._end()  # one that is gone has left its pipes behind
            self._child = Child(self._env)
        for (path, digest), source in tuple(self._sources.items()):
            if (path, digest) not in self._child.loaded:
                self._child.load(path, digest, source)
        return self._child

    def _is_full(self, child: Child) -> bool:
        """Whether most of what the child has loaded is old: a child cannot unload a file."""
        return len(child.loaded) > 2 * len(self._sources) + OLD_FILES

    def _end(self) -> None:
        child, self._child = self._child, None
        if child:
            child.end()


class WorkerCall(msgspec.Struct, frozen=True):
    """Hooks that are running in the child."""

    worker: Worker
    child: Child
    hooks: tuple[Hook, ...]
    event: Event

    def is_done_within(self, seconds: float) -> bool:
        """Wait a moment; True when `finish` will not have to wait any more."""
        return self.child.has_finished(seconds)

    def finish(self) -> list[Outcome]:
        return self.worker.finish(self)
