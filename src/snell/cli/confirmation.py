"""
Require a person for commands that weaken protection, such as approving hooks, and ask yes/no questions.

Who runs a command is decided in `snell.cli.person`; without that folder, such commands are refused. That stops an agent
which was talked into approving its own hooks; it does not stop malware that runs as the user. No message says how an
agent was recognised: an agent reads messages too.
"""

import sys
from collections.abc import Collection, Mapping

from snell.cli.templates import template
from snell.model.errors import TrustError
from snell.system.capabilities import capability

# Set by coding clients in the processes that they start for an agent.
AGENT_MARKERS = tuple(template("agent_markers.txt").split())
CODE_HELP = "a one-time code from `snell code`, where no person runs this"


def is_agent(env: Mapping[str, str]) -> bool:
    """Return whether the variables say that a process was started for an agent, or by a hook."""
    return any(env.get(name) for name in AGENT_MARKERS)


def require_person(
    env: Mapping[str, str], what: str, code: str = "", subject: str = "", policy: Mapping[str, Collection[object]] = {}
) -> None:
    """
    Raise TrustError unless a person runs this command, or gave a one-time code for exactly this `subject`, or the
    policy of the machine has all these values in its settings of these names.
    """
    person = capability("snell.cli.person.check")
    if person is None:
        raise TrustError(f"{what} needs a person, and Snell is incomplete here", advice="install all of Snell")
    person.check_person(env, what, code, subject, policy)


def confirm(question: str, code: str = "") -> bool:
    """Ask at the terminal; return True only for `y` or `yes`, or if a code was given and there is no terminal."""
    if not sys.stdin.isatty():
        return bool(code)
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
