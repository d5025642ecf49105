"""
One worker process: its pipes, and the shared memory with the number of the running hook.

The worker sends nothing for a hook without an opinion, so that most events cost one short line. The number of the
running hook tells the parent which hook exceeded its time limit.
"""

import mmap
import os
import select
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from snell.handlers.worker.child_main import UNNOTICEABLE, Address, RunRequest, decode_line, effects_from_data
from snell.handlers.worker.worker_error import WorkerError
from snell.model.decision import PRINTED, QUIET, Failure, Outcome
from snell.model.events import Event
from snell.model.hooks import Hook, PythonFile
from snell.system.json_output import json_bytes
from snell.system.orphan_processes import CHILDREN, Span
from snell.system.process_killer import kill_tree
from snell.system.process_tree import MARK_VARIABLE, Tree
from snell.system.recorded_runs import RUNS
from snell.system.run_program import environment

STARTING = 20.0  # a cold interpreter on a busy machine
LOADING = 10.0  # sending a file, while the child imports another one
LOOK_AGAIN = 0.1  # how often a waiting parent checks which hook is running
PLANS = 64  # sets of hooks that both sides keep by number
PIPE_SIZE = 60_000  # bytes that fit into an empty pipe without waiting

_NO_TIME = Span(start=1, end=0)  # a child serves many runs, so start times do not tell which processes are its own
_ENCODE = msgspec.json.Encoder(enc_hook=str).encode
_PROGRESS = struct.Struct("<I")


class Child:
    """A running worker process. The owner must `end` it."""

    def __init__(self, env: Mapping[str, str]) -> None:
        shared = _shared_memory()
        self._progress = mmap.mmap(shared, mmap.PAGESIZE)
        self.loaded: set[tuple[str, str]] = set()
        self._number = 0  # of the request; an answer with another number is an error
        self._buffer = b""
        self._mark = os.urandom(16).hex()  # in the environment, to find processes that a hook started
        self._plans: dict[int, tuple[int, tuple[Hook, ...]]] = {}
        self._last_plan = 0
        starting = CHILDREN.begin_span()  # until it is spared, it could be taken for an orphan
        paths = [path for path in sys.path if path]
        code = f"import sys; sys.path[:] = {paths!r}; from snell.handlers.worker.child_main import main; main()"
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", code, str(shared)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(env, {MARK_VARIABLE: self._mark}),
                start_new_session=True,
                pass_fds=[shared],
                bufsize=0,
            )
            self.pid = self._process.pid
            CHILDREN.spared.add(self.pid)
            RUNS.add(self.pid, self._mark)
        except OSError as error:
            raise WorkerError("launch", f"the worker did not start: {error}") from None
        finally:
            CHILDREN.end_span(starting)
            os.close(shared)
        assert self._process.stdin
        assert self._process.stdout
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)
        self._listening = select.poll()
        self._listening.register(self._from, select.POLLIN)

    @property
    def is_alive(self) -> bool:
        """Whether the process runs and has sent nothing unexpected."""
        return self.is_quiet and self._process.poll() is None

    @property
    def is_quiet(self) -> bool:
        """Whether nothing unexpected arrived, such as the end of the process."""
        return not self._buffer and not self._listening.poll(0)

    def load(self, path: str, digest: str, source: bytes) -> dict[str, Any]:
        text = source.decode("utf-8", "replace")
        self._send(json_bytes({"load": {"path": path, "digest": digest, "source": text}}) + b"\n", LOADING)
        line = self._line(time.monotonic() + STARTING)
        if line is None:
            raise WorkerError("timeout", "did not answer in time")
        answer: dict[str, Any] = self._decode(line)
        self.loaded.add((path, digest))
        return answer

    def send_request(self, hooks: tuple[Hook, ...], event: Event, *, at_once: bool = False) -> bool:
        """Send a request; with `at_once` only if that needs no waiting."""
        plan, addresses = self._plan(hooks)
        self._number += 1
        data = _encode_request(RunRequest(plan, self._number, event, addresses)) + b"\n"
        if at_once and len(data) > PIPE_SIZE:
            return False
        _PROGRESS.pack_into(self._progress, 0, 0)
        self._send(data, hooks[0].time_limit)
        return True

    def has_finished(self, seconds: float) -> bool:
        """Wait for the last line of the answer, at most this long."""
        deadline = time.monotonic() + seconds
        left = seconds
        while left > 0 and self._listening.poll(left * 1000):
            if not self._read() or self._buffer.startswith(b'{"done"') or b'\n{"done"' in self._buffer:
                return True  # or it ended, which `collect` notices
            left = deadline - time.monotonic()
        return False

    def collect(self, hooks: tuple[Hook, ...]) -> tuple[list[Outcome], WorkerError | None]:
        """Return all outcomes; if a hook broke the child, the outcomes up to that hook, and the error."""
        # The most frequent answer need not be decoded: no hook has an opinion.
        if self._buffer == b'{"done":[],"number":%d}\n' % self._number:
            self._buffer = b""
            return [QUIET] * len(hooks), None
        outcomes: dict[int, Outcome] = {}
        try:
            seconds = self._until_last_line(hooks, outcomes)
        except WorkerError as error:
            culprit = min(self._running(), len(hooks) - 1)
            outcomes[culprit] = Outcome(failure=Failure(error.kind, str(error)), seconds=hooks[culprit].time_limit)
            return [outcomes.get(index, QUIET) for index in range(culprit + 1)], error
        if not seconds:
            return [outcomes.get(index, QUIET) for index in range(len(hooks))], None
        quiet = [QUIET if spent < UNNOTICEABLE else Outcome(seconds=spent) for spent in seconds]
        return [outcomes.get(index, each) for index, each in enumerate(quiet)], None

    def end(self) -> None:
        # Also processes that a hook started in the background.
        kill_tree(Tree(self.pid, frozenset({self._mark}), _NO_TIME))
        with suppress(OSError):
            os.killpg(self.pid, 9)
        CHILDREN.spared.discard(self.pid)
        RUNS.remove(self.pid)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._progress.close()

    def _plan(self, hooks: tuple[Hook, ...]) -> tuple[int, tuple[Address, ...]]:
        """Return the number of these hooks, and their addresses if the child does not know them yet."""
        known = self._plans.get(id(hooks))
        if known and known[1] is hooks:
            return known[0], ()
        # A number that is used again replaces the hooks that the child knows by it.
        self._last_plan = self._last_plan % PLANS + 1
        self._plans = {key: each for key, each in self._plans.items() if each[0] != self._last_plan}
        self._plans[id(hooks)] = (self._last_plan, hooks)
        return self._last_plan, tuple(_address(hook) for hook in hooks)

    def _until_last_line(self, hooks: tuple[Hook, ...], outcomes: dict[int, Outcome]) -> list[float]:
        running, since = self._running(), time.monotonic()
        while True:
            now = self._running()
            if now != running:
                running, since = now, time.monotonic()
            limit = hooks[min(running, len(hooks) - 1)].time_limit
            deadline = since + limit
            line = self._line(min(deadline, time.monotonic() + LOOK_AGAIN))
            if line is None:
                if time.monotonic() >= deadline and self._running() == running:
                    raise WorkerError("timeout", f"did not finish within {limit:g} s")
                continue
            answer = self._decode(line)
            if not isinstance(answer, dict) or answer.get("number") != self._number:
                raise WorkerError("crash", "the worker sent an answer to no request")
            if "done" in answer:
                return list(answer["done"])
            outcomes[answer["hook"]] = _outcome(answer)

    def _running(self) -> int:
        return int(_PROGRESS.unpack_from(self._progress, 0)[0])

    def _send(self, data: bytes, limit: float) -> None:
        left = memoryview(data)
        deadline = time.monotonic() + limit
        while left:
            try:
                left = left[os.write(self._to, left) :]
            except BlockingIOError:
                if not _ready(self._to, select.POLLOUT, deadline - time.monotonic()):
                    raise WorkerError("timeout", "did not read its input in time") from None
            except OSError:
                raise WorkerError("crash", "the process of the Python hooks ended") from None

    def _line(self, deadline: float) -> bytes | None:
        """Return the next line; None when there is none before the deadline."""
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not self._listening.poll(left * 1000):
                return None
            if not self._read():
                raise WorkerError("crash", "the hook ended the worker process")
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _read(self) -> bool:
        try:
            chunk = os.read(self._from, 1 << 16)
        except BlockingIOError:
            return True
        self._buffer += chunk
        return bool(chunk)

    @staticmethod
    def _decode(line: bytes) -> Any:
        try:
            return decode_line(line)
        except ValueError:
            raise WorkerError("crash", "the hook wrote into the worker's answer") from None


def _shared_memory() -> int:
    """Return the descriptor of one page of shared memory, which the caller closes."""
    if sys.platform == "linux":
        descriptor = os.memfd_create("snell-hooks")
    else:
        import tempfile  # slow to import

        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.truncate(descriptor, mmap.PAGESIZE)
    return descriptor


def _ready(descriptor: int, event: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(max(seconds, 0) * 1000))


def _encode_request(request: RunRequest) -> bytes:
    try:
        return _ENCODE(request)
    except (ValueError, TypeError, OverflowError, RecursionError):  # values that only an embedding program can send
        return json_bytes({**msgspec.structs.asdict(request), "event": msgspec.structs.asdict(request.event)})


def _address(hook: Hook) -> Address:
    handler = hook.handler
    assert isinstance(handler, PythonFile)
    return handler.path, handler.digest, handler.function


def _outcome(answer: dict[str, Any]) -> Outcome:
    remarks = tuple(f"{PRINTED}{line}" for line in answer.get("printed", "").splitlines())
    if "error" in answer:
        return Outcome(failure=Failure("crash", answer["error"]), seconds=answer["seconds"], remarks=remarks)
    return Outcome(effects=effects_from_data(answer.get("effects", [])), seconds=answer["seconds"], remarks=remarks)
