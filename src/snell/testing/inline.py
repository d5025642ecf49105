"""For an author's own tests: decide one event with functions of the test's own process."""

import os
from collections.abc import Callable
from typing import Any

from snell.model.decision import Decision
from snell.model.hooks import Hook
from snell.runtime.app import Runtime
from snell.testing.case_event import case_event_from


def decide_with(
    *hooks: Callable[..., Any] | Hook, on: str, cwd: str | os.PathLike[str] = "", **fields: Any
) -> Decision:
    """
    Decide one event with these hooks and no others.

        decision = decide_with(no_force_push, on="PreToolUse", kind="shell", command="git push --force")
        assert decision.verdict == Verdict.DENY

    The fields are those of a case file's `event`.
    """
    given = case_event_from({"on": on, **fields})
    runtime = Runtime.embed(*hooks)
    try:
        return runtime.decide(given.happening(os.fspath(cwd) or os.getcwd(), "test"))
    finally:
        runtime.close()
