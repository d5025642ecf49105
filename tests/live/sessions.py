"""How a client is started for a session at a terminal, with a first prompt; and what its dialogs look like."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from tests.live.client_user import ClientUser
from tests.live.drivers import CLAUDE_ENV_KEY, Driver, claude_program, node_program
from tests.live.terminal import Terminal

PROMPT = "Please work."


class Session(Struct, frozen=True):
    command: Callable[[Path], list[str]]
    # Answers what the client asks before it takes a prompt.
    begin: Callable[[Terminal], None] = lambda _: None
    ask: str = ""  # what its dialog shows when a hook asks; empty: the call is refused
    prepare: Callable[[ClientUser], None] = lambda _: None


def _know_claude(user: ClientUser) -> None:
    """The answers that a person gave when they used Claude Code here for the first time."""
    project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    state = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [CLAUDE_ENV_KEY], "rejected": []},
        "projects": {str(user.project): project},
    }
    user.write("home/.claude.json", json.dumps(state))


def _approve_codex_hooks(terminal: Terminal) -> None:
    terminal.wait_for("Hooks need review")
    # A key that comes before the dialog listens is lost; choosing twice does no harm.
    terminal.press_until("2", "› 2. Trust all and continue")
    terminal.type("Enter")


SESSIONS: Mapping[str, Session] = {
    "claude-code": Session(
        lambda folder: [claude_program(folder), PROMPT, "--allowedTools", "Bash"],
        ask="requires confirmation for this command",
        prepare=_know_claude,
    ),
    "codex": Session(
        lambda folder: [node_program("codex")(folder), "--sandbox", "danger-full-access", PROMPT],
        _approve_codex_hooks,
    ),
    "gemini": Session(
        lambda folder: ["node", node_program("gemini")(folder), "-m", "gemini-2.5-flash", "--yolo", "-i", PROMPT],
        ask="Allow execution of",
    ),
    "copilot": Session(
        lambda folder: [node_program("copilot")(folder), "--allow-all-tools", "-i", PROMPT],
        ask="Hook permission request",
    ),
    "qwen": Session(lambda folder: ["node", node_program("qwen")(folder), "--yolo", "-i", PROMPT]),
    "grok": Session(lambda folder: [node_program("grok")(folder), "--always-approve", "-m", "scripted", PROMPT]),
    "opencode": Session(lambda folder: [node_program("opencode")(folder), "--prompt", PROMPT]),
    "pi": Session(lambda folder: ["node", node_program("pi")(folder), "--model", "scripted/scripted", PROMPT]),
}


def session_of(driver: Driver, folder: Path, user: ClientUser, env: Mapping[str, str]) -> Terminal:
    """The client at a terminal, with a first prompt."""
    return Terminal(user.folder, SESSIONS[driver.client].command(folder), user.project, user.env(env))
