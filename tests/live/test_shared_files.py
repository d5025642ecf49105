"""Clients that run each other's hook files: set up for both, a hook still fires once a call."""

import json

import pytest

from tests.live.drivers import DRIVERS
from tests.live.wires import Said

COUNTING = """
from pathlib import Path

from snell import Deny, Note, Rewrite, informs, judges, rewrites

@judges("PreToolUse", kind="shell")
def count(call, cwd: str):
    with Path(cwd, "judged.log").open("a", encoding="utf-8") as log:
        log.write(call.command + "\\n")
    return Deny("REFUSED-ONCE") if "precious" in call.command else None

@rewrites("PreToolUse", kind="shell")
def once_more(call):
    if call.command.startswith("echo"):
        return Rewrite(command="echo again; " + call.command)

@informs("PostToolUse")
def after_tool():
    return Note("TOLD-AFTER-TOOL")

@informs("SessionStart", "UserPromptSubmit")
def count_events(event, cwd: str):
    with Path(cwd, "events.log").open("a", encoding="utf-8") as log:
        log.write(event.name + "\\n")
"""


# With a matcher of the person's own: Cursor knows a Claude file by one.
OWN = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]}}


@pytest.mark.parametrize(
    ("client", "scope"),
    [("grok", "user"), ("copilot", "project"), ("cursor", "user"), ("cursor", "project")],
    ids=["grok and Claude's", "copilot and Claude's", "cursor and Claude's", "cursor and the project's of Claude"],
)
def test_a_hook_fires_once_where_two_files_name_it(client, scope, asked_for, user, model, client_folder):
    driver = next(each for each in DRIVERS if each.client == asked_for(client))
    folder = client_folder(driver)
    user.configure(hooks=COUNTING)
    user.write("project/precious.txt", "keep me")
    env = driver.prepare(user, model.url)
    user.write(f"{'home' if scope == 'user' else 'project'}/.claude/settings.json", json.dumps(OWN))
    user.snell("setup", client, "--yes")
    user.snell("setup", "claude-code", "--scope", scope, "--yes")
    model.begin([Said("Working.", (driver.shell(command),)) for command in ("echo one", "rm -f precious.txt")])
    user.run(driver.command(folder, user, "Please work."), env)
    judged = (user.project / "judged.log").read_text(encoding="utf-8").splitlines()
    assert judged == ["echo again; echo one", "rm -f precious.txt"]
    events = (user.project / "events.log").read_text(encoding="utf-8").splitlines()
    assert sorted(events) == ["SessionStart", "UserPromptSubmit"]
    assert (user.project / "precious.txt").exists()
    assert "REFUSED-ONCE" in model.shown
    assert "TOLD-AFTER-TOOL" in model.shown


SUBAGENTS = """
from pathlib import Path

from snell import informs

@informs("SubagentStart")
def count(event, cwd: str):
    with Path(cwd, "started.log").open("a", encoding="utf-8") as log:
        log.write(f"{event.client} {event.payload.get('agent_type')}\\n")
"""


@pytest.mark.parametrize("files", [("claude-code",), ("claude-code", "copilot")], ids=["Claude's alone", "both"])
def test_a_subagent_of_copilot_is_reported_once(files, asked_for, user, model, client_folder):
    driver = next(each for each in DRIVERS if each.client == asked_for("copilot"))
    folder = client_folder(driver)
    user.configure(hooks=SUBAGENTS)
    env = driver.prepare(user, model.url)
    for name in files:
        user.snell("setup", name, "--scope", "project", "--yes")
    task = {"agent_type": "explore", "name": "child", "description": "child", "prompt": "look", "mode": "sync"}
    model.begin([Said("Working.", (("task", task),)), Said("The child is done.")])
    ran = user.run(driver.command(folder, user, "Please work."), env)
    log = user.project / "started.log"
    assert log.exists(), ran
    assert log.read_text(encoding="utf-8") == "copilot explore\n"
