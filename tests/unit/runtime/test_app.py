"""The runtime: registration, repeated requests, watchers, sessions, and what a file change does."""

import asyncio
import threading

import pytest
from msgspec.structs import replace

from snell import Allow, Deny, Note, Rewrite, Runtime, informs, judges, rewrites, watches
from snell.handlers.command import Command
from snell.model.effects import Verdict
from snell.model.errors import HookError
from snell.model.events import event_from
from snell.model.hooks import Hook, Inline, Scope, Source, Switches
from snell.store.in_memory import InMemoryStore


def call(command="ls", session="s", tool_use_id="", name="PreToolUse"):
    payload = {"session_id": session, "cwd": "/", "tool_name": "Bash", "tool_input": {"command": command}}
    return event_from(payload | ({"tool_use_id": tool_use_id} if tool_use_id else {}), name)


@judges("PreToolUse", kind="shell")
def no_ls(call):
    return Deny("no ls") if call.command == "ls" else None


@pytest.mark.proves("S1-91")
def test_a_registered_hook_is_found_under_its_event_and_no_other():
    runtime = Runtime.embed(no_ls)
    assert [runtime.decide(call()).verdict, runtime.decide(call(name="PostToolUse")).verdict] == [
        Verdict.DENY,
        Verdict.NO_OPINION,
    ]


@pytest.mark.proves("S1-92")
def test_an_event_without_hooks_gets_a_silent_decision():
    decision = Runtime.embed().decide(call())
    assert (decision.verdict, decision.rounds, decision.event) == (Verdict.NO_OPINION, (), call())


@pytest.mark.proves("S1-100")
def test_five_hundred_hooks_on_one_event_all_run():
    ran = []
    hooks = [
        Hook(id=f"h{n}", event="PreToolUse", role="judges", handler=Inline(lambda event, n=n: ran.append(n)))
        for n in range(500)
    ]
    Runtime.embed(*hooks).decide(call())
    assert ran == list(range(500))


@pytest.mark.proves("S1-101")
def test_hooks_are_taken_back_by_source_scope_or_group():
    runtime = Runtime.embed()

    def add(**options):
        runtime.register(Hook(id="h", event="Stop", handler=Inline(lambda event: None), **options))

    add(source=Source("plugin:a"))
    add(scope=Scope.SKILL)
    add(group="sub-agent 1")
    add()
    removed = [
        runtime.unregister(layer="plugin:a"),
        runtime.unregister(scope=Scope.SKILL),
        runtime.unregister(group="sub-agent 1"),
    ]
    left = [hook.id for hook in runtime.context_for(call()).registry.hooks()]
    assert (removed, left) == ([1, 1, 1], ["h"])


@pytest.mark.proves("S1-140")
def test_a_registered_hook_may_carry_a_function_for_its_success():
    told = []
    runtime = Runtime.embed()
    runtime.register(no_ls, on_success=lambda: told.append("done"))
    runtime.decide(call("ls"))  # refuses: not a success
    assert told == []
    for _ in range(2):  # the first one counts
        runtime.decide(call("pwd"))
    assert told == ["done"]


def test_a_function_without_a_role_cannot_be_registered():
    with pytest.raises(TypeError, match="has no role"):
        Runtime.embed(lambda event: None)


def test_the_same_delivery_is_decided_once_and_gets_the_same_answer():
    ran = []

    @judges("PreToolUse")
    def counts(event):
        ran.append(event)
        return Deny(f"run {len(ran)}")

    runtime = Runtime.embed(counts)
    first = runtime.decide(call(tool_use_id="t1"))
    again = runtime.decide(call(tool_use_id="t1"))
    other_input = runtime.decide(call("pwd", tool_use_id="t1"))
    assert (again is first, other_input.reason, len(ran)) == (True, "run 2", 2)


def test_a_call_that_comes_back_as_a_hook_changed_it_is_the_same_call():
    ran = []

    @rewrites("PreToolUse", kind="shell")
    def adds(call):
        ran.append(call.command)
        return Rewrite(command=f"nice {call.command}")

    def stamped(command, at):
        return replace(call(command), payload={**call(command).payload, "timestamp": at})

    runtime = Runtime.embed(adds)
    first = runtime.decide(stamped("ls", "10:00:00.001"), "a")
    assert runtime.decide(stamped("nice ls", "10:00:00.001"), "b") is first
    runtime.decide(stamped("nice ls", "10:00:00.002"), "c")
    runtime.decide(stamped("pwd", "10:00:00.001"), "d")
    assert ran == ["ls", "nice ls", "pwd"]


def test_without_a_tool_use_id_the_request_id_tells_requests_apart():
    ran = []

    @judges("PreToolUse")
    def counts(event):
        ran.append(event)

    runtime = Runtime.embed(counts)
    for request_id in ("a", "a", "b", "", ""):
        runtime.decide(call(), request_id)
    assert len(ran) == 4


def test_a_deferred_call_is_decided_anew_when_it_comes_back():
    from snell import Defer

    answers = iter([Defer("later"), Allow("now")])

    @judges("PreToolUse")
    def defers(event):
        return next(answers)

    runtime = Runtime.embed(defers)
    verdicts = [runtime.decide(call(tool_use_id="t1")).verdict for _ in range(3)]
    assert verdicts == [Verdict.DEFER, Verdict.ALLOW, Verdict.ALLOW]


def test_watchers_run_after_the_answer_on_the_event_as_it_happened():
    seen = []
    release = threading.Event()

    @rewrites("PreToolUse", kind="shell")
    def louder(call):
        return Rewrite(command=f"{call.command} -v")

    @watches("PreToolUse", kind="shell")
    def records(call):
        release.wait(10)  # the answer must not wait for this
        seen.append(call.command)
        return Deny("too late")

    runtime = Runtime.embed(louder, records)
    decision = runtime.decide(call("ls"))
    assert (decision.verdict, seen) == (Verdict.NO_OPINION, [])
    release.set()
    runtime.close()
    assert seen == ["ls -v"]


@pytest.mark.proves("S1-155", "S1-159")
def test_an_async_hook_is_not_waited_for_and_its_note_goes_out_with_the_next_event():
    release = threading.Event()

    def slow(event):
        release.wait(10)
        return [Note("late news"), Deny("late verdict")]

    runtime = Runtime.embed(Hook(id="slow", event="PreToolUse", handler=Inline(slow), is_async=True))
    first = runtime.decide(call())
    release.set()
    runtime.close()
    runtime.unregister(scope=Scope.SESSION)
    second = runtime.decide(call())
    assert [(first.verdict, first.note), (second.verdict, second.note)] == [
        (Verdict.NO_OPINION, ""),
        (Verdict.NO_OPINION, "late news"),
    ]


@pytest.mark.proves("S1-155")
def test_an_async_hook_is_waited_for_on_session_start_and_when_it_is_forced():
    def notes(event):
        return Note("in time")

    start = Hook(id="start", event="SessionStart", handler=Inline(notes), is_async=True)
    forced = Hook(id="forced", event="PreToolUse", handler=Inline(notes), is_async=True, force_sync=True)
    runtime = Runtime.embed(start, forced)
    assert [runtime.decide(call(name="SessionStart")).note, runtime.decide(call()).note] == ["in time", "in time"]


@pytest.mark.proves("S1-97")
def test_once_is_used_up_by_success_only_and_the_end_of_a_session_gives_it_back():
    answers = iter([Deny("not yet"), Note("first"), Note("second")])

    def says(event):
        return next(answers)

    runtime = Runtime.embed(Hook(id="o", event="PreToolUse", role="judges", handler=Inline(says), once=True))
    texts = [runtime.decide(call()).note for _ in range(3)]
    runtime.decide(call(name="SessionEnd"))
    assert (texts, runtime.decide(call()).note) == (["", "first", ""], "second")


@pytest.mark.proves("S1-96")
def test_an_async_once_hook_is_used_up_by_its_first_success_and_not_by_being_started():
    marks, ran = InMemoryStore(), []

    def fails_first(event):
        ran.append(event)
        if len(ran) == 1:
            raise ValueError

    hook = Hook(id="o", event="PreToolUse", handler=Inline(fails_first), once=True, is_async=True)
    for _ in range(3):
        with Runtime.embed(hook, marks=marks) as runtime:  # whose end waits for it
            runtime.decide(call())
    assert len(ran) == 2


@pytest.mark.proves("S1-102")
def test_registering_more_hooks_keeps_what_once_has_used_up():
    runtime = Runtime.embed(Hook(id="o", event="PreToolUse", handler=Inline(lambda event: Note("hi")), once=True))
    assert runtime.decide(call()).note == "hi"
    runtime.register(no_ls)
    assert runtime.decide(call("pwd")).note == ""


def test_sessions_do_not_see_each_others_hooks():
    runtime = Runtime.embed()
    runtime.register(no_ls, session_id="mine")
    verdicts = [runtime.decide(call(session=session)).verdict for session in ("mine", "yours")]
    runtime.decide(call(session="mine", name="SessionEnd"))
    assert (*verdicts, runtime.decide(call(session="mine")).verdict) == (
        Verdict.DENY,
        Verdict.NO_OPINION,
        Verdict.NO_OPINION,
    )


def test_two_hooks_of_one_name_get_ids_of_their_own():
    def note(event):
        return Note("x")

    hooks = [Hook(id="same", event="PreToolUse", handler=Inline(lambda event: note(event))) for _ in range(2)]
    decision = Runtime.embed(*hooks).decide(call())
    assert [note.hook for note in decision.notes] == ["same", "same#2"]


@pytest.mark.proves("S1-48")
@pytest.mark.parametrize("waits", [False, True])
def test_plain_and_async_functions_both_run_under_both_drivers(waits):
    @judges("PreToolUse", waits=waits)
    async def later(event):
        await asyncio.sleep(0)
        return Deny("async")

    @informs("PreToolUse", waits=waits)
    def now(event):
        return Note("plain")

    runtime = Runtime.embed(later, now)
    together = [runtime.decide(call()), asyncio.run(runtime.decide_async(call()))]
    assert [(each.reason, each.note) for each in together] == [("async", "plain")] * 2


@pytest.mark.proves("S1-99")
def test_hooks_of_several_kinds_answer_in_their_order():
    one, two = (Hook(id=n, event="PreToolUse", handler=Inline(lambda event, n=n: Note(n))) for n in "ac")
    command = Hook(id="b", event="PreToolUse", handler=Command("""echo '{"additionalContext": "b"}'"""))
    with Runtime.embed(one, command, two) as runtime:
        together = [runtime.decide(call()).note, asyncio.run(runtime.decide_async(call("pwd"))).note]
    assert together == ["a\nb\nc"] * 2


def test_the_switches_of_an_embedded_runtime_are_active():
    runtime = Runtime.embed(no_ls, switches=Switches(allow_managed_hooks_only=True))
    assert runtime.decide(call()).verdict is Verdict.NO_OPINION


@pytest.mark.proves("S1-124")
def test_a_rewrite_that_breaks_the_tools_schema_is_dropped_and_reported():
    @rewrites("PreToolUse")
    def breaks(event):
        return Rewrite({"cmd": "ls"})

    decision = Runtime.embed(breaks).decide(call("ls"))
    assert (decision.event.tool_input, [each.text for each in decision.failures]) == (
        {"command": "ls"},
        ["`breaks` rewrote the input of Bash wrongly: `command` is missing"],
    )


def test_fire_takes_the_fields_of_an_event():
    with Runtime.embed(no_ls) as runtime:
        denied = runtime.fire("pre_tool_use", tool_name="Bash", tool_input={"command": "ls"})
        with pytest.raises(HookError, match="did you mean `PreToolUse`"):
            runtime.fire("PreToolUze")
    assert (str(denied.verdict), denied.reason) == ("deny", "no ls")


def test_an_async_function_has_its_time_limit_under_both_drivers():
    @judges("PreToolUse", timeout=0.05, on_failure="block")
    async def hangs(event):
        await asyncio.sleep(60)

    runtime = Runtime.embed(hangs)
    together = [runtime.decide(call()), asyncio.run(runtime.decide_async(call()))]
    assert [each.verdict for each in together] == [Verdict.DENY] * 2
    assert {out.status for each in together for _, _, out in each.runs()} == {"cancelled"}
