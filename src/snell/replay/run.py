"""Decide sessions again in several processes, and collect what became of their events."""

import multiprocessing
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from itertools import chain, islice

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from snell.model.errors import SnellError
from snell.replay.process import Prepared, Variant, begin, replay_session
from snell.replay.recorded_event import RecordedEvent, Replayed, SessionResult, pack_events

Progress = Callable[[int], None]
# The place and the number of events of each session that is being decided.
_Waiting = dict["Future[tuple[bytes, Prepared]]", tuple[int, int]]
_decode = msgspec.msgpack.Decoder(SessionResult).decode


class Report(Struct):
    """All events that were decided again, in the order in which they happened."""

    events: list[Replayed]
    skipped: dict[str, int] = {}
    failed: dict[str, int] = {}
    not_denied: tuple[str, ...] = ()  # what this system could not deny to hooks


def replay_all(
    sessions: Iterable[Sequence[RecordedEvent]], variant: Variant, env: Mapping[str, str], progress: Progress
) -> Report:
    """Decide all sessions again, as many at a time as there are processors."""
    with tempfile.TemporaryDirectory(prefix="snell-replay-", ignore_cleanup_errors=True) as scratch:
        variant = replace(variant, scratch=os.path.realpath(scratch))
        context = multiprocessing.get_context("spawn")
        number = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        with ExitStack() as stack:
            pools = [
                stack.enter_context(ProcessPoolExecutor(1, context, begin, (variant, dict(env)))) for _ in range(number)
            ]
            try:
                return _collect(pools, iter(sessions), progress)
            except BrokenProcessPool:
                advice = "leave out sessions with `--session` or hooks with `--without` to find the cause"
                raise SnellError("a process of the replay ended", advice=advice) from None


def _collect(
    pools: Sequence[ProcessPoolExecutor], sessions: Iterator[Sequence[RecordedEvent]], progress: Progress
) -> Report:
    """Give each session to the process with the fewest events; a hook that keeps something finds the same each time."""
    skipped, failed, open_rights = Counter[str](), Counter[str](), set[str]()
    results: list[list[Replayed]] = []
    given = [0] * len(pools)
    waiting: _Waiting = {}
    done = 0
    while True:
        for each in islice(sessions, 4 * len(pools) - len(waiting)):
            place = given.index(min(given))
            given[place] += len(each)
            waiting[pools[place].submit(replay_session, pack_events(each))] = (len(results), len(each))
            results.append([])
        if not waiting:
            break
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            packed, prepared = future.result()
            if prepared.problem:
                raise SnellError(prepared.problem)
            found = _decode(packed)
            skipped.update(found.skipped)
            failed.update(found.failed)
            open_rights.update(prepared.not_denied)
            number, size = waiting.pop(future)
            results[number] = found.events
            done += size
            progress(done)
    events = sorted(chain.from_iterable(results), key=lambda each: (each.at, each.session, each.id, each.number))
    return Report(events, dict(sorted(skipped.items())), dict(sorted(failed.items())), tuple(sorted(open_rights)))
