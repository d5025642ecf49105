"""
Deciding with and without progress.

An interactive caller sees every hook start and end, reads status messages, and may cancel. A batch caller gets all
outcomes at once and cannot cancel; hooks that need a model are refused there.
"""

import threading
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from snell.model.context import Progress
from snell.model.decision import Decision, Outcome
from snell.model.events import Event
from snell.runtime.event_flow import run_decision_async

if TYPE_CHECKING:
    from snell.runtime.app import Runtime


class DecisionProgress:
    """Iterate with `async for`; the last progress has the decision. `cancel` works from any thread."""

    def __init__(self, runtime: "Runtime", event: Event, request_id: str = "") -> None:
        self.decision: Decision | None = None
        self._runtime = runtime
        self._event = event
        self._request_id = request_id
        self._cancel = threading.Event()

    def cancel(self) -> None:
        """Stop the hooks that still run; each is then cancelled, which its failure policy judges."""
        self._cancel.set()

    async def __aiter__(self) -> AsyncIterator[Progress]:
        import asyncio  # slow to import, and few callers watch

        loop = asyncio.get_running_loop()
        news: asyncio.Queue[Progress | None] = asyncio.Queue()

        def show(progress: Progress) -> None:
            loop.call_soon_threadsafe(news.put_nowait, progress)

        runtime = self._runtime
        work = runtime.prepare(self._event, self._request_id, progress=show, cancel=self._cancel)
        self.decision = work.earlier
        if work.deciding:
            deciding = asyncio.ensure_future(run_decision_async(work.deciding, runtime.executor, work.context))
            deciding.add_done_callback(lambda _: news.put_nowait(None))
            try:
                while (progress := await news.get()) is not None:
                    yield progress
            finally:
                if not deciding.done():  # the caller has stopped listening, but the event is decided all the same
                    self.cancel()
                self.decision = runtime.commit(work, await deciding)
                runtime.after_reply(work, self.decision)
        yield Progress("decided", decision=self.decision)


def run_batch(runtime: "Runtime", event: Event, request_id: str = "") -> list[Outcome]:
    """Return all outcomes of an event, in the order of the rounds and of the hooks."""
    work = runtime.prepare(event, request_id, is_interactive=False)
    decision = work.earlier or runtime.commit(work, runtime.run_to_end(work))
    runtime.after_reply(work, decision)
    return [outcome for _, _, outcome in decision.runs()]
