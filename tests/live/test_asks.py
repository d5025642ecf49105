"""In clients that drop an ask: the call is refused, the run goes on where the client lets it, and says why."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.live.drivers import DRIVERS, Driver, cline_program, droid_program, node_program
from tests.live.terminal import Terminal
from tests.live.wires import Said

HOOKS = """
from snell import Ask, ShellCall, judges


@judges("PreToolUse", kind="shell")
def is_meant(call: ShellCall):
    if "doubtful" in call.command:
        return Ask("ASKED-BY-HOOK: it is doubtful")
"""
CALL = "touch doubtful.txt"
LAST_WORDS = "THE-MODEL-HEARD-OF-IT"
# The words that select a mode, put where the client's usual ones stand.
DROID_MODES = ((), ("--auto", "low"), ("--auto", "medium"), ("--auto", "high"), ("--skip-permissions-unsafe",))
GROK_MODES = ("default", "auto", "acceptEdits", "dontAsk", "bypassPermissions")
MODES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "droid": DROID_MODES,
    "gemini": (("--yolo",),),
    "cline": ((), ("--auto-approve", "true")),
    "qwen": (("--yolo",),),
    "grok": tuple(("--permission-mode", mode) for mode in GROK_MODES),
}
HEADLESS = [(client, mode) for client, modes in MODES.items() for mode in modes]
Command = Callable[[Path, tuple[str, ...]], list[str]]
COMMANDS: Mapping[str, Command] = {
    "droid": lambda folder, mode: [droid_program(folder), "exec", *mode, "-m", "custom:Scripted-0", "Please work."],
    "gemini": lambda folder, mode: [*_node("gemini", folder), "-m", "gemini-2.5-flash", *mode, "-p", "Please work."],
    "qwen": lambda folder, mode: [*_node("qwen", folder), *mode, "-p", "Please work."],
    "grok": lambda folder, mode: [node_program("grok")(folder), "-m", "scripted", *mode, "-p", "Please work."],
    "cline": lambda folder, mode: [*cline_program(folder), *mode, "Please work."],
}


def _node(name: str, folder: Path) -> list[str]:
    return ["node", node_program(name)(folder)]


@pytest.fixture
def scene(asked_for, user, model, client_folder):
    """Set Snell up in a client whose model wants to make one doubtful call; returns its folder and environment."""

    def set_up(client: str) -> tuple[Path, Mapping[str, str]]:
        driver: Driver = next(each for each in DRIVERS if each.client == asked_for(client))
        folder = client_folder(driver)
        user.configure(hooks=HOOKS)
        env = driver.prepare(user, model.url)
        user.snell("setup", client, "--yes")
        model.begin([Said("Working.", (driver.shell(CALL),)), Said(LAST_WORDS)])
        return folder, env

    return set_up


@pytest.mark.parametrize(("client", "mode"), HEADLESS, ids=[" ".join((client, *mode)) for client, mode in HEADLESS])
def test_an_ask_in_a_run_without_a_person_is_a_refusal_with_its_reason(scene, user, model, client, mode):
    folder, env = scene(client)
    ran = user.run(COMMANDS[client](folder, mode), env)
    assert not (user.project / "doubtful.txt").exists(), ran
    if client == "cline":  # it ends the run and shows no reason; Snell's journal has it
        assert "abort" in ran.out, ran
        assert "ASKED-BY-HOOK" in user.snell("log")
        return
    assert (ran.code, LAST_WORDS in ran.out) == (0, True), ran
    told = [text in model.shown for text in ("ASKED-BY-HOOK", "A person has to decide this", "Tell the user")]
    assert told == [True, True, True], model.shown[-3_000:]


def test_gemini_refuses_in_a_run_without_a_person_at_a_terminal(scene, user, model):
    folder, env = scene("gemini")
    words = [*_node("gemini", folder), "-m", "gemini-2.5-flash", "--yolo", "-p", "Please work."]
    with Terminal(user.folder, words, user.project, user.env(env)) as terminal:
        terminal.wait_for(LAST_WORDS)
    assert "ASKED-BY-HOOK" in model.shown
