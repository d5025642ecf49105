"""A tool call goes through its steps in one order, in plain code and in coroutines alike."""

import asyncio

import pytest

from snell import Allow, Ask, Deny, HookMatcher, Note, Rewrite, Runtime, Stop, Tool, ToolRunner, judges, rewrites
from snell.embed import Approval, Result
from snell.model.effects import Defer
from tests.unit.embed.recorder import Recorder


@pytest.fixture(params=["plain", "async"])
def run(request):
    def call(runner, tool, tool_input):
        is_plain = request.param == "plain"
        return runner.run(tool, tool_input) if is_plain else asyncio.run(runner.run_async(tool, tool_input))

    return call


HI, HO = {"text": "hi"}, {"text": "ho"}


@pytest.mark.proves("S1-120", "S1-130")
def test_the_order_is_enabled_valid_hooks_permission_execution_hooks(run):
    recorder = Recorder()
    assert run(recorder.runner(), "echo", HI) == Result(status="done", tool="echo", input=HI, output="ran")
    before = ["enabled", ("validate", HI), ("PreToolUse", HI), ("permission", HI)]
    assert recorder.seen == [*before, ("run", HI), ("PostToolUse", HI), "ran"]
    listed = Recorder(run={"lines": [1, None]})
    assert run(listed.runner(), "echo", HI).output == listed.seen[-1] == {"lines": [1, None]}


@pytest.mark.parametrize("answer", [True, None, "", [], ()])
def test_a_check_that_finds_nothing_wrong_lets_the_call_through(run, answer):
    assert run(Recorder(validate=answer).runner(), "echo", HI).status == "done"


@pytest.mark.proves("S1-121")
def test_a_disabled_tool_is_an_error_before_any_hook(run):
    recorder = Recorder(enabled=False)
    wanted = Result(status="disabled", tool="echo", input=HI, error="the tool `echo` is disabled")
    assert (run(recorder.runner(), "echo", HI), recorder.seen) == (wanted, ["enabled"])


@pytest.mark.proves("S1-122")
@pytest.mark.parametrize(
    ("given", "answers", "error"),
    [
        ({}, {}, "the input is not valid: `text` is missing"),
        ({"text": 1}, {}, "the input is not valid: `text` is integer, not string"),
        (HI, {"validate": "too rude"}, "the input is not valid: too rude"),
        (HI, {"validate": ["one", "two"]}, "the input is not valid: one; two"),
        (HI, {"validate": ValueError("no such word")}, "the input is not valid: no such word"),
        (HI, {"validate": False}, "the input is not valid: the tool's check refuses it"),
        (HI, {"validate": 7}, "the input is not valid: the tool's check returned int, not texts"),
        ([], {}, "the input is not valid: it is list, not an object"),
    ],
)
def test_an_input_that_is_not_valid_is_an_error_before_any_hook(run, given, answers, error):
    recorder = Recorder(**answers)
    assert run(recorder.runner(), "echo", given) == Result(status="invalid", tool="echo", input=given, error=error)
    assert not [seen for seen in recorder.seen if seen[0] in ("PreToolUse", "run")]


def test_an_input_that_is_nested_beyond_measure_is_an_error_and_not_a_crash(run):
    deep = {"text": "hi"}
    for _ in range(5000):
        deep = {"text": "hi", "more": deep}
    assert run(Recorder().runner(), "echo", deep).error == "the input is not valid: it is nested over 100 levels"


def test_an_output_that_holds_itself_reaches_its_caller(run):
    knot = {}
    knot["knot"] = knot
    seen = []

    def look(event):
        seen.append(event.tool_response)

    result = run(ToolRunner([Tool("tie", lambda: knot)], hooks={"PostToolUse": [HookMatcher("*", [look])]}), "tie", {})
    assert (result.output is knot, seen) == (True, ["dict, nested over 100 levels"])


@pytest.mark.parametrize("output", [object(), b"\xff", "\udcff", 2**70, {1: {2, 3}}, float("nan")])
def test_a_tool_may_return_what_json_does_not_have(run, output):
    seen = []

    def look(event):
        seen.append(event.tool_response)

    def get():
        return output

    result = run(ToolRunner([get], hooks={"PostToolUse": [HookMatcher("*", [look])]}), "get", {})
    assert result.output is output
    assert len(seen) == 1


def test_without_a_schema_an_input_must_fit_the_parameters_of_the_function(run):
    def add(one, two=2):
        return one + two

    assert run(ToolRunner([add]), "add", {"one": 1}).output == 3
    assert run(ToolRunner([add]), "add", {"three": 1}).status == "invalid"


def test_a_tool_that_there_is_not_is_an_error(run):
    assert run(ToolRunner(), "echo", {}) == Result(status="unknown", tool="echo", error="there is no tool `echo`")


@pytest.mark.proves("S1-123", "S3-90")
def test_a_refused_call_gives_the_model_the_reason_and_the_tool_does_not_run(run):
    recorder = Recorder(PreToolUse=Deny("not today", instead="try tomorrow"))
    result = run(recorder.runner(), "echo", HI)
    assert (result.status, result.text) == ("refused", "not today. Instead: try tomorrow")
    assert recorder.seen == ["enabled", ("validate", HI), ("PreToolUse", HI)]


@pytest.mark.proves("S3-90")
def test_a_call_that_passed_gives_the_result_with_its_hints(run):
    recorder = Recorder(PreToolUse=Note("mind the gap"), PostToolUse=(Note("well done"), Deny("run the tests")))
    result = run(recorder.runner(), "echo", HI)
    assert (result.status, result.text) == ("done", "ran\nmind the gap\nwell done\nrun the tests")


@pytest.mark.parametrize("effect", [Defer("later"), Stop("enough")])
def test_a_call_that_is_put_off_or_ends_the_turn_does_not_run(run, effect):
    recorder = Recorder(PreToolUse=effect)
    result = run(recorder.runner(), "echo", HI)
    wanted = ("deferred", "later", "") if isinstance(effect, Defer) else ("refused", "enough", "enough")
    assert (result.status, result.error, result.stop) == wanted
    assert recorder.seen[-1] == ("PreToolUse", HI)


@pytest.mark.proves("S1-124", "S1-125", "S1-129", "S1-130")
def test_what_a_hook_rewrote_is_validated_permitted_and_executed(run):
    recorder = Recorder(PreToolUse=Rewrite(text="ho"))
    assert run(recorder.runner(), "echo", HI).input == HO
    assert recorder.seen == [
        "enabled",
        ("validate", HI),
        ("PreToolUse", HI),
        ("validate", HO),
        ("permission", HO),
        ("run", HO),
        ("PostToolUse", HO),
        "ran",
    ]


@pytest.mark.proves("S1-124")
def test_a_rewrite_that_is_not_valid_is_an_error_and_the_tool_does_not_run(run):
    recorder = Recorder(PreToolUse=Rewrite(text=1))
    result = run(recorder.runner(), "echo", HI)
    wrong = "`PreToolUse` rewrote the input of `echo` wrongly: `text` is integer, not string"
    assert (result.status, result.error) == ("invalid", wrong)
    assert recorder.seen[-1] == ("PreToolUse", HI)


@pytest.mark.proves("S1-124")
def test_where_rewrites_are_not_validated_again_the_person_is_told(run):
    recorder = Recorder(PreToolUse=Rewrite(text=1))
    result = run(recorder.runner(validates_rewrites=False), "echo", HI)
    told = "`PreToolUse` rewrote the input of `echo`, which is not validated again"
    assert (result.status, result.input, result.tells) == ("done", {"text": 1}, (told,))
    assert [seen for seen in recorder.seen if seen[0] == "validate"] == [("validate", HI)]


@pytest.mark.proves("S1-126")
@pytest.mark.parametrize(
    ("rule", "error"),
    [
        (Deny("never"), "never"),
        (Deny(""), "the permission rule of the tool refuses this"),
        ([Allow(), Deny("never")], "never"),
        (7, "a permission rule returned int"),
    ],
)
def test_a_permission_rule_may_refuse(run, rule, error):
    """Although a hook has approved the call."""
    recorder = Recorder(PreToolUse=Allow(), permission=rule)
    result = run(recorder.runner(), "echo", HI)
    assert (result.status, result.output, result.error.partition(";")[0]) == ("refused", None, error)
    assert recorder.seen == ["enabled", ("validate", HI), ("PreToolUse", HI), ("permission", HI)]


@pytest.mark.proves("S1-126", "S1-127")
@pytest.mark.parametrize(
    ("answers", "status", "error"),
    [
        ({"approve": True}, "done", ""),
        ({"approve": False}, "refused", "the user refused: sure?"),
        ({"approve": None}, "refused", "the user refused: sure?"),
        ({}, "refused", "sure?; there is no `approve` function to ask the user"),
        ({"PermissionRequest": Allow()}, "done", ""),
        ({"PermissionRequest": Deny("no"), "approve": True}, "refused", "no"),
    ],
)
def test_a_call_that_needs_an_approval_runs_only_with_one(run, answers, status, error):
    recorder = Recorder(permission=Ask("sure?"), **answers)
    result = run(recorder.runner(), "echo", HI)
    assert (result.status, result.error, ("run", HI) in recorder.seen) == (status, error, status == "done")
    if "approve" in answers and "PermissionRequest" not in answers:
        assert ("approve", Approval("echo", HI, "sure?")) in recorder.seen


def test_a_hook_that_asks_is_asked_about_and_one_that_allows_spares_the_question(run):
    asking = Recorder(PreToolUse=Ask("really?"), approve=True)
    assert run(asking.runner(), "echo", HI).status == "done"
    assert ("approve", Approval("echo", HI, "really?")) in asking.seen
    allowing = Recorder(PreToolUse=Allow(), permission=Ask("sure?"))
    assert run(allowing.runner(), "echo", HI).status == "done"


@pytest.mark.proves("S1-128", "S1-129")
def test_a_permission_rule_may_rewrite_and_the_hooks_judge_what_it_wrote(run):
    recorder = Recorder(permission=Rewrite(text="ho"))
    assert run(recorder.runner(), "echo", HI).input == HO
    assert recorder.seen[2:] == [
        ("PreToolUse", HI),
        ("permission", HI),
        ("validate", HO),
        ("PreToolUse", HO),
        ("run", HO),
        ("PostToolUse", HO),
        "ran",
    ]


@pytest.mark.proves("S1-128")
def test_a_permission_rule_may_rewrite_a_call_and_ask_about_what_it_wrote(run):
    for effects in ((Ask("sure?"), Rewrite(text="ho")), (Rewrite(text="ho"), Ask("sure?"))):
        recorder = Recorder(permission=effects, approve=True)
        found, asked = run(recorder.runner(), "echo", HI).input, ("approve", Approval("echo", HO, "sure?"))
        assert (found, asked in recorder.seen) == (HO, True)


def test_a_permission_rule_cannot_write_what_a_hook_refuses(run):
    @judges("PreToolUse")
    def no_ho(event):
        return Deny("no ho") if event.tool_input["text"] == "ho" else None

    recorder = Recorder(permission=Rewrite(text="ho"))
    runner = recorder.runner()
    runner.register({"PreToolUse": [HookMatcher(hooks=[no_ho])]})
    assert run(runner, "echo", HI).error == "no ho"


def test_a_hook_may_not_rewrite_what_the_permission_rule_wrote(run):
    recorder = Recorder(PreToolUse=Rewrite(text="ha"), permission=Rewrite(text="ho"))
    result = run(recorder.runner(), "echo", HI)
    why = "`PreToolUse` would rewrite an input that was already rewritten and checked"
    assert (result.status, result.error) == ("refused", why)


def test_what_an_approving_hook_rewrote_is_judged_and_permitted_again(run):
    recorder = Recorder(permission=Ask("sure?"), PermissionRequest=(Allow(), Rewrite(text="ho")))
    assert run(recorder.runner(), "echo", HI).input == HO
    names = [seen[0] for seen in recorder.seen if seen[1] == HO]
    assert names == ["validate", "PreToolUse", "permission", "run", "PostToolUse"]


def test_a_permission_rule_that_returns_nonsense_has_not_permitted(run):
    result = run(Recorder(permission=True).runner(), "echo", HI)
    why = "a permission rule returned bool; return Allow, Ask, Deny, Rewrite or nothing"
    assert (result.status, result.error) == ("refused", why)


@pytest.mark.parametrize(
    ("step", "what"),
    [
        ("enabled", "whether it is enabled"),
        ("validate", "whether its input is valid"),
        ("permission", "whether it is permitted"),
        ("approve", "whether it is approved"),
    ],
)
def test_a_guard_that_fails_has_not_said_yes(run, step, what):
    recorder = Recorder(**{"PreToolUse": Ask(), "approve": True, step: OSError("broken")})
    result = run(recorder.runner(), "echo", HI)
    assert (result.status, result.error) == ("refused", f"cannot tell {what} for `echo`: OSError: broken")
    assert ("run", HI) not in recorder.seen


@pytest.mark.proves("S1-130")
def test_a_hook_may_replace_the_output_and_end_the_turn(run):
    recorder = Recorder(PostToolUse=(Rewrite("***"), Stop("done here")))
    result = run(recorder.runner(), "echo", HI)
    assert (result.output, result.stop) == ("***", "done here")


@pytest.mark.proves("S1-03", "S1-131")
def test_a_tool_that_fails_is_reported_with_its_error(run):
    error = OSError("disk full")
    recorder = Recorder(run=error, PostToolUseFailure=Note("try /tmp"))
    result = run(recorder.runner(), "echo", HI)
    assert (result.status, result.error, result.text) == ("failed", "disk full", "disk full\ntry /tmp")
    assert result.exception is error
    assert recorder.seen[-2:] == [("PostToolUseFailure", HI), "disk full"]
    assert not [seen for seen in recorder.seen if seen[0] == "PostToolUse"]


def test_coroutines_are_tools_rules_and_hooks_as_well(run):
    seen = []

    def step(name, answer=None):
        async def called(value=None, **_):
            seen.append(name)
            return answer

        return called

    async def look(event):
        seen.append("hook")
        return Rewrite(text="ho")

    tool = Tool("echo", step("run", "ran"), {}, step("valid"), step("permission", Ask()), step("enabled", True))
    runner = ToolRunner([tool], hooks={"PreToolUse": [HookMatcher("*", [look])]}, approve=step("approve", True))
    assert run(runner, "echo", HI) == Result(status="done", tool="echo", input=HO, output="ran")
    assert seen == ["enabled", "valid", "hook", "valid", "permission", "approve", "run"]


def test_a_coroutine_that_is_run_inside_a_loop_says_what_to_call_instead():
    async def echo(text):
        return text

    async def wrong():
        return ToolRunner([echo]).run("echo", HI)

    result = asyncio.run(wrong())
    assert (result.status, "use `run_async`" in result.error) == ("failed", True)


def test_a_session_has_as_many_calls_as_it_is_given(run):
    runner = Recorder().runner(max_calls=1)
    assert [run(runner, "echo", HI).status for _ in range(2)] == ["done", "over budget"]
    with runner.subagent("helper") as helper:
        assert helper.run("echo", HI).error == "this session has used all of its 1 tool calls"


def test_what_others_do_to_their_copy_of_the_input_is_not_executed(run):
    def spoil(value, *_, **__):
        given = value.tool_input if hasattr(value, "tool_input") else value.input if hasattr(value, "input") else value
        given["text"] = "spoilt"
        given["list"].append("spoilt")

    def approve(approval):
        spoil(approval)
        return True

    def permission(value):
        spoil(value)
        return Ask()

    seen = []

    def echo(**given):
        seen.append(given)

    def hook(event):
        spoil(event)

    tool = Tool("echo", echo, validate=spoil, permission=permission)
    runner = ToolRunner([tool], hooks={"PreToolUse": [HookMatcher(hooks=[hook])]}, approve=approve)
    given = {"text": "hi", "list": []}
    run(runner, "echo", given)
    assert seen == [{"text": "hi", "list": []}] == [given]


@pytest.mark.proves("S1-135")
def test_a_sensitive_tool_checks_its_own_input_once_more(run):
    def pay(amount):
        if amount > 100:
            raise PermissionError("at most 100")
        return "paid"

    @rewrites("PreToolUse")
    def generous():
        return Rewrite(amount=1000)

    runner = ToolRunner([pay], runtime=Runtime.embed(generous), validates_rewrites=False)
    result = run(runner, "pay", {"amount": 1})
    assert (result.status, result.error) == ("failed", "at most 100")


def test_two_tools_of_one_name_are_an_error_of_their_author():
    with pytest.raises(ValueError, match="several tools with the name `echo`"):
        ToolRunner([Tool("echo", print), Tool("echo", print)])


@pytest.mark.parametrize(
    "part", [{"minimum": 1}, {"exclusiveMaximum": -5}, {"const": 7}, {"anyOf": [{"type": "null"}, {"minimum": 1}]}]
)
def test_the_whole_schema_of_a_tool_counts(run, part):
    pytest.importorskip("jsonschema_rs")
    tool = Tool("count", lambda number: number, schema={"type": "object", "properties": {"number": part}})
    result = run(ToolRunner([tool]), "count", {"number": -3})
    assert (result.status, "number" in result.error) == ("invalid", True)
