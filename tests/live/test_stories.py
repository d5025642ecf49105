"""In every client that can show it: the project's own command, memory over MCP, and a sub-agent that is sent back."""

from typing import Any

import pytest

from tests.live.stories import (
    CHILD_TASK,
    CHILDREN,
    INSTEAD,
    MEMORY,
    REDIRECT,
    REMEMBER,
    SEND_BACK,
    WAITS,
    said_so_far,
)
from tests.live.wires import Said

MAKEFILE = "test:\n\t@echo MADE-BY-THE-PROJECT\n"
FACT = "We decided to keep all amounts as integer cents, because floats lost a penny in invoice_total.py"
QUESTION = "how are amounts of money stored"
MOST_TRIES = 60  # of a call to a server that is still starting
CHILD_HOOK = '''
from pathlib import Path

from snell import Deny, judges


@judges("SubagentStop")
def finish_first(cwd: str):
    """Send a sub-agent back before its file is made."""
    if not Path(cwd, "child.txt").exists():
        return Deny("SENT-BACK: make child.txt first")
'''


def test_a_typed_command_becomes_the_projects_own(driver, user, model, client_folder):
    folder = client_folder(driver)
    user.write("project/Makefile", MAKEFILE)
    env = driver.prepare(user, model.url)
    user.snell("setup", driver.client, "--yes")
    model.begin([Said("Working.", (driver.shell("pytest"),))])
    ran = user.run(driver.command(folder, user, "Please work."), env)
    is_refused = REDIRECT in INSTEAD[driver.client]
    assert ("MADE-BY-THE-PROJECT" in model.shown) is not is_refused, (ran, model.shown[-3_000:])
    assert not is_refused or "make test" in model.shown, (ran, model.shown[-3_000:])


def test_the_next_session_recalls_what_this_one_remembers(driver, user, model, client_folder):
    if why := INSTEAD[driver.client].get(REMEMBER):
        pytest.skip(f"{driver.client}: {why}")
    folder = client_folder(driver)
    env = driver.prepare(user, model.url)
    user.snell("setup", driver.client, "--include-mcp", "--yes")

    def session(name: str, until: str, **given: str) -> None:
        """One session, whose model calls the tool until its server is there and the answer has this text."""
        call, tries = MEMORY[driver.client](name, given), iter(range(MOST_TRIES))

        def turn(asked: dict[str, Any]) -> Said:
            if _plain(until) in _plain(said_so_far(asked)) or (number := next(tries, None)) is None:
                return Said("That is all.")
            return Said("Working.", _wait(driver, name) if number % 2 else (call,))

        model.begin(script=turn)
        tools = [f"mcp__snell__{name}"] if driver.client == "claude-code" else []
        ran = user.run([*driver.command(folder, user, "Please work."), *tools], env)
        assert _plain(until) in _plain(model.shown), (ran, model.shown[-3_000:])

    session("remember", '"status":"stored"', content=FACT)
    session("recall", FACT, query=QUESTION)


def _plain(text: str) -> str:
    """Without what clients add to JSON in JSON: backslashes and white space."""
    return text.replace("\\", "").replace(" ", "")


def _wait(driver, name: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    """A while; one client has to look for a tool before its model can call it."""
    search = ("ToolSearch", {"query": f"select:snell___{name}"})
    return (driver.shell("sleep 0.5"), *([search] if driver.client == "droid" else []))


def test_a_sub_agent_that_stops_early_is_sent_back(driver, user, model, client_folder):
    if why := INSTEAD[driver.client].get(SEND_BACK):
        pytest.skip(f"{driver.client}: {why}")
    folder = client_folder(driver)
    user.configure(hooks=CHILD_HOOK)
    env = driver.prepare(user, model.url)
    user.snell("setup", driver.client, "--yes")
    child, wait = user.project / "child.txt", WAITS.get(driver.client)

    def turn(asked: dict[str, Any]) -> Said:
        told = said_so_far(asked)
        if "Please send someone." not in told:  # the sub-agent
            is_sent_back = "SENT-BACK" in told and not child.exists()
            return Said("Working.", (driver.shell("touch child.txt"),)) if is_sent_back else Said("CHILD-IS-DONE")
        if CHILD_TASK not in told:
            return Said("Sending.", (CHILDREN[driver.client],))
        return Said("Waiting.", (wait,)) if wait and "CHILD-IS-DONE" not in told else Said("That is all.")

    model.begin(script=turn)
    ran = user.run(driver.command(folder, user, "Please send someone."), env)
    assert child.exists(), (ran, model.shown[-3_000:])
    assert (ran.code, "CHILD-IS-DONE" in model.shown) == (0, True), ran
