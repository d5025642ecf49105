"""`decide_with`: what authors call in tests of their own."""

import pytest

from snell import Deny, ShellCall, Verdict, judges
from snell.testing import CaseError, decide_with


@judges("PreToolUse", kind="shell")
def no_force_push(call: ShellCall) -> Deny | None:
    return Deny("it overwrites work", instead="ask") if call.runs("git", "push", "--force") else None


@judges("PreToolUse")
def not_here(cwd: str) -> Deny | None:
    return Deny("not here") if cwd == "/elsewhere" else None


def test_one_event_is_decided_by_these_hooks_alone():
    decision = decide_with(no_force_push, on="PreToolUse", kind="shell", command="git push --force")
    assert (decision.verdict, decision.reason) == (Verdict.DENY, "it overwrites work. Instead: ask")
    assert decide_with(no_force_push, on="pre_tool_use", kind="shell", command="ls").verdict is Verdict.NO_OPINION


def test_the_place_can_be_chosen():
    assert decide_with(not_here, on="PreToolUse", kind="shell", command="ls", cwd="/elsewhere").reason == "not here"


def test_a_misspelt_field_is_an_error():
    with pytest.raises(CaseError, match="did you mean `command`"):
        decide_with(no_force_push, on="PreToolUse", kind="shell", comand="ls")
