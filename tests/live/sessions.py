"""How a client is started for a session at a terminal, with a first prompt; and what its dialogs look like."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from tests.live.client_user import ClientUser
from tests.live.drivers import (
    CLAUDE_ENV_KEY,
    Driver,
    claude_program,
    cline_program,
    droid_program,
    kimi_program,
    node_program,
)
from tests.live.terminal import Terminal


class Session(Struct, frozen=True):
    command: Callable[[Path, str], list[str]]
    # Answers what the client asks before it takes a prompt, and types the prompt if its command line takes none.
    begin: Callable[[Terminal, str], None] = lambda _, __: None
    ask: str = ""  # what its dialog shows when a hook asks; empty: the call is refused
    # What a person presses again and again until the model has ended: yes to the client's own dialogs, or a new prompt.
    keys: tuple[str, ...] = ()
    details: str = ""  # the key that shows what hooks have answered; empty: the client shows it by itself
    tells_of_prompt: bool = True  # its model is given what hooks say to a prompt
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


def _approve_codex_hooks(terminal: Terminal, _: str) -> None:
    terminal.wait_for("Hooks need review")
    # A key that comes before the dialog listens is lost; choosing twice does no harm.
    terminal.press_until("2", "› 2. Trust all and continue")
    terminal.type("Enter")


def _trust_folder(terminal: Terminal, _: str = "") -> None:
    terminal.wait_for("Trust this folder?")
    terminal.press_until("Enter", lambda: "Trust this folder?" not in terminal.shown)  # the first answer is yes


def _trust_folder_and_type(terminal: Terminal, prompt: str) -> None:
    _trust_folder(terminal)
    terminal.wait_for("No session yet")
    terminal.type(prompt)
    terminal.wait_for(f"> {prompt}")
    terminal.type("Enter")


SESSIONS: Mapping[str, Session] = {
    "claude-code": Session(
        lambda folder, prompt: [claude_program(folder), prompt, "--allowedTools", "Bash"],
        ask="requires confirmation for this command",
        prepare=_know_claude,
    ),
    "codex": Session(
        lambda folder, prompt: [node_program("codex")(folder), "--sandbox", "danger-full-access", prompt],
        _approve_codex_hooks,
    ),
    "gemini": Session(
        lambda folder, prompt: [
            "node",
            node_program("gemini")(folder),
            "-m",
            "gemini-2.5-flash",
            "--yolo",
            "-i",
            prompt,
        ],
        ask="Allow execution of",
    ),
    "copilot": Session(
        lambda folder, prompt: [node_program("copilot")(folder), "--allow-all-tools", "-i", prompt],
        ask="Hook permission request",
    ),
    "qwen": Session(lambda folder, prompt: ["node", node_program("qwen")(folder), "--yolo", "-i", prompt]),
    "droid": Session(
        lambda folder, prompt: [droid_program(folder), prompt], _trust_folder, keys=("Enter",), details="C-o"
    ),
    "kimi": Session(lambda folder, _: kimi_program(folder), _trust_folder_and_type, keys=("Enter",)),
    # A refusal ends the run there, and the person asks for more.
    "cline": Session(
        lambda folder, prompt: [*cline_program(folder), "--tui", prompt],
        keys=("Please go on.", "Enter"),
        tells_of_prompt=False,
    ),
    "grok": Session(
        lambda folder, prompt: [node_program("grok")(folder), "--always-approve", "-m", "scripted", prompt]
    ),
    "opencode": Session(lambda folder, prompt: [node_program("opencode")(folder), "--prompt", prompt]),
    "pi": Session(lambda folder, prompt: ["node", node_program("pi")(folder), "--model", "scripted/scripted", prompt]),
}


def session_of(driver: Driver, folder: Path, user: ClientUser, env: Mapping[str, str], prompt: str) -> Terminal:
    """The client at a terminal, with a first prompt."""
    return Terminal(user.folder, SESSIONS[driver.client].command(folder, prompt), user.project, user.env(env))
