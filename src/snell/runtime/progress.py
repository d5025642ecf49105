"""
Deciding while somebody watches, and deciding for somebody who cannot.

An interactive caller sees every hook start and end, reads status messages, and may cancel. A batch caller gets all
outcomes at once and cannot cancel; hooks that need a model are refused there.
"""

import threading
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from snell.model.decision import Decision, Outcome
from snell.model.events import Event
from snell.model.progress import Progress
from snell.runtime.decision_drivers import run_decision, run_decision_async

if TYPE_CHECKING:
    import asyncio

    from snell.runtime.app import EventRun, Runtime


class DecisionProgress:
    """`async for progress in streaming`; the last one carries the decision. `cancel` works from any thread."""

    def __init__(self, runtime: "Runtime", event: Event, request_id: str = "") -> None:
        self.decision: Decision | None = None
        self._runtime = runtime
        self._event = event
        self._request_id = request_id
        self._cancel = threading.Event()

    def cancel(self) -> None:
        """Stop the hooks that still run; each then counts as cancelled, by its failure policy."""
        self._cancel.set()

    async def __aiter__(self) -> AsyncIterator[Progress]:
        import asyncio  # slow to import, and few callers watch

        work = self._runtime.prepare(self._event, self._request_id)
        self.decision = work.earlier
        if not work.earlier:
            loop = asyncio.get_running_loop()
            news: asyncio.Queue[Progress | None] = asyncio.Queue()
            deciding = asyncio.ensure_future(self._drive(work, news, loop))
            deciding.add_done_callback(lambda _: news.put_nowait(None))
            try:
                while (progress := await news.get()) is not None:
                    yield progress
            finally:
                if not deciding.done():  # nobody listens any more, but the event is decided all the same
                    self.cancel()
                self.decision = self._runtime.commit(work, await deciding)
                self._runtime.after_reply(work, self.decision)
        yield Progress("decided", decision=self.decision)

    async def _drive(
        self, work: "EventRun", news: "asyncio.Queue[Progress | None]", loop: "asyncio.AbstractEventLoop"
    ) -> Decision:
        def show(progress: Progress) -> None:
            loop.call_soon_threadsafe(news.put_nowait, progress)

        executor = work.place.executor
        return await run_decision_async(
            work.steps(), executor.for_event(replace(executor.around, progress=show, cancel=self._cancel))
        )


def run_batch(runtime: "Runtime", event: Event, request_id: str = "") -> list[Outcome]:
    """All outcomes of an event, in the order of the rounds and of the book."""
    work = runtime.prepare(event, request_id)
    executor = work.place.executor
    decision = work.earlier
    if decision is None:
        decision = runtime.commit(
            work, run_decision(work.steps(), executor.for_event(replace(executor.around, is_interactive=False)))
        )
    runtime.after_reply(work, decision)
    return [outcome for _, _, outcome in decision.runs()]
