"""`snell log`: which decisions it shows, and what it says when there is none."""

import json

from tests.process.test_cli import CALL, GUARD


def test_log_lists_decisions_by_what_is_asked_for(snell):
    snell.settings(GUARD)
    snell("fire", "--command", "ls", "--session", "one")
    snell("fire", "PreToolUse", "--tool", "Read", "--input", '{"file_path": "x"}', "--session", "two")
    everything = [json.loads(line) for line in snell("log", "--json")[1].splitlines()]
    assert [(row["session_id"], row["verdict"]) for row in everything] == [("one", "deny"), ("two", "no_opinion")]
    assert [
        snell("log", *words)[1].count("\n")
        for words in (["--verdict", "deny"], ["--session", "two"], ["--hook", "guard"])
    ] == [1, 1, 1]
    assert snell("log", "-n", "0")[0] == 1


def test_log_knows_sessions_by_their_beginning_clients_by_any_spelling_and_hooks_without_their_pack(snell):
    assert snell("log")[1].startswith("no decisions yet; ")
    snell("hook", "--client", "claude", given=CALL | {"session_id": "4f2a9c10-aaaa"})
    snell("hook", "--client", "claude", given=CALL | {"session_id": "zwölf"})
    shown = snell("log", "--json")[1].splitlines()
    stand_in = json.loads(shown[1])["session_id"]
    first, second = ("--session", "4f2a9c10"), ("--session", stand_in[:8])
    assert [snell("log", "--json", *words)[1].splitlines() for words in (first, second)] == [shown[:1], shown[1:]]
    for words in (
        ("--client", "claude-code"),
        ("--client", "claude_code"),
        ("--client", "Claude"),
        ("--hook", "guard/command"),
        ("--hook", "command"),
    ):
        assert (words, snell("log", "--json", *words)[1].splitlines()) == (words, shown)
    assert [line.count("  claude-code  ") for line in snell("log")[1].splitlines()] == [1, 1]  # as `snell clients` does
    assert " from claude-code " in snell("why")[1]


def test_log_leaves_the_doctors_own_events_out_unless_they_are_asked_for(snell):
    own = {"hook_event_name": "SnellDoctor", "session_id": "doctor-1"}
    snell("hook", "--client", "generic", given=own)
    assert snell("log")[1].startswith("no decisions yet; ")
    snell("hook", "--client", "claude", given=CALL)
    snell("hook", "--client", "generic", given=own)
    filters = [(), ("--client", "generic"), ("--event", "SnellDoctor"), ("--session", "doctor")]
    assert [len(snell("log", "--json", *words)[1].splitlines()) for words in filters] == [1, 0, 2, 2]


def test_log_says_which_filter_finds_nothing(snell):
    snell.settings(GUARD)
    snell("fire", "--command", "ls", "--session", "one")
    nothing = {
        ("--session", "three"): "no decision matches `--session three`\n",
        ("--hook", "ommand"): "no decision matches `--hook ommand`\n",
        ("--verdict", "deny", "--client", "codex"): "no decision matches `--client codex`\n",
    }
    assert {words: snell("log", *words)[1] for words in nothing} == nothing
    snell("fire", "Stop", "--session", "two")
    both = ("--session", "two", "--verdict", "deny")
    assert snell("log", *both)[1] == "no decision matches `--session two` and `--verdict deny`\n"
    assert "''" not in snell("log", "--verdict", "nope")[2]
