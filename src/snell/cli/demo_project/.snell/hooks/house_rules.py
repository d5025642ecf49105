"""
What this project wants an agent to know.

Does     Says at the start of a session how the project is built.
Why      The flags that make the tests pass live in the Makefile.
Instead  Nothing: it only informs.
Escape   Nothing to escape.
"""

from snell import Note, informs


@informs("SessionStart")
def welcome() -> Note:
    """Tell the agent how this project is built."""
    return Note("This project is built with make: `make test` runs the tests.")
