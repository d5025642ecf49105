"""
What this project wants an agent to know and to use.

Does     Runs the tests through `make`, and says at the start of a session that it does.
Why      The flags that make the tests pass live in the Makefile.
Instead  `pytest -q` becomes `make test`.
Escape   Begin the command with `!`.
"""

from snell import Note, Rewrite, ShellCall, informs, rewrites
from snell.kit.shell import without_escape


@informs("SessionStart")
def welcome() -> Note:
    """Tell the agent how this project is built."""
    return Note("This project is built with make: `make test` runs the tests.")


@rewrites("PreToolUse", kind="shell")
def tests_through_make(call: ShellCall) -> Rewrite | None:
    """Run the tests the way this project runs them."""
    if call.is_escaped:
        return Rewrite(command=without_escape(call.command), because="the `!` asks to run it as it is")
    if call.runs("pytest"):
        return Rewrite(command="make test", because="the Makefile knows the right flags")
    return None
