"""The policy goes first, may end the event, and looks again at what others rewrote."""

from typing import Any

import pytest

from snell.model.effects import Allow, Ask, Defer, Deny, Note, Rewrite
from snell.model.events import Event
from tests.helpers import RecordingExecutor, call, decide_event, hook, policy, summary_of
from tests.unit.engine.rewriting import INPUT, adds, becomes, passes


@pytest.mark.parametrize("role", ["rewrites", None])
def test_the_policy_rewrites_again_what_a_lower_scope_made_of_its_result(role: str | None) -> None:
    def with_ci(on: Event) -> Rewrite | None:
        return None if on.tool_input["command"].endswith(" CI=1") else becomes(f"{on.tool_input['command']} CI=1")

    hooks = [
        policy("ci", with_ci, role=role),
        hook("r", becomes("make test"), role="rewrites"),
        hook("j", role="judges"),
    ]
    decision = decide_event(call("pytest"), *hooks)
    assert summary_of(decision)["verdict"] == "no_opinion"
    assert decision.event.tool_input == {"command": "make test CI=1"}
    assert passes(decision)[-1] == ("last", ["j"], {"command": "make test CI=1"})


@pytest.mark.parametrize("role", ["rewrites", None])
@pytest.mark.parametrize(
    ("adds_text", "lower", "result"),
    [
        ("CI=1 {}", "CI=1 make", "CI=1 make"),  # it kept what the policy added
        ("CI=1 {}", "make", "CI=1 make"),
        ("{} --quiet", "make --quiet", "make --quiet"),
        ("{} --quiet", "make --quiet --all", "make --quiet --all --quiet"),  # no longer at the end
        ("sandbox '{}'", "sandbox 'make'", "sandbox 'make'"),
        ("CI=1 {}", "CI=1 CI=1 ls", "CI=1 CI=1 ls"),
        ("CI=1 {}", "ls", "CI=1 ls"),  # what the policy added was taken away
    ],
)
def test_what_the_policy_adds_is_not_added_twice(role: str | None, adds_text: str, lower: str, result: str) -> None:
    always = policy("p", lambda on: becomes(adds_text.format(on.tool_input["command"])), role=role)
    decision = decide_event(call("ls"), always, hook("r", becomes(lower), role="rewrites"), hook("j", role="judges"))
    assert (decision.verdict.name, decision.event.tool_input) == ("NO_OPINION", {"command": result})


def test_what_a_caller_wrote_is_not_taken_for_what_the_policy_added() -> None:
    twice = policy("p", lambda on: becomes(f"x {on.tool_input['command']}"), role="rewrites")
    decision = decide_event(call("x ls"), twice, hook("r", becomes("x rm"), role="rewrites"))
    assert decision.event.tool_input == {"command": "x x rm"}


def test_who_would_change_what_the_policy_made_last_is_an_ask_and_of_the_policy_a_deny() -> None:
    def never_2(on: Event) -> Rewrite | None:
        return becomes("1") if on.tool_input["command"] == "2" else None

    back = policy("back", lambda on: becomes("2") if on.tool_input["command"] == "3" else None, role="rewrites")
    lower = hook("lower", becomes("3"), role="rewrites")
    asked = decide_event(call(), back, lower, hook("late", never_2))
    assert (asked.verdict.name, asked.reasons[0].hook, asked.event.tool_input) == ("ASK", "late", {"command": "2"})
    two = [policy("x", lambda on: becomes("2") if on.tool_input["command"] == "3" else None), policy("y", never_2)]
    denied = decide_event(call(), *two, lower)
    assert (denied.verdict.name, denied.reasons[0].hook) == ("DENY", "y")


@pytest.mark.proves("S1-93", "S1-103")
def test_a_deny_of_the_policy_skips_every_other_hook() -> None:
    executor = RecordingExecutor()
    hooks = [policy("p", Deny("no"), role="judges"), hook("r", adds("x"), role="rewrites"), hook("j", Deny("no too"))]
    decision = decide_event(call(), *hooks, executor=executor)
    assert summary_of(decision) == {"verdict": "deny", "reasons": [("p", "no")], "skipped": ["r", "j"]}
    assert {each.why for each in decision.skipped} == {"a policy hook had already denied"}
    assert executor.rounds == [(["p"], INPUT)]


@pytest.mark.parametrize("effect", [Allow("a"), Ask("a"), Defer("a"), Note("n"), None])
def test_short_of_a_deny_the_policy_lets_the_others_run(effect: Any) -> None:
    decision = decide_event(call(), policy("p", effect), hook("j", Deny("no")))
    assert (summary_of(decision)["reasons"], decision.skipped) == ([("j", "no")], ())


def test_policy_hooks_that_deny_together_are_all_named() -> None:
    decision = decide_event(call(), policy("a", Deny("one")), policy("b", Deny("two")), hook("c", Deny("three")))
    assert summary_of(decision) == {"verdict": "deny", "reasons": [("a", "one"), ("b", "two")], "skipped": ["c"]}


def test_a_failed_policy_guard_blocks_and_the_others_are_skipped() -> None:
    decision = decide_event(call(), policy("p", ValueError("broken")), hook("j"))
    assert summary_of(decision) == {
        "verdict": "deny",
        "reasons": [("p", "guard `p` could not run: ValueError: broken")],
        "failures": ["p"],
        "skipped": ["j"],
    }


def test_the_others_get_what_the_policy_rewrote() -> None:
    executor = RecordingExecutor()
    decide_event(call(), policy("p", becomes("make"), role="rewrites"), hook("j", role="judges"), executor=executor)
    assert executor.rounds == [(["p"], INPUT), (["j"], {"command": "make"})]


@pytest.mark.parametrize("role", ["rewrites", None])
def test_the_policy_judges_again_what_a_lower_scope_rewrote(role: str | None) -> None:
    def no_rm(on: Event) -> Deny | None:
        return Deny("no rm") if on.tool_input["command"].startswith("rm") else None

    decision = decide_event(call(), policy("p", no_rm, role="judges"), hook("r", becomes("rm x"), role=role))
    assert summary_of(decision) == {
        "verdict": "deny",
        "reasons": [("p", "no rm")],
        "changes": [("r", {"command": "rm x"})],
    }
    assert passes(decision)[-1] == ("again", ["p"], {"command": "rm x"})


def test_the_policy_does_not_look_twice_at_what_no_hook_changed() -> None:
    executor = RecordingExecutor()
    decide_event(
        call(), policy("p", Allow("ok"), role="judges"), hook("r", becomes("ls"), role="rewrites"), executor=executor
    )
    assert [ids for ids, _ in executor.rounds] == [["p"], ["r"]]


def test_on_post_tool_use_the_policy_rewrites_last_and_its_deny_skips_no_hook() -> None:
    executor = RecordingExecutor()
    on = call(name="PostToolUse", tool_response={"stdout": "secret"})
    decision = decide_event(
        on,
        policy("p", lambda on: Rewrite({**on.tool_response, "policy": True}), on="PostToolUse", role="rewrites"),
        policy("d", Deny("look out"), on="PostToolUse", role="judges"),
        hook("u", Rewrite({"stdout": "user's"}), on="PostToolUse"),
        executor=executor,
    )
    assert [ids for ids, _ in executor.rounds] == [["u"], ["p"], ["d"]]
    assert decision.event.tool_response == {"stdout": "user's", "policy": True}
    assert summary_of(decision)["reasons"] == [("d", "look out")]
