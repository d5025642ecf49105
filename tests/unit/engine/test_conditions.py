"""Conditions are asked of the input that a hook would see, not of the one that came."""

from snell.model.effects import Allow, Deny, Note, Rewrite, Verdict
from snell.model.events import Event
from tests.helpers import call, decide_event, hook, policy


def is_push(_rule: str, event: Event) -> bool:
    return str(event.tool_input["command"]).startswith("git push")


def to(command: str) -> Rewrite:
    return Rewrite(command=command)


GUARD = {"condition": "Bash(git push *)"}


def test_a_guard_sees_what_a_declared_rewriter_made_of_the_input() -> None:
    rewriter = hook("alias", to("git push --force"), role="rewrites")
    decision = decide_event(call("gp"), rewriter, hook("guard", Deny("no"), role="judges", **GUARD), condition=is_push)
    assert (decision.verdict, decision.reason) == (Verdict.DENY, "no")


def test_a_guard_sees_what_an_undeclared_rewriter_made_of_the_input() -> None:
    rewriter = hook("alias", lambda event: to("git push") if event.tool_input["command"] == "gp" else None)
    for role in ("judges", None):
        guard = hook("guard", Deny("no"), role=role, **GUARD)
        assert decide_event(call("gp"), rewriter, guard, condition=is_push).reason == "no"


def test_a_policy_guard_sees_what_a_lower_scope_made_of_the_input() -> None:
    rewriter = hook("alias", to("git push"), role="rewrites")
    assert decide_event(call("gp"), policy("guard", Deny("no"), **GUARD), rewriter, condition=is_push).reason == "no"


def test_what_a_guard_said_about_an_input_that_will_not_run_does_not_count() -> None:
    rewriter = hook("harmless", lambda event: to("ls"))
    decision = decide_event(call("git push"), rewriter, hook("guard", Deny("no"), **GUARD), condition=is_push)
    assert (decision.verdict, decision.event.tool_input) == (Verdict.NO_OPINION, {"command": "ls"})


def test_a_once_guard_has_its_run_when_its_condition_holds_only_at_the_end() -> None:
    rewriter = hook("alias", to("git push"))
    guard = hook("guard", Deny("no"), role="judges", once=True, **GUARD)
    assert decide_event(call("gp"), rewriter, guard, condition=is_push).reason == "no"


def test_a_rewriter_whose_condition_does_not_hold_stays_out() -> None:
    rewriter = hook("r", to("git push --dry-run"), role="rewrites", **GUARD)
    assert decide_event(call("ls"), rewriter, condition=is_push).event.tool_input == {"command": "ls"}


def test_an_allow_goes_with_its_refused_rewrite() -> None:
    """It was meant for the input that the hook wanted, and that one will not run."""
    both = [Allow("safe now"), Rewrite({"cmd": "ls"}), Note("kept")]
    decision = decide_event(call("rm -rf x"), hook("h", both), validate=lambda tool, value: ["`command` is missing"])
    assert (decision.verdict, decision.note) == (Verdict.NO_OPINION, "kept")
    assert [each.hook for each in decision.failures] == ["h"]


def test_a_once_hooks_rewrite_is_validated_on_top_of_the_one_before() -> None:
    first = hook("first", lambda event: Rewrite({"command": "a"}) if "b" not in event.tool_input else None)
    once = hook("once", [Rewrite(b=1), Allow("mine")], once=True)

    def validate(_tool: str, value: object) -> list[str]:
        return ["too much"] if value == {"command": "a", "b": 1} else []

    decision = decide_event(call("x"), first, once, validate=validate)
    assert (decision.event.tool_input, decision.verdict) == ({"command": "a"}, Verdict.NO_OPINION)
    assert [each.hook for each in decision.failures] == ["once"]
