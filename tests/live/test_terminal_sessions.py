"""Sessions at a terminal: context, the warning of a failed hook, a refusal, and a question that a person answers."""

from typing import Any

import pytest

from tests.live.drivers import DRIVERS
from tests.live.sessions import SESSIONS, session_of
from tests.live.stories import ASK, INSTEAD, WARNING, said_so_far
from tests.live.wires import Said

HOOKS = '''
from snell import Ask, Deny, Note, ShellCall, informs, judges


@judges("PreToolUse", kind="shell")
def judge(call: ShellCall):
    """Fail, refuse or ask, by the name of a file."""
    if "broken" in call.command:
        raise RuntimeError("HOOK-IS-BROKEN")
    if "forbidden" in call.command:
        return Deny("REFUSED-BY-HOOK")
    if "doubtful" in call.command:
        return Ask("ASKED-BY-HOOK")


@informs("UserPromptSubmit")
def inform():
    return Note("CONTEXT-BY-HOOK")
'''
PROMPT = "Please work."
CALLS = ("touch broken.txt", "touch forbidden.txt", "touch doubtful.txt")
LAST_WORDS = "THE-MODEL-HAS-ENDED"

NO_SESAME = """
from snell import Deny, Prompt, judges


@judges("UserPromptSubmit")
def no_sesame(prompt: Prompt):
    if "sesame" in prompt.text:
        return Deny("REFUSED-PROMPT")
"""


def test_what_hooks_say_reaches_the_person_and_the_model(driver, user, model, client_folder):
    if driver.client not in SESSIONS:
        pytest.skip(f"{driver.client}: {INSTEAD[driver.client][ASK]}")
    session, folder, cannot = SESSIONS[driver.client], client_folder(driver), INSTEAD[driver.client]
    user.configure(hooks=HOOKS)
    env = driver.prepare(user, model.url)
    session.prepare(user)
    user.snell("setup", driver.client, "--yes")

    def turn(asked: dict[str, Any]) -> Said:
        """By what was said: some clients ask for a title meanwhile."""
        told = said_so_far(asked)
        left = [call for call in CALLS if call not in told]
        return Said("Working.", (driver.shell(left[0]),)) if left else Said(LAST_WORDS)

    model.begin(script=turn)
    doubtful = user.project / "doubtful.txt"
    with session_of(driver, folder, user, env, PROMPT) as terminal:
        session.begin(terminal, PROMPT)
        if session.ask:
            terminal.wait_for(session.ask)
            assert not doubtful.exists()  # it waits for the person
            terminal.press_until("Enter", doubtful.exists)  # the first answer of each dialog is yes
        if session.keys:
            terminal.press_until(session.keys, LAST_WORDS)
        terminal.wait_for(LAST_WORDS)
        if session.details:
            terminal.press_until(session.details, "HOOK-IS-BROKEN")
        elif WARNING not in cannot:
            terminal.wait_for("HOOK-IS-BROKEN")
    told = {text: text in model.shown for text in ("CONTEXT-BY-HOOK", "REFUSED-BY-HOOK", "ASKED-BY-HOOK")}
    assert told == {
        "CONTEXT-BY-HOOK": session.tells_of_prompt,
        "REFUSED-BY-HOOK": driver.tells_why,
        "ASKED-BY-HOOK": driver.tells_why and ASK in cannot,
    }
    assert "ASKED-BY-HOOK" in user.snell("log")
    made = {path.name for path in user.project.glob("*.txt")}
    assert made == {"broken.txt"} | (set() if ASK in cannot else {"doubtful.txt"})


def test_droid_reports_a_prompt_that_is_typed_at_a_terminal_and_drops_a_refused_one(
    asked_for, user, model, client_folder
):
    driver = next(each for each in DRIVERS if each.client == asked_for("droid"))
    folder, session, prompt = client_folder(driver), SESSIONS["droid"], "Open sesame."
    user.configure(hooks=NO_SESAME)
    env = driver.prepare(user, model.url)
    user.snell("setup", "droid", "--yes")
    model.begin([Said(LAST_WORDS)])
    with session_of(driver, folder, user, env, prompt) as terminal:
        session.begin(terminal, prompt)
        terminal.wait_for("REFUSED-PROMPT")
        terminal.press_until("BSpace", lambda: f"> {prompt[0]}" not in terminal.shown)  # it waits to be typed anew
        terminal.type(PROMPT)
        terminal.press_until("Enter", LAST_WORDS)
    assert ("sesame" in model.shown, model.left) == (False, 0)
