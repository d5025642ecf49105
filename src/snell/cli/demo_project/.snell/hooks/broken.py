"""
A hook with a mistake in it, to show what that costs.

Does     Nothing: it divides by zero.
Why      Hooks break. A broken one must not stop the work.
Instead  It is reported, and the edit goes on.
Escape   Mend it.
"""

from snell import EditCall, Note, informs


@informs("PreToolUse", kind="edit")
def count_lines(call: EditCall) -> Note:
    """Count something that is not there."""
    return Note(f"{len(call.new) / 0} lines")
