"""When the daemon does what can wait."""

import json
import time
from collections.abc import Callable

import pytest

from snell.daemon import request_handler
from snell.daemon.request_handler import MOST_DELAYED, TOGETHER, RequestHandler
from snell.daemon.wire import Request
from snell.model.decision import Decision
from snell.runtime.app import Runtime


class Kept:
    """A journal that remembers which decisions it was told of."""

    def __init__(self) -> None:
        self.committed: list[str] = []
        self.recorded: list[str] = []

    def commit(self, decision: Decision, key: str) -> None:
        self.committed.append(decision.id)

    def record(self, *records: dict[str, object]) -> None:
        self.recorded += [str(each["id"]) for each in records]

    def add_late(self, decision_id: str, run: dict[str, object]) -> None: ...

    def close(self) -> None: ...


class Loop:
    """What an event loop has been asked for, done when the test says so."""

    def __init__(self) -> None:
        self.later: list[Callable[[], None]] = []

    def call_later(self, _seconds: float, job: Callable[[], None]) -> None:
        self.later.append(job)

    def call_soon(self, job: Callable[[], None]) -> None:
        self.later.append(job)

    def turn(self) -> None:
        jobs, self.later = self.later, []
        for job in jobs:
            job()


class Desk:
    def __init__(self) -> None:
        self.journal = Kept()
        self.loop = Loop()
        self.service = RequestHandler(Runtime.embed(journal=self.journal))
        self.number = 0

    def start(self) -> None:
        self.service.start(self.loop)  # type: ignore[arg-type] # it has what is needed of one

    def serve(self, times: int = 1) -> None:
        for _ in range(times):
            self.number += 1
            payload = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}).encode()
            request = Request("1 0.1.0", f"{self.number:032x}", "/", (), b"", payload)
            assert self.service.serve(request, lambda _: None) is None


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(request_handler, "QUIET_FOR", 3600.0)
    monkeypatch.setattr(request_handler, "LONGEST_DELAY", 7200.0)
    return Desk()


def test_what_can_wait_waits_while_others_come(desk: Desk) -> None:
    desk.start()
    for _ in range(5):
        desk.serve()
        desk.loop.turn()
    assert (len(desk.journal.committed), desk.journal.recorded) == (5, [])
    assert len(desk.loop.later) == 1, "a timer has to look again"


def test_it_is_done_in_a_quiet_moment(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.start()
    desk.serve(3)
    monkeypatch.setattr(request_handler, "QUIET_FOR", 0.0)
    desk.loop.turn()
    assert desk.journal.recorded == desk.journal.committed


def test_it_is_done_however_busy_we_are_after_a_while(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_handler, "LONGEST_DELAY", 0.0)
    desk.start()
    desk.serve()
    desk.loop.turn()
    assert desk.journal.recorded == desk.journal.committed


def test_when_it_has_waited_for_long_a_short_pause_is_enough(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.start()
    desk.serve(2)
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + request_handler.LONGEST_DELAY + 1)
    desk.serve()  # it would wait for an hour after this one
    desk.loop.turn()
    assert desk.journal.recorded == []
    monkeypatch.setattr(request_handler, "PAUSE", 0.0)
    desk.loop.turn()
    assert desk.journal.recorded == desk.journal.committed


def test_it_is_done_a_few_at_a_time_when_there_is_much_of_it(desk: Desk) -> None:
    desk.start()
    desk.serve(MOST_DELAYED)
    desk.loop.turn()
    assert len(desk.journal.recorded) == TOGETHER
    while desk.loop.later:
        desk.loop.turn()
    assert desk.journal.recorded == desk.journal.committed


def test_what_came_before_there_was_a_loop_is_done_in_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.serve()
    assert desk.loop.later == []
    monkeypatch.setattr(request_handler, "QUIET_FOR", 0.0)
    desk.start()
    desk.loop.turn()
    assert desk.journal.recorded == desk.journal.committed
