"""`/harness OBJECTIVE` in the clients that have commands: set-up wrote the command, and it starts the loop."""

import json

import pytest

from snell.clients import client_named
from tests.live.drivers import DRIVERS
from tests.live.wires import Said

WITH_COMMANDS = [each for each in DRIVERS if client_named(each.client.replace("-", "_")).install.command]


@pytest.mark.parametrize("by", WITH_COMMANDS, ids=lambda each: each.client)
def test_the_command_starts_the_loop_and_the_agent_is_sent_back_until_it_is_done(
    by, asked_for, user, model, client_folder
):
    asked_for(by.client)
    folder = client_folder(by)
    env = by.prepare(user, model.url)
    user.snell("setup", by.client, "--yes")
    model.begin([Said("That is all."), Said("Now it is: TASK_COMPLETE")])
    ran = user.run(by.command(folder, user, "/harness write the parser"), env)
    assert "write the parser" in model.shown, ran
    if by.cannot.keys() & {"prompt blocked", "stop continued"}:
        return  # without a person it reports no prompt, or does not wait at the end of a turn
    assert ("Iteration 1/10" in model.shown, model.left) == (True, 0), (ran, model.shown[-3_000:])


def test_in_a_session_at_a_terminal_claude_code_knows_the_command(asked_for, user, model, client_folder):
    claude = DRIVERS[0]
    asked_for(claude.client)
    folder = client_folder(claude)
    env = claude.prepare(user, model.url)
    state = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [env["ANTHROPIC_API_KEY"]], "rejected": []},
        "projects": {str(user.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    user.write("home/.claude.json", json.dumps(state))
    user.snell("setup", claude.client, "--yes")
    model.begin([Said("That is all."), Said("Now it is: TASK_COMPLETE")])
    program = claude.command(folder, user, "")[0]
    shown = user.screen([program, "/harness write the parser"], env, until="the loop has ended")
    assert "Work on this until it is done: write the parser" in model.shown, shown[-3_000:]
    assert ("Iteration 1/10" in model.shown, model.left) == (True, 0), shown[-3_000:]
