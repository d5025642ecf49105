"""`snell coverage` finds what hooks did not see in real conversations, and nothing in those that they saw whole."""

import json
import os
import sys
from pathlib import Path

import pytest

from snell.clients import canonical_name, client_named
from snell.conversations import READERS
from tests.live.drivers import DRIVERS
from tests.live.varied import VARIETIES, conversations
from tests.live.wires import Said

HOOKS = """
import time

from snell import Deny, ShellCall, judges


@judges("PreToolUse", kind="shell", timeout=20)
def keep_precious(call: ShellCall):
    if "precious" in call.command:
        time.sleep(4 if "slowly" in call.command else 0)
        return Deny("it is precious")
"""
WORK = ("echo harmless", "exit 3", "rm -f precious.txt")


@pytest.fixture
def start(user, model, client_folder):
    """Set Snell up in a client; returns how to hold a conversation there."""

    def set_up(driver):
        folder = client_folder(driver)
        user.configure(hooks=HOOKS)
        user.write("project/precious.txt", "keep me")
        env = driver.prepare(user, model.url)
        user.snell("setup", driver.client, "--yes")

        def converse(*commands, without=(), turns=(), script=None, prompt="Please work.", changed=()):
            """The model runs these commands; the client's own arguments are left out where they are in `without`."""
            said = [Said("Working.", (driver.shell(command),)) for command in commands]
            model.begin([*said, *turns], script)
            words = [each for each in driver.command(folder, user, prompt) if each not in without]
            for change in changed:
                words = change(words)
            ran = user.run(words, env)
            assert ran.code == 0, ran

        return converse

    return set_up


def covered(user, *words):
    """The exit code of `snell coverage`, and its report about the only client."""
    ran = user.run([sys.executable, "-m", "snell", "coverage", "--json", *words], {})
    assert ran.code in (0, 1), ran
    return ran.code, json.loads(ran.out)["clients"][0]


def results(report):
    return [each["result"] for each in report["calls"]]


def driver_of(client):
    return next(each for each in DRIVERS if each.client == client)


def test_a_clean_conversation_has_no_hole_and_a_removed_entry_is_named(driver, user, model, start):
    name = canonical_name(driver.client)
    if name not in READERS:
        pytest.skip(f"{driver.client} keeps no record that is read")
    converse = start(driver)
    converse(*WORK)
    code, report = covered(user)
    assert (code, results(report), report["remarks"]) == (0, ["seen"] * 3, []), report
    hooks = client_named(name).install.hooks["user"].replace("{base}", client_named(name).install.base)
    Path(hooks.replace("~", str(user.home))).unlink()
    driver.prepare(user, model.url)  # some clients have their own settings in the same file
    converse("echo unseen")
    code, report = covered(user)
    assert (code, sorted(results(report))) == (1, ["missed", *["seen"] * 3]), report
    missed = next(each for each in report["calls"] if each["result"] == "missed")
    assert missed["given"] == "echo unseen"
    assert "silent since its last event" in report["remarks"][0]
    assert report["cause"]


CLEAN = (
    WORK,
    (),
    ("echo one", "echo two", "echo one"),
    ("rm -f precious.txt", "false"),
    ("true",),
    ("echo 'a b'; exit 1",),
)


def test_clean_conversations_raise_no_alarm(driver, user, start):
    """Calls that succeed, fail, are refused or repeated, and a conversation without any: with seven clients 42."""
    if canonical_name(driver.client) not in READERS:
        pytest.skip(f"{driver.client} keeps no record that is read")
    converse = start(driver)
    for commands in CLEAN:
        converse(*commands)
    code, report = covered(user)
    assert (code, set(results(report)), report["remarks"]) == (0, {"seen"}, []), report
    assert len(report["calls"]) == sum(map(len, CLEAN)), report


def test_varied_conversations_raise_no_alarm(driver, user, start, record_property):
    """Other tools, several calls at once, sub-agents, resumed and compacted conversations, in all clients 36."""
    name = canonical_name(driver.client)
    if name not in READERS:
        pytest.skip(f"{driver.client} keeps no record that is read")
    converse, variety = start(driver), VARIETIES[name]
    for prompt, is_resumed, script in conversations(driver, variety, user.project):
        changed = (variety.changed, variety.resumed) if is_resumed else (variety.changed,)
        converse(script=script, prompt=prompt, changed=changed)
    code, report = covered(user)
    assert (code, report["remarks"]) == (0, []), report
    record_property("calls", report["counts"])
    known = [each for each in report["calls"] if "nothing to tell the two apart" not in each["why"]]
    assert {each["result"] for each in known} <= {"seen", "not_run", "unreported"}, report
    seen = [each for each in report["calls"] if each["result"] == "seen"]
    assert len(seen) >= 14, report
    assert {each["agent"] for each in report["calls"]} - {""}, report


def test_hooks_of_codex_without_approval_are_named(asked_for, user, start):
    converse = start(driver_of(asked_for("codex")))
    converse("echo unseen", without=("--dangerously-bypass-hook-trust",))
    code, report = covered(user)
    assert (code, results(report)) == (1, ["missed"]), report
    assert "has not approved the hooks" in report["cause"]


def test_a_time_limit_of_the_client_that_is_too_short_is_named(asked_for, user, start):
    converse = start(driver_of(asked_for("claude-code")))
    _change_hook(user, timeout=1)
    converse("echo slowly precious")
    code, report = covered(user)
    assert (code, len(report["calls"])) == (1, 1), report
    call = report["calls"][0]
    assert call["result"] in ("missed", "ran_anyway"), report  # whether the decision was still made depends on its time
    assert "before it answered" in call["why"]


def test_a_hook_that_was_killed_is_named(asked_for, user, start):
    converse = start(driver_of(asked_for("claude-code")))
    _change_hook(user, command="sh -c 'kill -9 $$' snell-hook", args=None)
    converse("echo harmless")
    code, report = covered(user)
    assert (code, results(report)) == (1, ["missed"]), report
    assert report["calls"][0]["why"].startswith("the client could not use the hook's answer"), report


def test_calls_of_a_sub_agent_are_seen_and_a_sub_agent_without_hooks_is_named(asked_for, user, start):
    driver = driver_of(asked_for("claude-code"))
    converse = start(driver)
    given = {"description": "look", "prompt": "SUBTASK look around", "subagent_type": "general-purpose"}

    def script(main, inside):
        def answer(asked):
            told = json.dumps(asked)
            turns = inside if "SUBTASK" in told and "Please work." not in told else main
            return turns.pop(0) if turns else Said("That is all.")

        return answer

    def work():
        converse(script=script([Said("", (("Agent", given),))], [Said("", (driver.shell("echo inside"),))]))

    work()
    code, report = covered(user)
    assert (code, results(report), report["remarks"]) == (0, ["seen", "seen"], []), report
    assert [bool(each["agent"]) for each in report["calls"]] == [False, True]
    _change_hook(user, matcher="Agent")
    work()
    code, report = covered(user)
    assert (code, sorted(results(report))) == (1, ["missed", "seen", "seen", "seen"]), report
    assert any("sub-agent" in each and "has no hooks" in each for each in report["remarks"]), report


def test_an_entry_that_was_removed_from_the_settings_is_named(asked_for, user, start):
    """With SNELL_RECORDING, the file of that name gets what a user sees: docs/recordings/hole.md has it."""
    converse = start(driver_of(asked_for("claude-code")))
    converse("git status", "rm -f precious.txt")
    before = said_by_coverage(user)
    assert before[0] == 0, before
    path = user.home / ".claude" / "settings.json"
    settings = json.loads(path.read_bytes())
    del settings["hooks"]["PreToolUse"]
    path.write_text(json.dumps(settings), encoding="utf-8")
    converse("rm -f precious.txt")
    after = said_by_coverage(user)
    assert after[0] == 1, after
    assert "missed" in after[1]
    assert "cause: not registered in the client's settings: PreToolUse; run `snell setup claude-code`" in after[1]
    _keep("the agent runs `git status` and `rm -f precious.txt`; a hook refuses the second", *before)
    _keep("`PreToolUse` is removed from ~/.claude/settings.json; the agent runs `rm -f precious.txt`", *after)


def said_by_coverage(user):
    ran = user.run([sys.executable, "-m", "snell", "coverage"], {})
    return ran.code, ran.out.replace("\r", "").strip()


def _keep(what, code, said):
    if path := os.environ.get("SNELL_RECORDING"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"# {what}\n$ snell coverage\n{said}\n$ echo $?\n{code}\n\n")


def _change_hook(user, matcher=None, **fields):
    """Change the entry of Snell for PreToolUse in the settings of Claude Code."""
    path = user.home / ".claude" / "settings.json"
    settings = json.loads(path.read_bytes())
    for group in settings["hooks"]["PreToolUse"]:
        if matcher is not None:
            group["matcher"] = matcher
        for hook in group["hooks"]:
            hook.update(fields)
            for name in [name for name, value in fields.items() if value is None]:
                del hook[name]
    path.write_text(json.dumps(settings), encoding="utf-8")


def test_a_tool_that_the_client_does_not_report_is_named(asked_for, user, start):
    driver = driver_of(asked_for("codex"))
    start(driver)("echo seen", turns=[Said("Typing.", (("write_stdin", {"session_id": 1, "chars": "ls"}),))])
    code, report = covered(user)
    assert (code, results(report), report["remarks"]) == (0, ["seen", "unreported"], []), report
    assert "already running" in report["calls"][1]["why"]
