"""
Require a person for commands that weaken protection, such as approving hooks, and ask yes/no questions.

An agent that runs `snell` in its shell is recognised by the variables that its client sets there. That stops an agent
which was talked into approving its own hooks; it does not stop malware that runs as the user. No message says how it
was recognised, or what a script would have to set: an agent reads messages too.
"""

import os
import sys
from collections.abc import Mapping

from snell.cli.templates import template
from snell.model.errors import TrustError

# Set by coding clients in the processes that they start for an agent.
AGENT_MARKERS = tuple(template("agent_markers.txt").split())
# Set by a user where there is no terminal, such as in an image build.
WITHOUT_TERMINAL = "SNELL_SETUP_WITHOUT_TERMINAL"
_ADVICE = "run it in your own terminal"


def is_agent(env: Mapping[str, str]) -> bool:
    """Return whether this process was started for an agent, or by a hook."""
    return any(env.get(name) for name in AGENT_MARKERS)


def require_person(env: Mapping[str, str], what: str) -> None:
    """Raise TrustError if this process was started for an agent, or by a hook."""
    if is_agent(env):
        raise TrustError(f"{what} needs a person, but this shell belongs to an agent", advice=_ADVICE)


def require_terminal(env: Mapping[str, str], what: str) -> None:
    """Raise TrustError for an agent, and if standard input is a pipe or a script."""
    require_person(env, what)
    if not sys.stdin.isatty():
        raise TrustError(f"{what} needs a person at a terminal, but standard input is not a terminal", advice=_ADVICE)


def require_terminal_nearby(env: Mapping[str, str], what: str) -> None:
    """Raise TrustError for an agent, and if no stream is a terminal, unless the user has set the variable for that."""
    require_person(env, what)
    if env.get(WITHOUT_TERMINAL) == "1" or any(end.isatty() for end in (sys.stdin, sys.stdout, sys.stderr)):
        return
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        raise TrustError(f"{what} needs a person at a terminal, but no terminal was found", advice=_ADVICE) from None


def confirm(question: str) -> bool:
    """Ask at the terminal; return True only for `y` or `yes`."""
    if not sys.stdin.isatty():
        return False
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
