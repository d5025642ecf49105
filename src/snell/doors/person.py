"""
Things that loosen protection need a person: approving hooks, switching guards off.

An agent that runs our commands in its shell is recognised by the variables its client sets there. That stops an agent
which was talked into approving its own hooks; it does not stop malware that runs as the user.
"""

import sys
from collections.abc import Mapping

from snell.model.errors import TrustError

# Set by coding clients in the processes that they start for an agent.
AGENT_MARKERS = (
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "AI_AGENT",
    "CURSOR_AGENT",
    "CODEX_SANDBOX",
    "GEMINI_CLI",
    "COPILOT_AGENT",
    "CLINE_ACTIVE",
    "OPENCODE",
    "SNELL_RUN",
)


def require_person(env: Mapping[str, str], what: str) -> None:
    """Refuse when this process was started for an agent, or by a hook."""
    marker = next((name for name in AGENT_MARKERS if env.get(name)), "")
    if marker:
        raise TrustError(f"{what} needs a person, and this shell belongs to an agent ({marker} is set)", advice=_ADVICE)


def require_terminal(env: Mapping[str, str], what: str) -> None:
    """The same for what nobody may do without a terminal: pipes and scripts are refused too."""
    require_person(env, what)
    if not sys.stdin.isatty():
        raise TrustError(f"{what} needs a person at a terminal, and standard input is not one", advice=_ADVICE)


def asks_yes(question: str) -> bool:
    """Ask at the terminal; only a plain yes is one."""
    if not sys.stdin.isatty():
        return False
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


_ADVICE = "run it in a terminal of your own"
