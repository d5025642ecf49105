"""Interactive callers see progress and may cancel; batch callers get a list."""

import asyncio
import threading

import pytest
from msgspec.structs import replace

from snell import Deny, Note
from snell.handlers.agent import Agent
from snell.handlers.command import Command
from snell.handlers.prompt import Prompt
from snell.handlers.webhook import Webhook
from snell.model.context import Progress
from snell.model.decision import Failure, Outcome
from snell.model.events import Event
from snell.model.hooks import Hook, Inline
from snell.runtime.app import Runtime
from tests.handler_helpers import asking
from tests.helpers import call
from tests.loopback import Answer, serving
from tests.model_server import Line, model

HANG_BOUND = 20


def hook(id_: str, handler, **fields) -> Hook:
    return Hook(**{"id": id_, "event": "PreToolUse", "handler": handler, "timeout": 10.0, **fields})


async def seen(runtime: Runtime, event: Event) -> list[Progress]:
    return [progress async for progress in runtime.stream(event)]


@pytest.mark.proves("S1-80", "S1-149")
def test_every_kind_of_hook_starts_and_ends_before_the_eyes_of_the_caller():
    with serving(Answer({"additionalContext": "web"})) as server, model([Line('{"ok": true}')] * 2) as asked:
        runtime = Runtime.embed(
            hook("function", Inline(lambda event: Note("here")), status_message="thinking"),
            hook("program", Command("echo '{}'"), status_message="running"),
            hook("web", Webhook(server.url), status_message="calling"),
            hook("model", Prompt("?"), status_message="asking"),
            hook("agent", Agent("?"), status_message="looking"),
            settings=asking(asked).settings,
        )
        progress = asyncio.run(seen(runtime, call(cwd="/")))
        runtime.close()
    started = {each.hook: each.status_message for each in progress if each.stage == "started"}
    completed = {each.hook: each.outcome.status for each in progress if each.stage == "completed"}
    assert started == {
        "function": "thinking",
        "program": "running",
        "web": "calling",
        "model": "asking",
        "agent": "looking",
    }
    assert completed == dict.fromkeys(started, "success")
    last = progress[-1]
    assert (last.stage, last.decision.note) == ("decided", "here\nweb")


@pytest.mark.proves("S1-149")
def test_cancelling_ends_what_runs_and_the_event_is_decided_all_the_same():
    async def watch() -> tuple[list[str], str]:
        streaming = runtime.stream(call(cwd="/"))
        stages = []
        async for progress in streaming:
            stages.append(progress.stage)
            if stages.count("started") == 3:
                streaming.cancel()
        outcomes = [outcome.status for _, _, outcome in streaming.decision.runs()]
        return outcomes, str(streaming.decision.verdict)

    async def forever(event):
        await asyncio.sleep(1_000)

    with serving(Answer(before=1_000)) as server:
        runtime = Runtime.embed(
            hook("function", Inline(forever)), hook("program", Command("sleep 1000")), hook("web", Webhook(server.url))
        )
        found = asyncio.run(asyncio.wait_for(watch(), HANG_BOUND))
        runtime.close()
    assert found == (["cancelled"] * 3, "no_opinion")


def test_a_caller_that_stops_listening_has_its_event_decided_and_recorded():
    async def leave() -> object:
        streaming = runtime.stream(call(tool_use_id="t1", cwd="/"))
        listening = aiter(streaming)
        await anext(listening)
        await listening.aclose()
        return streaming.decision

    runtime = Runtime.embed(hook("program", Command("sleep 1000")))
    decision = asyncio.run(asyncio.wait_for(leave(), HANG_BOUND))
    again = runtime.decide(call(tool_use_id="t1", cwd="/"))
    runtime.close()
    assert again is decision
    assert [failure.text for failure in decision.failures] == ["was cancelled"]


def test_a_delivery_that_was_decided_streams_its_decision_again():
    runtime = Runtime.embed(hook("no", Inline(lambda event: Deny("no"))))
    first = runtime.decide(call(tool_use_id="t1"))
    assert asyncio.run(seen(runtime, call(tool_use_id="t1"))) == [Progress("decided", decision=first)]


@pytest.mark.proves("S1-150", "S1-151")
def test_a_batch_caller_gets_all_outcomes_as_a_list_and_model_hooks_are_refused():
    with serving(Answer()) as server, model([]) as asked:
        runtime = Runtime.embed(
            hook("function", Inline(lambda event: Note("here"))),
            hook("program", Command("exit 0")),
            hook("web", Webhook(server.url)),
            hook("model", Prompt("?")),
            hook("agent", Agent("?")),
            settings=asking(asked).settings,
        )
        outcomes = [replace(each, seconds=0.0) for each in runtime.run_batch(call(cwd="/"))]
        runtime.close()
    assert outcomes == [
        Outcome((Note("here"),)),
        Outcome(),
        Outcome(),
        Outcome(
            failure=Failure(
                "launch",
                "a prompt hook does not run in a session without a user; `in_batch = true` in `[model]` allows it",
            )
        ),
        Outcome(
            failure=Failure(
                "launch",
                "an agent hook does not run in a session without a user; `in_batch = true` in `[model]` allows it",
            )
        ),
    ]
    assert (len(server.sent), asked.sent) == (1, [])


@pytest.mark.proves("S1-150")
@pytest.mark.parametrize(
    ("client", "entrypoint", "is_refused"),
    [
        ("claude_code", "sdk-cli", True),
        ("claude_code", "cli", False),
        ("claude_code", "", False),
        ("generic", "sdk-cli", False),
    ],
)
@pytest.mark.parametrize("in_batch", [False, True])
def test_a_client_that_runs_headless_is_a_batch_caller_unless_the_settings_say_otherwise(
    client, entrypoint, is_refused, in_batch
):
    with model([Line('{"ok": true}')]) as asked:
        runtime = Runtime.embed(
            hook("model", Prompt("?")),
            settings=asking(asked, in_batch=in_batch).settings,
            env={"CLAUDE_CODE_ENTRYPOINT": entrypoint},
        )
        decision = runtime.decide(replace(call(cwd="/"), client=client))
        runtime.close()
    assert bool(decision.failures) is (is_refused and not in_batch)


def test_an_embedding_program_states_that_no_user_watches():
    with model([]) as asked:
        runtime = Runtime.embed(hook("model", Prompt("?")), settings=asking(asked).settings, is_interactive=False)
        decision = runtime.decide(call())
    assert [failure.text for failure in decision.failures] == [
        "a prompt hook does not run in a session without a user; `in_batch = true` in `[model]` allows it"
    ]


def test_twenty_webhooks_wait_beside_each_other_not_one_after_the_other():
    """Each answers only when all twenty are there, so they must all be on their way at once."""
    gate = threading.Barrier(20)

    def together(_sent) -> Answer:
        gate.wait(HANG_BOUND)
        return Answer({"additionalContext": "x"})

    with serving(together) as server:
        hooks = [hook(f"w{n}", Webhook(f"{server.url}/{n}")) for n in range(20)]
        runtime = Runtime.embed(*hooks)
        decision = runtime.decide(call())
        runtime.close()
    assert len(decision.notes) == 20
