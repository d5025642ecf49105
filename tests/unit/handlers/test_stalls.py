"""A caller that cancels a call to a server does not wait for that server, and nothing of the call stays behind."""

import asyncio
import threading
from pathlib import Path

import pytest

from snell.handlers.agent import Agent
from snell.handlers.command import Command
from snell.handlers.prompt import Prompt
from snell.handlers.webhook import Webhook
from snell.model.context import Context, HandlerSettings, ModelSettings
from snell.model.decision import Failure, Outcome
from snell.model.hooks import Hook
from snell.runtime.app import Runtime
from snell.system.address_policy import Target
from snell.system.deadline import Deadline
from snell.system.http_client import Call, send_request
from tests.handler_helpers import USER, outcome_of
from tests.helpers import call
from tests.loopback import Answer, serving
from tests.stalling import HANG_SECONDS, black_hole, stalling

CANCELLED = Outcome(failure=Failure("cancelled", "was cancelled"))
LARGE = "x" * 8_000_000


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("kind", ["webhook", "prompt", "agent"])
def test_a_stalled_write_and_a_stalled_handshake_end_when_they_are_cancelled(kind, scheme):
    cancel = threading.Event()
    before = set(threading.enumerate())
    with stalling(cancel.set) as server:
        url = f"{scheme}://127.0.0.1:{server.port}"
        handler = {"webhook": Webhook(url), "prompt": Prompt("$ARGUMENTS"), "agent": Agent("$ARGUMENTS")}[kind]
        model = ModelSettings(url=url, api="anthropic", max_input_characters=100_000_000)
        context = Context(settings=HandlerSettings(model), cancel=cancel)
        outcome = outcome_of(handler, call(LARGE), context=context, timeout=HANG_SECONDS)
        assert (outcome, server.is_left()) == (CANCELLED, True)
    assert set(threading.enumerate()) - before == set()


def test_a_task_that_is_cancelled_leaves_no_call_and_no_program_behind(tmp_path):
    mark = tmp_path / "begun"
    command = Command(f"echo $$ > {mark}.part; mv {mark}.part {mark}; exec sleep 600")
    taken = threading.Event()

    async def main():
        hooks = [Hook(id=kind, event="PreToolUse", handler=made, source=USER) for kind, made in handlers.items()]
        runtime = Runtime.embed(*hooks, env={"PATH": "/usr/bin:/bin"})
        task = asyncio.create_task(runtime.decide_async(call()))
        async with asyncio.timeout(HANG_SECONDS):
            while not (taken.is_set() and mark.exists()):  # noqa: ASYNC110 - a program and a thread say so
                await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        runtime.close()

    with stalling(taken.set) as server:
        handlers = {"command": command, "webhook": Webhook(f"https://127.0.0.1:{server.port}")}
        asyncio.run(main())
        assert server.is_left()
    assert not Path(f"/proc/{mark.read_text(encoding='utf-8').strip()}").exists()


def test_the_next_address_of_a_name_is_called_when_the_first_does_not_connect():
    with serving(Answer("here")) as server, black_hole(port=server.port, address="127.0.0.2"):
        target = Target("http", "twice.example", server.port, "/", ("127.0.0.2", "127.0.0.1"))
        with send_request(Call("POST", target), Deadline(HANG_SECONDS)) as response:
            assert response.read_all(100) == b"here"
    (request,) = server.sent
    assert request.headers["host"] == f"twice.example:{server.port}"
