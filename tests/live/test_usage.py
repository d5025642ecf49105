"""`snell usage` counts what the model said that it used, in the records of real clients."""

import json

import pytest

from snell.clients import canonical_name
from snell.conversations import READERS
from tests.live.wires import Said

ANSWERS = 3  # two with a command, and the last
# Of each answer: read, written and from the cache. Claude Code is told of no cache, and OpenCode has no transcript.
TOKENS = {"claude-code": (100, 10, 0), "opencode": (0, 0, 0)}


def test_the_tokens_of_a_conversation_are_counted(driver, user, model, client_folder):
    if canonical_name(driver.client) not in READERS:
        pytest.skip(f"{driver.client} keeps no record that is read")
    folder = client_folder(driver)
    env = driver.prepare(user, model.url)
    model.begin([Said("Working.", (driver.shell(each),)) for each in ("echo one", "echo two")])
    ran = user.run(driver.command(folder, user, "Please work."), env)
    assert ran.code == 0, ran
    found = json.loads(user.snell("usage", "--client", driver.client, "--json"))
    counted = tuple(found["total"][name] for name in ("tokens_in", "tokens_out", "tokens_cached"))
    assert counted == tuple(ANSWERS * each for each in TOKENS.get(driver.client, (60, 10, 40))), found
    assert all(each["session"] not in ("events", "wire") for each in found["sessions"]), found
