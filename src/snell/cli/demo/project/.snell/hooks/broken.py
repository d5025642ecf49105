"""
A hook with a bug, to show that a broken hook does not stop the agent.

Does     Nothing: it divides by zero.
Why      Hooks can break. A broken one must not block the agent.
Instead  The failure is reported, and the edit goes on.
Escape   Fix the bug.
"""

from snell import EditCall, Note, informs


@informs("PreToolUse", kind="edit")
def count_lines(call: EditCall) -> Note:
    """Report the number of new lines (and fail: this divides by zero)."""
    return Note(f"{len(call.new) / 0} lines")
