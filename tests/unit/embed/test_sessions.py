"""A runner reports its complete session: events to hooks in their order, notices to listeners."""

import asyncio

import msgspec
import pytest

from snell import Deny, HookMatcher, Note, Rewrite, Runtime, Stop, ToolRunner, Verdict
from snell.embed import (
    AuthRequired,
    Error,
    HookExecuted,
    IterationEnd,
    Notice,
    PromptResult,
    SessionInfo,
    Status,
    Text,
    Thinking,
    ToolCalled,
    ToolReturned,
    WorkProduct,
)
from snell.embed.runner import CLOSED
from snell.handlers.command import Command
from snell.model.catalogue import CATALOGUE
from snell.model.hooks import Hook

SESSION = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "SubagentStart",
    "PreToolUse",
    "PostToolUseFailure",
    "SubagentStop",
    "PreCompact",
    "Notification",
    "Stop",
    "SessionEnd",
]


def echo(text):
    return text


def fail():
    raise OSError("broken")


def recording(seen):
    return {name: [HookMatcher(None, [lambda event: seen.append(event.name)])] for name in CATALOGUE}


@pytest.mark.proves("S1-15")
def test_the_events_of_a_whole_session_come_in_their_order():
    seen = []
    runner = ToolRunner([echo, fail], hooks=recording(seen))
    with runner.session():
        runner.submit("hello")
        runner.run("echo", {"text": "hi"})
        with runner.subagent("helper") as helper:
            helper.run("fail", {})
        runner.fire("PreCompact", trigger="auto")
        runner.fire("Notification", message="still there", notification_type="idle_prompt")
        runner.stop()
    assert seen == SESSION


@pytest.mark.proves("S1-15")
def test_the_events_of_a_whole_session_come_in_their_order_inside_an_event_loop():
    seen = []
    runner = ToolRunner([echo, fail], hooks=recording(seen))

    async def session():
        async with runner.session_async():
            await runner.submit_async("hello")
            await runner.run_async("echo", {"text": "hi"})
            async with runner.subagent_async("helper") as helper:
                await helper.run_async("fail", {})
            await runner.fire_async("PreCompact", trigger="auto")
            await runner.fire_async("Notification", message="still there", notification_type="idle_prompt")
            await runner.stop_async()

    asyncio.run(session())
    assert seen == SESSION


def test_a_session_that_breaks_off_has_ended_all_the_same():
    seen = []
    runner = ToolRunner(hooks=recording(seen))
    with pytest.raises(OSError, match="broken"), runner.session():
        fail()
    assert seen == ["SessionStart", "SessionEnd"]


def test_the_guards_of_a_runner_outlive_its_session():
    def guard(event):
        return Deny("no")

    runner = ToolRunner([echo], hooks={"PreToolUse": [HookMatcher("*", [guard])]})
    for _ in range(2):
        with runner.session():
            assert runner.run("echo", {"text": "hi"}).status == "refused"
    assert runner.run("echo", {"text": "hi"}).status == "refused"


@pytest.mark.parametrize(
    ("answer", "submitted", "text"),
    [
        (None, PromptResult(prompt="hi"), "hi"),
        (Rewrite("ho"), PromptResult(prompt="ho"), "ho"),
        (Note("it is late"), PromptResult(prompt="hi", notes=("it is late",)), "hi\nit is late"),
        (Deny("no"), PromptResult(prompt="hi", refusal="no"), "hi"),
        (Stop("enough"), PromptResult(prompt="hi", refusal="enough", stop="enough"), "hi"),
    ],
)
def test_a_prompt_may_be_reworded_commented_on_and_refused(answer, submitted, text):
    runner = ToolRunner(hooks={"UserPromptSubmit": [HookMatcher("*", [lambda prompt: answer])]})
    assert runner.submit("hi") == submitted
    assert asyncio.run(runner.submit_async("hi ")).text == text.replace("hi", "hi ")


def test_an_agent_that_wants_to_stop_may_be_kept_going_and_hooks_know_it_was():
    seen = []

    def once(event):
        seen.append((event.name, event.is_continuation))
        return None if event.is_continuation else Deny("run the tests")

    runner = ToolRunner(hooks={name: [HookMatcher(None, [once])] for name in ("Stop", "SubagentStop")})
    assert [runner.stop(), runner.stop()] == ["run the tests", ""]
    with runner.subagent("helper") as helper:
        assert [helper.stop(), asyncio.run(helper.stop_async())] == ["run the tests", ""]
    assert seen == [("Stop", False), ("Stop", True), ("SubagentStop", False), ("SubagentStop", True)]


def test_a_sub_agent_has_hooks_of_its_own_which_go_with_it():
    seen = []

    def own(event):
        seen.append((event.name, event.agent_id, event.payload["agent_type"]))
        return Note("from its own hook") if event.name == "PreToolUse" else None

    runner = ToolRunner([echo])
    hooks = {name: [HookMatcher(None, [own])] for name in ("SubagentStart", "PreToolUse", "SubagentStop")}
    with runner.subagent("helper", hooks) as helper, runner.subagent("other", {}) as other:
        assert helper.run("echo", {"text": "hi"}).text == "hi\nfrom its own hook"
        assert other.run("echo", {"text": "hi"}).text == "hi"
        assert runner.run("echo", {"text": "hi"}).text == "hi"
        id_ = helper.at.agent_id
    assert seen == [(name, id_, "helper") for name in hooks]
    assert helper.run("echo", {"text": "hi"}).error == CLOSED
    assert runner.runtime.unregister(group=id_) == 0


@pytest.mark.parametrize("is_async", [True, False])
def test_a_sub_agent_that_fails_has_stopped_and_its_hooks_are_gone(is_async):
    seen, ids = [], []
    watch = HookMatcher(None, [lambda event: seen.append(event.name)])
    runner = ToolRunner(hooks={name: [watch] for name in ("SubagentStart", "SubagentStop")})

    async def fails_later():
        async with runner.subagent_async("helper", {"PreToolUse": [watch]}) as helper:
            ids.append(helper.at.agent_id)
            raise ZeroDivisionError

    def fails():
        with runner.subagent("helper", {"PreToolUse": [watch]}) as helper:
            ids.append(helper.at.agent_id)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(fails_later()) if is_async else fails()
    assert (seen, runner.unregister(ids[0])) == (["SubagentStart", "SubagentStop"], 0)


@pytest.mark.parametrize("owns_runtime", [True, False])
def test_the_hooks_of_a_sub_agent_see_whatever_is_below_it_and_nothing_beside_it(owns_runtime):
    refuses = {"PreToolUse": [HookMatcher("*", [lambda event: Deny("only looking")])]}
    with Runtime.embed() as runtime:
        runner = ToolRunner([echo], runtime=None if owns_runtime else runtime)
        with runner.subagent("reviewer", refuses) as reviewer, runner.subagent("other") as other:
            with reviewer.subagent("helper") as helper, helper.subagent("helpers-helper") as last:
                said = [each.run("echo", {"text": "hi"}).text for each in (runner, other, reviewer, helper, last)]
            with other.subagent("beside") as beside:
                said.append(beside.run("echo", {"text": "hi"}).text)
        assert said == ["hi", "hi", *["only looking"] * 3, "hi"]
        assert (last.run("echo", {"text": "hi"}).error, runner.unregister(reviewer.at.agent_id)) == (CLOSED, 0)
        runner.close()


def test_a_program_that_a_sub_agent_has_for_a_hook_is_not_called_for_others():
    command = Hook(id="guard", event="PreToolUse", handler=Command("echo no >&2; exit 2"))
    notices = []
    runner = ToolRunner([echo], on_notice=notices.append)
    with runner.subagent("reviewer", {"PreToolUse": [HookMatcher("*", [command])]}) as reviewer:
        said = [each.run("echo", {"text": "hi"}).text for each in (runner, reviewer)]
    assert said == ["hi", "no"]
    ran = [(notice.hook, notice.agent_id) for notice in notices if isinstance(notice, HookExecuted)]
    assert ran == [("guard", reviewer.at.agent_id)]
    runner.close()


def test_the_hooks_of_a_session_see_the_sub_agents_in_it_and_no_other_session():
    seen = []

    def watch(event):
        seen.append(event.session_id)

    with Runtime.embed() as runtime:
        one = ToolRunner([echo], runtime=runtime, session_id="one", hooks={"PreToolUse": [HookMatcher("*", [watch])]})
        two = ToolRunner([echo], runtime=runtime, session_id="two")
        two.run("echo", {"text": "hi"})
        with one.subagent("helper") as helper:
            helper.run("echo", {"text": "hi"})
        assert seen == ["one"]
        one.close()
        one.run("echo", {"text": "hi"})
        assert seen == ["one"]


def test_a_group_of_hooks_is_taken_back_together():
    runner = ToolRunner([echo])
    runner.register({"PreToolUse": [HookMatcher("*", [lambda: Deny("no")])]}, group="review")
    runner.register({"PostToolUse": [HookMatcher("*", [lambda: Note("reviewed")])]}, group="review")
    assert runner.run("echo", {"text": "hi"}).status == "refused"
    assert (runner.unregister("review"), runner.run("echo", {"text": "hi"}).text) == (2, "hi")
    runner.close()


@pytest.mark.proves("S1-132")
def test_every_hook_that_ran_is_reported_with_its_event_and_name():
    def judge(event):
        return Deny("no")

    def crash(event):
        raise OSError("broken")

    notices = []
    hooks = {"PreToolUse": [HookMatcher("*", [judge, crash])], "Stop": [HookMatcher("*", [crash])]}
    runner = ToolRunner([echo], hooks=hooks, session_id="s1", on_notice=notices.append)
    runner.run("echo", {"text": "hi"}, "t1")
    runner.stop()
    ran = [msgspec.structs.replace(each, seconds=0.0) for each in notices if isinstance(each, HookExecuted)]
    common = {"session_id": "s1", "event": "PreToolUse", "tool": "echo"}
    assert ran == [
        HookExecuted(hook="judge", status="blocking", **common),
        HookExecuted(hook="crash", status="non_blocking_error", **common),
        HookExecuted(hook="crash#2", status="non_blocking_error", session_id="s1", event="Stop"),
    ]


@pytest.mark.proves("S3-07")
def test_a_session_is_reported_to_displays_and_hooks_as_typed_notices():
    shown, watched = [], []
    hooks = {"Stream": [HookMatcher("tool_result|error", [watched.append])]}
    runner = ToolRunner([echo, fail], hooks=hooks, on_notice=shown.append, session_id="s1", cwd="/project")
    with runner.session():
        runner.run("echo", {"text": "hi"}, "t1")
        runner.run("fail", {}, "t2")
    assert shown == [
        SessionInfo(session_id="s1", cwd="/project", tools=("echo", "fail")),
        ToolCalled(session_id="s1", tool="echo", input={"text": "hi"}, tool_use_id="t1"),
        ToolReturned(session_id="s1", tool="echo", status="done", input={"text": "hi"}, text="hi", tool_use_id="t1"),
        ToolCalled(session_id="s1", tool="fail", input={}, tool_use_id="t2"),
        Error(session_id="s1", message="fail: broken", kind="failed"),
        ToolReturned(session_id="s1", tool="fail", status="failed", input={}, text="broken", tool_use_id="t2"),
    ]
    assert watched == [shown[2], shown[4], shown[5]]


@pytest.mark.proves("S3-07")
def test_there_is_a_type_for_everything_a_loop_reports():
    given = [
        SessionInfo(),
        Status(text="thinking about it"),
        Text(text="hello"),
        Thinking(text="hm"),
        ToolCalled(tool="echo", input={}),
        ToolReturned(tool="echo", status="done", input={}, text=""),
        WorkProduct(name="report", path="report.md"),
        AuthRequired(service="mail", url="https://example.com/login"),
        IterationEnd(number=1),
        Error(message="oh"),
        HookExecuted(event="Stop", hook="mine"),
    ]
    shown = []
    runner = ToolRunner(on_notice=shown.append, session_id="s1")
    for notice in given:
        runner.emit(notice)
    assert shown == [msgspec.structs.replace(each, session_id="s1") for each in given]
    assert [type(each) for each in given] == Notice.__subclasses__()
    assert [msgspec.json.decode(msgspec.json.encode(each))["type"] for each in given] == [
        "session_info",
        "status",
        "text",
        "thinking",
        "tool_call",
        "tool_result",
        "work_product",
        "auth_required",
        "iteration_end",
        "error",
        "hook_executed",
    ]


def test_a_listener_that_fails_costs_a_notice_and_nothing_else():
    shown = []

    def broken(notice):
        raise OSError("no display")

    runner = ToolRunner(
        [echo], hooks={"Stream": [HookMatcher("tool_call", [broken]), HookMatcher("*", [shown.append])]}
    )
    assert runner.run("echo", {"text": "hi"}).status == "done"
    assert [each.message.partition(" (")[0] for each in shown if isinstance(each, Error)] == [
        "a listener failed: OSError: no display"
    ]


def test_the_listeners_of_a_sub_agent_go_with_it():
    seen = []
    runner = ToolRunner([echo])
    with runner.subagent("helper", {"Stream": [HookMatcher("tool_call", [seen.append])]}) as helper:
        helper.run("echo", {"text": "hi"})
    runner.run("echo", {"text": "hi"})
    assert [each.agent_id for each in seen] == [helper.at.agent_id]


def test_silence_leaves_the_verdict_to_the_tools_own_rules():
    assert ToolRunner([echo]).fire("PreToolUse", tool="echo", tool_input={}).verdict is Verdict.NO_OPINION
