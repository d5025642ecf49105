"""
Where the microseconds of one event go: `python3 dev.py bench --profile [FILE.svg]`.

A runtime and a request handler in this process serve new and repeated commands, as the daemon does. A timer of CPU time
interrupts them and notes the stack, which costs so little that the figures hold. The table has the CPU microseconds
before and after the reply by part; the flame graph has every function. Caches are warm here: in a daemon that serves an
event every now and then, the same code takes two to four times as long.
"""

import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import FrameType

import msgspec

from bench.events import VARIABLES, event_payloads
from bench.flame import Stack, write_flame_graph
from snell.daemon.request_handler import TOGETHER, RequestHandler
from snell.daemon.shim_connection import encode_request
from snell.daemon.wire import Request, encode_reply
from snell.model.protocols import Reply
from snell.runtime.app import Runtime
from snell.system.paths import places

EVENTS, WARM_UP = 2_000, 200
EVERY = 0.0005  # seconds of CPU time between two samples
BEFORE, AFTER = "before the reply", "after the reply"
SOURCE = f"{Path(sys.modules['snell'].__file__ or '').parent}/"
# The part that a function belongs to, by the beginning of its path; the outermost one that is listed here counts.
PARTS = {
    "daemon/wire.py": "frame: decode, encode",
    "runtime/hook_request.py": "arguments, payload: decode",
    "clients/": "reply: encode for the client",
    "runtime/context.py": "context: settings, environment, ids",
    "engine/registry.py": "hooks: pick",
    "engine/record.py": "trace: build the record",
    "runtime/event_flow.py:delivery_key": "dedupe key",
    "runtime/event_flow.py:commit": "row of the decision",
    "runtime/database_journal.py": "trace: redact, encode, write",
    "runtime/watchers.py:jobs_after": "watchers: prepare",
    "runtime/watchers.py:enter_late": "watchers: enter",
}


class Profile(msgspec.Struct, frozen=True):
    """CPU microseconds of one event, by part and by stack."""

    parts: dict[tuple[str, str], float]  # by when and part
    stacks: dict[Stack, int]
    whole: dict[str, float]  # by when


def main(words: Sequence[str]) -> int:
    """Print the tables for new and for repeated commands, and write the flame graph of new ones."""
    path = Path(words[0] if words else "build/profile.svg")
    found = {name: profile(is_new=name == "new") for name in ("new", "repeated")}
    for line in table(found):
        print(line)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_flame_graph(path, found["new"].stacks, "one new command, before and after the reply")
    print(f"flame graph of a new command: {path}")
    return 0


def table(found: Mapping[str, Profile]) -> Iterator[str]:
    """Yield the lines of a table with a column for each profile, the dearest part first."""
    yield f"{'CPU microseconds of one event, caches warm':<48}" + "".join(f"{name:>10}" for name in found)
    for when in (BEFORE, AFTER):
        yield f"{when:<48}" + "".join(f"{each.whole[when]:10.0f}" for each in found.values())
        parts = {part for each in found.values() for at, part in each.parts if at == when}
        for part in sorted(parts, key=lambda part: -max(each.parts.get((when, part), 0) for each in found.values())):
            figures = [each.parts.get((when, part), 0.0) for each in found.values()]
            if max(figures) >= 1:
                yield f"  {part:<46}" + "".join(f"{figure:10.0f}" for figure in figures)


def profile(*, is_new: bool, events: int = EVENTS) -> Profile:
    """Serve events in this process, and note where the time goes."""
    with tempfile.TemporaryDirectory(prefix="snell-bench-") as folder:
        env = {"PATH": os.environ["PATH"], "HOME": folder, "SNELL_HOME": folder}
        requests = _requests(Path(folder), env, is_new=is_new)
        with Runtime.for_user(env, places(env), keep_open=True) as runtime:
            handler = RequestHandler(runtime)
            _serve(handler, list(islice(requests, WARM_UP)), Sampler())
            frames, sampler = list(islice(requests, events)), Sampler()
            sampler.start()
            try:
                spent = _serve(handler, frames, sampler)
            finally:
                sampler.stop()
    return _summarize(sampler, {when: seconds / events for when, seconds in spent.items()})


def _summarize(sampler: "Sampler", whole: Mapping[str, float]) -> Profile:
    counts: Counter[tuple[str, str]] = Counter()
    for (when, *frames), samples in sampler.stacks.items():
        counts[when, part_of(frames)] += samples
    seen = {when: sum(samples for (at, _), samples in counts.items() if at == when) for when in whole}
    parts = {(when, part): whole[when] * 1e6 * n / max(seen[when], 1) for (when, part), n in counts.items()}
    stacks = {(when, *map(_short, frames)): n for (when, *frames), n in sampler.stacks.items()}
    return Profile(parts, stacks, {when: seconds * 1e6 for when, seconds in whole.items()})


def part_of(frames: Sequence[str]) -> str:
    """Return the part to which a stack belongs; `frames` are `path:function`, the outermost first."""
    for frame in frames:
        if frame.startswith("packs/"):
            return f"hook {frame.removeprefix('packs/').partition('.py')[0]}"
        for beginning, part in PARTS.items():
            if frame.startswith(beginning):
                return part
    return "the rest: handler, engine, executor"


def _short(frame: str) -> str:
    path, _, function = frame.rpartition(":")
    return f"{path.removesuffix('.py')}:{function}"


def _requests(folder: Path, env: Mapping[str, str], *, is_new: bool) -> Iterator[bytes]:
    variables = {**env, **{f"VARIABLE_{number}": "x" * 40 for number in range(VARIABLES - len(env))}}
    joined = "\0".join(f"{name}={value}" for name, value in variables.items()).encode()
    for payload in event_payloads(folder, is_new=is_new):
        identity = os.urandom(16).hex().encode()
        yield encode_request(identity, b"0.1.0", str(folder).encode(), b"--client\0claude-code", joined, payload)


def _serve(handler: RequestHandler, frames: Sequence[bytes], sampler: "Sampler") -> dict[str, float]:
    """Serve all; return the CPU seconds before and after the replies."""
    spent, replies = {BEFORE: 0.0, AFTER: 0.0}, list[Reply]()
    for first in range(0, len(frames), TOGETHER):
        began = time.thread_time()
        sampler.when = BEFORE
        for frame in frames[first : first + TOGETHER]:
            if handler.serve(Request.decode(frame), replies.append):
                raise RuntimeError("a hook had to wait, so this event has no time of its own")
            encode_reply(replies.pop())
        replied, sampler.when = time.thread_time(), AFTER
        handler.follow_up(all_at_once=True)
        spent[BEFORE] += replied - began
        spent[AFTER] += time.thread_time() - replied
    return spent


class Sampler:
    """Counts call stacks, at a fixed interval of CPU time."""

    def __init__(self) -> None:
        self.stacks: Counter[Stack] = Counter()
        self.when = BEFORE

    def start(self) -> None:
        signal.signal(signal.SIGPROF, self._note)
        signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)

    def _note(self, _number: int, frame: FrameType | None) -> None:
        names = []
        while frame is not None:
            path = frame.f_code.co_filename
            if path.startswith(SOURCE):
                names.append(f"{path[len(SOURCE) :]}:{frame.f_code.co_name}")
            frame = frame.f_back
        self.stacks[self.when, *reversed(names)] += 1
