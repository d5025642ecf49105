"""Functions are registered as event, matcher and list, in two forms, for a runtime or for a runner."""

import asyncio
from dataclasses import dataclass, field

import pytest

from snell import Deny, HookMatcher, Note, Rewrite, Runtime, ShellCall, ToolRunner, Verdict, judges
from snell.embed import Error
from snell.model.decision import Reason
from snell.model.errors import HookError
from snell.runtime.callback_hooks import hooks_from


def runtime(event, *matchers):
    return Runtime.embed(hooks={event: list(matchers)})


def noting(text):
    def hook(event):
        return Note(text)

    hook.__name__ = text
    return hook


@pytest.mark.proves("S3-84", "S3-89")
@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("PreToolUse", "PreToolUse"),
        ("PostToolUse", "PostToolUse"),
        ("UserPromptSubmit", "UserPromptSubmit"),
        ("SubagentStop", "SubagentStop"),
        ("AgentStop", "Stop"),
        ("pre_tool_use", "PreToolUse"),
    ],
)
def test_functions_are_registered_for_an_event_under_any_of_its_names(name, event):
    decision = runtime(name, HookMatcher(matcher=None, hooks=[lambda event: Deny(event.name)])).fire(event)
    assert decision.reason == event


@pytest.mark.proves("S3-85", "S3-86", "S3-87")
@pytest.mark.parametrize(
    ("matcher", "matched"),
    [
        ("*", ["Bash", "mcp__mail__send", "mine"]),
        (None, ["Bash", "mcp__mail__send", "mine"]),
        ("", ["Bash", "mcp__mail__send", "mine"]),
        ("mine", ["mine"]),
        ("Bash|mine", ["Bash", "mine"]),
        ("mcp__.*", ["mcp__mail__send"]),
    ],
)
def test_a_matcher_is_a_tools_name_or_stands_for_all(matcher, matched):
    home = runtime("PreToolUse", HookMatcher(matcher=matcher, hooks=[noting("here")]))
    tools = ["Bash", "mcp__mail__send", "mine"]
    assert [tool for tool in tools if home.fire("PreToolUse", tool_name=tool, tool_input={}).notes] == matched


@pytest.mark.proves("S3-87")
def test_stop_events_have_no_matcher():
    assert runtime("AgentStop", HookMatcher(hooks=[lambda: Deny("go on")])).fire("Stop").reason == "go on"


@pytest.mark.proves("S3-84", "S3-88")
@pytest.mark.parametrize("how", ["plain", "async"])
def test_several_functions_of_a_matcher_run_in_the_order_of_their_list(how):
    seen = []

    def step(name):
        def hook(event):
            seen.append(name)
            return Note(name)

        hook.__name__ = name
        return hook

    home = runtime("PreToolUse", HookMatcher("*", [step("a"), step("b")]), HookMatcher("Bash", [step("c")]))
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    fired = home.fire("PreToolUse", **call) if how == "plain" else asyncio.run(home.fire_async("PreToolUse", **call))
    assert seen == ["a", "b", "c"]
    assert fired.notes == tuple(Reason(each, each) for each in "abc")


@pytest.mark.proves("S3-06")
def test_hooks_look_at_a_call_refuse_it_and_rewrite_its_input_and_its_result():
    seen = []

    def look(event):
        seen.append(event.tool_input)

    def block(call: ShellCall):
        return Deny("no") if call.runs("rm") else None

    def tidy(event):
        return Rewrite(command=event.tool_input["command"].strip())

    def mask(event):
        return Rewrite(event.tool_response.replace("hunter2", "***"))

    def bash(command):
        return f"{command}: hunter2"

    bash.__name__ = "Bash"
    runner = ToolRunner(
        [bash],
        hooks={
            "PreToolUse": [HookMatcher("*", [look, block, tidy])],
            "PostToolUse": [HookMatcher("Bash", [mask])],
        },
    )
    assert runner.run("Bash", {"command": " ls "}).text == "ls: ***"
    assert runner.run("Bash", {"command": " rm x"}).text == "no"
    assert seen[:2] == [{"command": " ls "}, {"command": "ls"}]  # what was rewritten is looked at again


def test_a_callback_gets_payload_id_and_context_and_answers_with_fields():
    seen = []

    async def callback(input_data, tool_use_id, context):
        seen.append((input_data["hook_event_name"], input_data["tool_input"], tool_use_id, context))
        specific = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}
        return {"hookSpecificOutput": specific}

    home = runtime("PreToolUse", HookMatcher("Bash", [callback]))
    decision = home.fire("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t1")
    assert (decision.verdict, decision.reason) == (Verdict.DENY, "no")
    assert seen == [("PreToolUse", {"command": "ls"}, "t1", {"signal": None})]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({}, (Verdict.NO_OPINION, "", None, ())),
        ({"decision": "block", "reason": "no"}, (Verdict.DENY, "no", None, ())),
        ({"continue_": False, "stopReason": "enough"}, (Verdict.NO_OPINION, "", Reason("callback", "enough"), ())),
        ({"decision": "perhaps"}, (Verdict.NO_OPINION, "", None, ("callback",))),
    ],
)
def test_the_fields_of_an_answer_are_effects_and_nonsense_is_a_failure(answer, expected):
    def callback(input_data):
        return answer

    decision = runtime("PreToolUse", HookMatcher("*", [callback])).fire("PreToolUse", tool_name="Bash", tool_input={})
    failed = tuple(failure.hook for failure in decision.failures)
    assert (decision.verdict, decision.reason, decision.stop, failed) == expected


def test_a_matcher_of_another_library_will_do():
    @dataclass
    class Theirs:
        matcher: str | None = None
        hooks: list = field(default_factory=list)
        timeout: float | None = None

    home = runtime("PreToolUse", Theirs("Bash", [noting("here")], 3.0))
    assert home.fire("PreToolUse", tool_name="Bash", tool_input={}).note == "here"


def test_a_decorated_function_keeps_its_role_and_its_own_matcher():
    @judges("PreToolUse", matcher="Bash")
    def judge():
        return Deny("no")

    home = runtime("PreToolUse", HookMatcher("*", [judge]))
    verdicts = [home.fire("PreToolUse", tool_name=tool, tool_input={}).verdict for tool in ("Bash", "Read")]
    assert verdicts == [Verdict.DENY, Verdict.NO_OPINION]


def test_a_function_that_is_named_twice_runs_once():
    home = runtime("PreToolUse", HookMatcher("*", [(hook := noting("once"))]), HookMatcher("Bash", [hook]))
    assert home.fire("PreToolUse", tool_name="Bash", tool_input={}).note == "once"


@pytest.mark.parametrize(
    ("hooks", "message"),
    [
        ({"PreToolUze": []}, "there is no event `PreToolUze`; did you mean `PreToolUse`?"),
        ({"Stop": [print]}, "hooks for `Stop` hold builtin_function_or_method, not a matcher"),
        ({"Stop": HookMatcher("*", [print])}, "hooks for `Stop` are one HookMatcher, not a list of matchers; write ["),
        ({"Stop": print}, "hooks for `Stop` are one builtin_function_or_method, not a list of matchers; write ["),
        ({"Stop": [HookMatcher("*", print)]}, "a matcher for `Stop` has builtin_function_or_method, not a list, as"),
        ({"Stop": [HookMatcher("*", ["ls"])]}, "hooks for `Stop` hold str, not a function"),
        ({"Stop": [HookMatcher("*", [lambda a, b, c, d: 1])]}, "takes more than payload, tool_use_id and context"),
    ],
)
def test_what_cannot_be_meant_is_an_error_when_it_is_registered(hooks, message):
    with pytest.raises(HookError) as error:
        Runtime.embed(hooks=hooks)
    assert message in str(error.value)


@pytest.mark.parametrize("matcher", ["(", "Bash(", "a{99999}{99999}", "x" * 60_000, "|", ","])
def test_a_matcher_that_can_never_fit_is_an_error_when_it_is_registered(matcher):
    def guard(event):
        return Deny("no")

    with pytest.raises(HookError, match="hook `guard` for PreToolUse can never run: "):
        ToolRunner(hooks={"PreToolUse": [HookMatcher(matcher, [guard])]})
    with pytest.raises(HookError, match="hook `guard` for PreToolUse can never run: "):
        Runtime.embed(judges("PreToolUse", matcher=matcher)(guard))


def test_what_a_matcher_says_about_time_and_failure_counts_for_decorated_functions_too():
    @judges("PreToolUse", timeout=9.0, on_failure="allow")
    def decorated(call):
        return None

    for function in (decorated, lambda event: None):
        (hook,) = hooks_from({"PreToolUse": [HookMatcher("*", [function], timeout=2, on_failure="block", waits=True)]})
        assert (hook.timeout, hook.on_failure, hook.handler.waits) == (2, "block", True)
    (hook,) = hooks_from({"PreToolUse": [HookMatcher("*", [decorated])]})
    assert (hook.timeout, hook.on_failure) == (9.0, "allow")


@pytest.mark.parametrize("said", [{"timeout": 0}, {"timeout": -1}, {"timeout": "x"}, {"on_failure": "deny"}])
def test_a_matcher_that_says_what_cannot_be_is_an_error(said):
    with pytest.raises(HookError):
        hooks_from({"PreToolUse": [HookMatcher("*", [lambda event: None], **said)]})


def test_the_result_of_a_call_names_the_hooks_that_failed_and_so_does_a_notice():
    def guard(event):
        raise ValueError("oh")

    def shell(command):
        return "ran"

    notices = []
    runner = ToolRunner([shell], hooks={"PreToolUse": [HookMatcher("*", [guard])]}, on_notice=notices.append)
    result = runner.run("shell", {"command": "x"})
    assert (result.status, [each.hook for each in result.failures]) == ("done", ["guard"])
    assert "ValueError: oh" in result.failures[0].text
    told = [each.message for each in notices if isinstance(each, Error)]
    assert told == [f"hook `guard` failed: {result.failures[0].text}"]


def test_a_guard_that_is_to_block_when_it_fails_blocks():
    def guard(event):
        raise ValueError("oh")

    def shell(command):
        return "ran"

    runner = ToolRunner([shell], hooks={"PreToolUse": [HookMatcher("*", [guard], on_failure="block")]})
    assert runner.run("shell", {"command": "x"}).status == "refused"
