"""
Tell the agent how this project is built.

Does     Adds a note at the start of a session.
Why      The flags that the tests need are in the Makefile.
Instead  Nothing: it only informs.
Escape   None needed.
"""

from snell import Note, informs


@informs("SessionStart")
def welcome() -> Note:
    """Tell the agent how this project is built."""
    return Note("This project is built with make: `make test` runs the tests.")
