"""`/harness OBJECTIVE` in the clients that have commands: set-up wrote the command, and it starts the loop."""

import pytest

from snell.clients import client_named
from snell.packs.harness.promise import LATE
from tests.live.drivers import DRIVERS
from tests.live.sessions import SESSIONS, session_of
from tests.live.stories import said_so_far
from tests.live.wires import Said

WITH_COMMANDS = [each for each in DRIVERS if client_named(each.client.replace("-", "_")).install.command]

AT_A_TERMINAL = ("claude-code", "codex", "copilot", "droid", "pi")


@pytest.mark.parametrize("by", WITH_COMMANDS, ids=lambda each: each.client)
def test_the_command_starts_the_loop_and_the_agent_is_sent_back_until_it_is_done(
    by, asked_for, user, model, client_folder
):
    asked_for(by.client)
    folder = client_folder(by)
    env = by.prepare(user, model.url)
    user.snell("setup", by.client, "--yes")
    is_late = by.client.replace("-", "_") in LATE  # it learns of the promise at the next stop
    model.begin([Said("That is all."), *[Said("Now it is: TASK_COMPLETE")] * (1 + is_late)])
    ran = user.run(by.command(folder, user, "/harness write the parser"), env)
    assert "write the parser" in model.shown, ran
    if by.cannot.keys() & {"prompt blocked", "stop continued"}:
        return  # without a person it reports no prompt, or does not wait at the end of a turn
    assert ("Iteration 1/10" in model.shown, model.left) == (True, 0), (ran, model.shown[-3_000:])


@pytest.mark.parametrize(
    ("client", "typed"),
    [(client, "$harness" if client == "codex" else "/harness") for client in AT_A_TERMINAL],
)
def test_in_a_session_at_a_terminal_the_client_knows_the_command(client, typed, asked_for, user, model, client_folder):
    by = next(each for each in DRIVERS if each.client == asked_for(client))
    folder, session = client_folder(by), SESSIONS[client]
    env = by.prepare(user, model.url)
    session.prepare(user)
    user.snell("setup", by.client, "--yes")
    prompt = f"{typed} write the parser"
    told, sent_back = "Work on this until it is done: write the parser", "Iteration 1/10"
    model.begin(script=lambda asked: Said("TASK_COMPLETE" if sent_back in said_so_far(asked) else "That is all."))
    with session_of(by, folder, user, env, prompt) as terminal:
        session.begin(terminal, prompt)
        terminal.wait_for(lambda: sent_back in model.shown)
    assert told in model.shown
