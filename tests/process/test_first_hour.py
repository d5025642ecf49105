"""What a new user sees in the first hour: folded reports, suggestions, legends, files, and records at once."""

import json
import os
import pty
import sys
from pathlib import Path
from typing import Any

import pytest

from snell.cli.progress import Progress
from tests.process.author import Author
from tests.process.machine import HOOK, Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)
pytestmark = pytest.mark.real_start


@pytest.fixture
def author(tmp_path: Path) -> Author:
    return Author(tmp_path)


def test_doctor_folds_what_is_fine(author: Author):
    try:
        folded, whole = author.snell("doctor")[1], author.snell("doctor", "--all")[1]
    finally:
        author.stop_daemon()
    assert not [line for line in folded.splitlines()[:-1] if line.startswith("ok ")]
    assert "checks are fine; `--all` lists them" in folded.splitlines()[-1]
    assert len([line for line in whole.splitlines() if line.startswith("ok ")]) > 5


@pytest.mark.parametrize(
    "words", [("fire", "--command", "ls"), ("log",), ("setup",), ("replay",), ("coverage",)], ids=lambda each: each[0]
)
def test_a_misspelt_client_gets_the_name_that_was_meant(snell: Any, words: tuple[str, ...]):
    where = ("cluade-code",) if words == ("setup",) else ("--client", "cluade-code")
    code, _, err = snell(*words, *where)
    assert (code, "did you mean `claude-code`?" in err) == (1, True), err


def test_problems_are_the_first_lines_of_the_settings_with_what_was_meant(snell: Any):
    snell.settings("[pakcs.guard]\nenabled = true\n")
    lines = snell("settings")[1].splitlines()
    assert (lines[0], "did you mean `pack`?" in lines[1]) == ("problems", True)


def test_a_wrong_option_of_a_pack_is_reported_with_its_file_and_line(snell: Any):
    snell.settings('profile = "balanced"\n[pack.guard]\npreset = "strict"\npresett = 1\n[pack.gaurd]\nx = 1\n')
    first, second = snell("settings")[1].splitlines()[1:3]
    assert "snell.toml:4: [pack.guard]: `presett` is not an option" in f"{first}{second}"
    assert "snell.toml:5: [pack.gaurd]: there is no such pack" in f"{first}{second}"


def test_clients_are_listed_with_a_legend(snell: Any):
    out = snell("clients")[1]
    assert [word for word in ("tier", "found", "block", "mcp", "installed") if f"\n{word}" not in out] == []


def test_fire_leaves_no_open_call_and_why_knows_calls_and_sessions(snell: Any):
    assert snell("fire", "--command", "touch made", "--session", "mine-1")[0] == 0
    (call,) = [json.loads(line) for line in snell("ledger", "list", "--json")[1].splitlines()]
    assert (call["status"], call["error_code"]) == ("abandoned_on_resume", "fired")
    wanted = f"decision {call['decision_id']}"
    for name in (call["decision_id"], call["tool_call_id"], "mine-1", "last"):
        assert wanted in snell("why", name)[1], name


def test_fire_does_not_end_a_call_that_a_client_has_begun(snell: Any):
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_use_id": "t1", "tool_name": "Bash"}
    snell("hook", "--client", "claude-code", given={**payload, "tool_input": {"command": "make deploy"}})
    snell("fire", "--command", "make deploy", "--session", "s", "--set", "tool_use_id=t1")
    (call,) = [json.loads(line) for line in snell("ledger", "list", "--json")[1].splitlines()]
    assert call["status"] == "running"


def test_what_was_answered_is_in_the_next_log_and_ledger(machine: Machine):
    machine.hook()  # starts the daemon
    for number in range(5):
        command = f"echo {number}"
        machine.hook({"tool_use_id": f"t{number}", "tool_input": {"command": command}})
        assert command in machine.snell("log", "-n", "1")
        machine.hook({"tool_use_id": f"u{number}", "tool_input": {"command": f"{command} more"}})
        assert f"{command} more" in machine.snell("ledger", "list", "-n", "1")


def test_a_program_can_read_the_pause_and_the_last_denied_command(machine: Machine):
    assert json.loads(machine.snell("pause", "--json")) == {"is_paused": False}
    machine.hook({"tool_input": {"command": "rm -rf /"}})
    assert json.loads(machine.snell("allow", "--show", "--json"))["command"] == "rm -rf /"


def test_trust_names_the_hooks_that_cannot_load(author: Author):
    text = 'import not_installed_anywhere\nfrom snell import judges\n\n\n@judges("PreToolUse")\ndef a(call):\n    ...\n'
    author.write(".snell/hooks/broken.py", text)
    shown = " ".join(author.on_terminal("trust", typed="y\n").split())
    assert "approved 1 of 1" in shown
    assert "cannot load:" in shown
    assert "broken.py:1" in shown


def test_browsing_memories_explains_itself(author: Author):
    assert "example:" in author.snell("memory", "browse", "--help")[1]
    try:
        shown = author.on_terminal("memory", "browse", typed="?\nq\n")
    finally:
        author.stop_daemon()
    assert "the whole text of the third memory" in shown


def test_a_map_goes_into_a_file_at_a_terminal_and_is_printed_into_a_pipe(author: Author):
    try:
        author.snell("memory", "remember", "we decided to keep the monolith", "--namespace", "decisions")
        assert author.snell("memory", "map")[1].startswith("<svg")
        for _ in range(2):  # the second replaces the first
            shown = author.on_terminal("memory", "map")
            assert (author.home / "state" / "memory-map.svg").read_text(encoding="utf-8").startswith("<svg")
            assert ("memory-map.svg" in shown, "<svg" in shown) == (True, False)
    finally:
        author.stop_daemon()


@pytest.mark.parametrize(("language", "sign"), [("C.UTF-8", "█"), ("C", "#")])
def test_charts_are_drawn_with_blocks_where_the_terminal_has_them(snell: Any, language: str, sign: str):
    payload = {"session_id": "s", "tool_use_id": "t", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    for event in ("PreToolUse", "PostToolUse"):
        snell("hook", "--client", "claude-code", given={"hook_event_name": event, **payload})
    assert sign in snell("ledger", "stats", LC_ALL=language)[1]


def test_what_takes_longer_than_a_second_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch):
    ours, theirs = pty.openpty()
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    with open(theirs, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with Progress("reading", 100) as progress:
            progress.reach(50)
            shown = wait_until(lambda: os.read(ours, 1000).decode(), 20)
        with Progress("short") as quick:
            assert quick.line().startswith("short")
    rest = os.read(ours, 1000).decode()
    os.close(ours)
    assert ("reading ███████████████░░░░░░░░░░░░░░░  50% of 100" in shown, "short" in shown + rest) == (True, False)


@pytest.mark.skipif(not HOOK.exists(), reason="snell-hook is not installed beside this Python")
def test_the_demo_offers_the_page_on_its_own_data_at_a_terminal(author: Author):
    shown = author.on_terminal("demo", typed="n\n")
    assert "Look at this session on the page? [y/N]" in shown
    assert "Open http://" not in shown
    assert "The daemon was stopped" in shown
