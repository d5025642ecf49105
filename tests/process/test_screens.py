"""The screens for people: the grouped help, `snell status` and `snell help`."""

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from contextlib import suppress

import pytest

from snell.cli.main import COMMANDS, GROUPS, command_of, parser_of
from snell.settings.pause import begin_pause
from snell.system.paths import places
from tests.fork_server import run_snell
from tests.unit.cli.test_options import parser_tree

PLUMBING = {"hook", "statusline", "suggest-files", "mcp"}  # clients start these
ESCAPE = "\x1b["


def listed(out: str) -> dict[str, list[str]]:
    """The commands that a help lists, by their headings."""
    found: dict[str, list[str]] = {}
    for line in out.partition("\noptions:")[0].splitlines():
        if heading := re.fullmatch(r"([a-z ]+):", line):
            found[heading[1]] = []
        elif command := re.match(r"  ([a-z-]+) +\S", line):
            found[list(found)[-1]].append(command[1])
    return found


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_snell_alone_lists_its_commands_in_the_order_of_use_and_hides_what_clients_start(snell, words):
    code, out, _ = snell(*words)
    found = listed(out)
    assert (code, tuple(found)) == (0, GROUPS)
    assert sorted(name for names in found.values() for name in names) == sorted(set(COMMANDS) - PLUMBING)
    assert found["start"][:3] == ["setup", "demo", "status"]
    assert "`snell help` lists the documentation" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_command_that_is_hidden_still_has_its_help(snell):
    for name in PLUMBING:
        code, out, _ = snell(name, "--help")
        assert (code, f"snell {name}" in out, "example:" in out) == (0, True, True)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_in_its_help(name):
    assert command_of(name)
    parser = next(parser_tree(parser_of(name)))
    assert (parser.epilog or "").startswith("example:\n  ")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_verb_has_an_example_that_can_be_typed(name):
    for parser in list(parser_tree(parser_of(name)))[1:]:
        example = (parser.epilog or "").partition("example:\n  ")[2]
        assert example.startswith(f"{parser.prog} ") or example == parser.prog, parser.prog
        words = shlex.split(example.partition(" < ")[0])[len(parser.prog.split()) :]
        parser.parse_args(words)  # raises if it does not fit


def test_empty_lists_say_what_to_do(snell):
    for words in ("log", "ledger list", "ledger stats", "memory list", "fleet", "effort list", "session list",
                  "task list", "runs list", "agent list", "tools list", "clients --found", "why"):  # fmt: skip
        _, out, err = snell(*words.split())
        assert "`snell " in out + err, words


def test_status_before_anything_happened_says_what_to_do(snell):
    code, out, err = snell("status")
    assert (code, err) == (0, "")
    assert "none found on this machine; `snell clients` lists those that Snell knows" in out
    assert "not running; the next event of a client starts it" in out
    assert "no decisions; `snell fire --command" in out
    assert "does not exist yet; the first event creates it" in out


def test_status_shows_clients_decisions_packs_and_pause_on_one_screen(snell, tmp_path):
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash"}
    for command in ("ls", "rm -rf /", "git push --force origin main"):
        snell("fire", "--client", "claude-code", given={**payload, "tool_input": {"command": command}})
    code, out, err = snell("status")
    assert (code, err) == (0, "")
    assert re.search(r"^pause +none$", out, re.MULTILINE)
    assert re.search(r"claude-code +not connected +last event just now, 3 recent events", out)
    found = json.loads(snell("status", "--json")[1])
    denied = found["last_day"]["deny"]
    assert denied >= 1
    assert f"3 decisions: {denied} denied, " in out
    assert "guard" in found["packs"]
    assert re.search(r"^packs +.*guard", out, re.MULTILINE)
    assert found["store_bytes"] > 0
    assert len(out.splitlines()) <= 24
    begin_pause(places({"SNELL_HOME": str(tmp_path / "home")}), 5, "a test")  # the command needs a terminal
    assert re.search(r"^pause +paused by .*\(a test\).*`snell pause --end` ends it", snell("status")[1], re.MULTILINE)


def test_status_names_each_problem_and_what_to_do(snell):
    snell.settings('[[hooks]]\nevent = "PreToolUze"\ncommand = "true"\n')
    _, out, _ = snell("status")
    problems = json.loads(snell("status", "--json")[1])["problems"]
    (found,) = [each for each in problems if each["name"] == "settings"]
    assert "snell.toml:2" in found["detail"]
    assert "did you mean `PreToolUse`" in found["detail"] + found["advice"]
    assert "problem" in out
    assert "snell.toml:2" in out


def test_status_lists_no_pack_that_is_off_although_it_has_hooks_for_that_time(snell):
    snell.settings("[pack.remember]\nenabled = false\n")
    assert "remember" not in json.loads(snell("status", "--json")[1])["packs"]
    snell.settings("[pack.remember]\nenabled = true\n")
    assert "remember" in json.loads(snell("status", "--json")[1])["packs"]


def test_status_starts_no_daemon(snell):
    snell("status")
    assert json.loads(snell("status", "--json")[1])["daemon"] is None


def test_help_lists_the_pages_and_shows_one(snell):
    code, out, _ = snell("help")
    assert code == 0
    assert re.search(r"^  test-a-hook +Test a hook$", out, re.MULTILINE)
    code, out, _ = snell("help", "test-a-hook")
    assert (code, out.splitlines()[0]) == (0, "# Test a hook")
    assert ESCAPE not in out
    assert "<!--" not in snell("help", "guard")[1]


def test_help_on_a_command_shows_its_options_and_a_typing_error_gets_a_suggestion(snell):
    assert snell("help", "log")[1] == snell("log", "--help")[1]
    assert snell("help", "memory")[1].splitlines()[-1] == "`snell memory --help` shows the options of the command"
    assert snell("help", "recipe")[::2] == (1, "snell: no help on `recipe`; did you mean `recipes`?\n")


@pytest.mark.parametrize(("command", "code"), [("rm -rf /", 1), ("npm publish", 0), ("ls", 0)])
def test_fire_and_check_exit_with_1_on_deny_if_asked_to(snell, command, code):
    assert snell("fire", "--command", command, "--exit-code")[0] == code
    assert snell("fire", "--command", command, "--exit-code", "--json")[0] == code
    assert snell("fire", "--command", command)[0] == 0
    assert snell("check", "command", command, "--exit-code")[0] == code
    assert snell("check", "command", command, "--exit-code", "--json")[0] == code
    assert snell("check", "command", command)[0] == 0
    rows = json.dumps({"id": 1, "command": command}) + '\n{"id": 2, "command": "ls"}\n'
    assert snell("check", "command", "--jsonl", "--exit-code", given=rows.encode())[0] == code


@pytest.mark.parametrize("words", [("--no-color", "log"), ("log", "--no-color"), ("log", "-n", "3", "--no-color")])
def test_no_color_prints_without_colours_at_a_terminal(tmp_path, words):
    env = {"HOME": str(tmp_path), "SNELL_HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"], "TERM": "xterm"}
    run_snell("fire", "--command", "rm -rf /", env=env, cwd=tmp_path)
    assert ESCAPE in at_terminal("log", env=env)
    without = at_terminal(*words, env=env)
    assert "rm -rf /" in without
    assert ESCAPE not in without


@pytest.mark.parametrize("width", [80, 100, 140])
def test_screens_fit_the_terminal_and_break_between_words(tmp_path, width):
    home = {"HOME": str(tmp_path), "SNELL_HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
    env = {**home, "TERM": "xterm", "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "COLUMNS": str(width)}
    fired = at_terminal("fire", "--command", "git push --force origin main && git clean -fdx", env=env)
    screens = [fired, *(at_terminal(*words, env=env) for words in (("log",), ("ledger", "list"), ("audit", "--help")))]
    screens += [at_terminal("help", topic, env=env) for topic in ("coverage", "test-a-hook")]
    for screen in screens:
        assert max(map(len, screen.splitlines())) <= width, screen
    (decision,) = [json.loads(line) for line in run_snell("log", "--json", env=env, cwd=tmp_path)[1].splitlines()]
    in_log, words_of_reason = screens[1], fired.partition("Instead: ")[2].partition("(")[0].split()
    assert decision["id"] in in_log
    assert "git-history" in in_log
    assert [word for word in words_of_reason if word not in in_log.split() + fired.split()] == []
    assert decision["id"] in screens[2]


@pytest.mark.parametrize("name", ["memory", "ledger", "new", "check", "record", "runs", "audit"])
def test_a_command_without_its_verb_lists_its_verbs(snell, name):
    code, out, err = snell(name)
    assert (code, out) == (1, snell(name, "--help")[1])
    assert err.startswith("snell: the following arguments are required: ")
    assert "usage:" not in snell("test")[1]  # it needs nothing


def test_no_color_after_the_command_of_an_agent_belongs_to_the_agent(snell):
    code, out, _ = snell("run", "--", "echo", "--no-color")
    assert (code, out) == (0, "--no-color\n")


def at_terminal(*words: str, env: dict[str, str]) -> str:
    """What a command prints at a terminal."""
    ours, theirs = pty.openpty()
    shown = b""
    with subprocess.Popen(
        [sys.executable, "-m", "snell", *words], stdin=subprocess.DEVNULL, stdout=theirs, env=env
    ) as command:
        os.close(theirs)
        with suppress(OSError):  # the command has closed it
            while part := os.read(ours, 65_536):
                shown += part
        os.close(ours)
    assert command.returncode == 0
    return shown.decode("utf-8", "replace")
