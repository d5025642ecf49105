"""
Hypothesis strategies: one event and the hooks that wait for it.

A case is made from one drawn number, because drawing every field would cost ten times as much as deciding; a second
number says which of its hooks to leave out, so that a failing case still shrinks to the hooks that matter.
"""

from random import Random
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from msgspec import structs

from snell.model.decision import Failure, Outcome
from snell.model.hooks import Hook
from tests.case_counts import cases as example_count
from tests.properties.random_cases import Case, random_case, random_hook

EVENTS = ("PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit", "Stop", "MessageDisplay")
FAILED = Outcome(failure=Failure("crash", "it broke"))
MOST_HOOKS = 8

many = settings(deadline=None, max_examples=example_count(50, 2_000))
numbers = st.integers(0, 2**32)


def cases(names: tuple[str, ...] = EVENTS) -> st.SearchStrategy[Case]:
    """One event, and hooks that are a fixed function of the value they are shown."""

    def made(number: int, left_out: int) -> Case:
        rng = Random(number)
        case = random_case(rng, names=(rng.choice(names),), length=1)
        case.hooks = [applying(hook) for place, hook in enumerate(case.hooks) if not left_out >> place & 1]
        return case

    return st.builds(made, numbers, st.just(0) | st.integers(0, 2**MOST_HOOKS - 1))


def hooks_for(case: Case, hook_id: str, **declared: Any) -> st.SearchStrategy[Hook]:
    """One more hook for the event of this case, of any scope and role, that nothing keeps from running."""

    def made(number: int) -> Hook:
        return structs.replace(applying(random_hook(Random(number), hook_id, case.events[0].name)), **declared)

    return st.builds(made, numbers)


def applying(hook: Hook) -> Hook:
    """The hook without anything that could keep it from running; which hooks apply is compared elsewhere."""
    freed: dict[str, Any] = {"matcher": None, "matcher_type": None, "kinds": (), "condition": None, "enabled": True}
    freed |= {"untrusted": "", "session_id": "", "is_async": False}
    return structs.replace(hook, role=None if hook.role == "watches" else hook.role, **freed)


def outcomes_with(*words: type) -> st.SearchStrategy[Outcome]:
    """Answers of a hook that has only these effects."""
    return st.sampled_from([Outcome(effects=(word(text),)) for word in words for text in ("~one", "~two")])
