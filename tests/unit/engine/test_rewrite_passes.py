"""How often hooks may rewrite: two passes without declared roles, and all in turn in sequential order."""

from snell.model.decision import Skipped
from snell.model.effects import Deny
from snell.model.hooks import Switches
from tests.helpers import call, decide_event, hook, summary_of
from tests.unit.engine.rewriting import INPUT, adds, becomes, passes


def test_a_hook_that_wants_to_rewrite_only_then_has_its_turn_and_all_judge_once_more() -> None:
    late = hook("late", lambda on: becomes("make -j4") if on.tool_input == {"command": "make"} else None)
    decision = decide_event(call(), hook("r", becomes("make")), late, hook("j", role="judges"))
    assert passes(decision) == [
        ("judge", ["r", "late", "j"], INPUT),
        ("again", ["late", "j"], {"command": "make"}),
        ("last", ["r", "j"], {"command": "make -j4"}),
    ]
    changes = [("r", {"command": "make"}), ("late", {"command": "make -j4"})]
    assert summary_of(decision) == {"verdict": "no_opinion", "changes": changes}


def test_a_rewrite_after_two_passes_is_a_failure_that_asks() -> None:
    hooks = [
        hook(after, lambda on, after=after: becomes(f"{after}!") if on.command == after else None)
        for after in ("ls", "ls!", "ls!!")
    ]
    decision = decide_event(call(), *hooks)
    why = "`ls!!` would rewrite what had already been rewritten and judged"
    assert summary_of(decision) == {
        "verdict": "ask",
        "reasons": [("ls!!", why)],
        "changes": [("ls", {"command": "ls!"}), ("ls!", {"command": "ls!!"})],
        "failures": ["ls!!"],
    }


def test_in_sequential_order_each_hook_sees_what_the_one_before_left_until_one_denies() -> None:
    order = Switches(order="sequential")
    no_b = hook("no b", lambda on: Deny("no b") if "b" in on.command else None, role="judges")
    hooks = [hook("a", adds("a")), hook("j", role="judges"), hook("b", adds("b"), role="rewrites")]
    decision = decide_event(call(), *hooks, no_b, hook("never"), switches=order)
    assert passes(decision) == [
        ("turn", ["a"], INPUT),
        ("turn", ["j"], {"command": "ls a"}),
        ("turn", ["b"], {"command": "ls a"}),
        ("turn", ["no b"], {"command": "ls a b"}),
    ]
    assert (decision.verdict.name, decision.skipped) == (
        "DENY",
        (Skipped("never", "a hook before it had already denied"),),
    )
    last = passes(decide_event(call(), *hooks, switches=order))[-1]
    assert last == ("again", ["a", "j"], {"command": "ls a b"})  # what is judged last is what runs
