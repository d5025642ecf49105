"""
Things that loosen protection need a person: approving hooks, switching guards off.

An agent that runs our commands in its shell is recognised by the variables its client sets there. That stops an agent
which was talked into approving its own hooks; it does not stop malware that runs as the user.
"""

import os
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
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
    "GEMINI_CLI",
    "GEMINI_SESSION_ID",
    "COPILOT_AGENT",
    "COPILOT_CLI",
    "GROK_SESSION_ID",
    "GROK_HOOK_EVENT",
    "QWEN_PROJECT_DIR",
    "DROID_PROJECT_DIR",
    "FACTORY_PROJECT_DIR",
    "ANTIGRAVITY_CONVERSATION_ID",
    "AUGMENT_CONVERSATION_ID",
    "CRUSH_SESSION_ID",
    "CLINE_ACTIVE",
    "OPENCODE",
    "SNELL_RUN",
)
# With this a person says that there is no terminal, such as where an image is built.
WITHOUT_TERMINAL = "SNELL_SETUP_WITHOUT_TERMINAL"


def is_agent(env: Mapping[str, str]) -> bool:
    """Was this process started for an agent, or by a hook?"""
    return any(env.get(name) for name in AGENT_MARKERS)


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


def require_terminal_nearby(env: Mapping[str, str], what: str) -> None:
    """The same where nothing has to be typed: a terminal at any end will do, or a person's word that there is none."""
    require_person(env, what)
    if env.get(WITHOUT_TERMINAL) == "1" or any(end.isatty() for end in (sys.stdin, sys.stdout, sys.stderr)):
        return
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        advice = f"{_ADVICE}; where there can be none, as when an image is built, set {WITHOUT_TERMINAL}=1"
        raise TrustError(f"{what} needs a person at a terminal, and there is none here", advice=advice) from None


def confirm(question: str) -> bool:
    """Ask at the terminal; only a plain yes is one."""
    if not sys.stdin.isatty():
        return False
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


_ADVICE = "run it in a terminal of your own"
