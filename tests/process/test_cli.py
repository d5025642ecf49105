"""The commands, as processes, with what people and programs give them."""

import json
import os
import re
import subprocess
import sys

import pytest

from snell.settings.packs import builtin_packs

TOOL_NAME = "  it is compared with the `tool_name` of PreToolUse"
GUARD = '[[hooks]]\nname = "guard"\nevent = "PreToolUse"\nmatcher = "Bash"\ncommand = "echo not here >&2; exit 2"\n'
CALL = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}


def test_fire_shows_the_decision_and_why_explains_it(snell):
    snell.settings(GUARD + '[[hooks]]\nname = "edits"\nevent = "PreToolUse"\nmatcher = "Edit"\ncommand = "true"\n')
    code, out, _ = snell("fire", "pre_tool_use", "--command", "ls")
    assert (code, out.splitlines()[0]) == (0, "deny: not here")
    _, out, _ = snell("why")
    assert "guard" in out
    assert "matcher `Edit` does not match `Bash`" in out
    record = json.loads(snell("why", "--json")[1])
    assert (record["verdict"], record["rounds"][-1]["runs"][-1]["status"]) == ("deny", "blocking")
    assert record["rounds"][-1]["runs"][-1]["ms"] > 0


def test_fire_takes_a_payload_on_stdin_and_shows_the_clients_reply(snell):
    snell.settings(GUARD)
    code, out, _ = snell("fire", "--client", "claude-code", "--reply", given=CALL)
    reply = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "not here",
    }
    assert (code, json.loads(out)) == (0, {"hookSpecificOutput": reply})
    assert json.loads(snell("fire", "--json", given=CALL)[1])["reason"] == "not here"


def test_fire_knows_the_event_that_its_options_speak_of(snell):
    found = [json.loads(snell("fire", *words, "--json")[1]) for words in (
        ("--command", "ls"), ("--tool", "Read"), ("--input", '{"command": "ls"}'), ("--prompt", "")
    )]  # fmt: skip
    assert [(each["event"], each.get("tool")) for each in found] == [
        ("PreToolUse", "Bash"),
        ("PreToolUse", "Read"),
        ("PreToolUse", "Bash"),
        ("UserPromptSubmit", None),
    ]


def test_fire_warns_of_a_folder_that_is_not_there(snell):
    code, out, err = snell("fire", "Stop", "--cwd", "nowhere")
    warning = "snell: --cwd: `nowhere` is not a folder; the event is sent anyway\n"
    assert (code, out.splitlines()[0], err) == (0, "no opinion", warning)


def test_why_names_the_place_of_a_hook_and_says_when_no_project_counts(snell, tmp_path):
    snell.settings(f"[pack.tool_inputs]\nenabled = false\n{GUARD}")
    snell("fire", "--client", "claude-code", given=CALL | {"tool_input": "ls"})
    told = snell("why")[1].splitlines()
    assert told[1:5] == [
        "  tool_input: ls",
        "  answer: deny: not here",
        "  about the payload: tool_input is a string",
        "  it has no `cwd`, so no hooks of a project are active",
    ]
    assert f"      from user, {tmp_path}/home/config/snell.toml:3" in told or (
        f"        {tmp_path}/home/config/snell.toml:3" in told
    )


def test_hook_answers_as_the_client_expects(snell):
    snell.settings(GUARD)
    code, out, err = snell("hook", "--client", "claude", given=CALL)
    assert (code, json.loads(out)["hookSpecificOutput"]["permissionDecision"], err) == (0, "deny", "")
    silent = CALL | {"tool_name": "Read", "tool_input": {"file_path": "x"}}
    assert snell("hook", "--client", "claude", given=silent) == (0, "", "")
    assert snell("hook", "claude", given=CALL)[:2] == (code, out)  # without the option it is the same
    assert "did you mean" in snell("hook", "claud", given=CALL)[2]


@pytest.mark.parametrize(
    ("payload", "complaint"),
    [
        (b"", "empty"),
        (b"not json", "not JSON"),
        (b"[1]", "list"),
        (b"null", "null"),
        (b'{"a": 1', "not JSON"),
        (b'{"session_id": "s"}', "hook_event_name"),
    ],
    ids=["empty", "text", "list", "null", "cut", "no name"],
)
def test_a_payload_that_is_no_event_gets_one_clear_line_and_changes_nothing(snell, payload, complaint):
    snell.settings(GUARD)
    code, out, err = snell("hook", "--client", "claude", given=payload)
    assert (code, out) == (0, "")
    assert complaint in err
    assert "Traceback" not in err
    assert len(err.splitlines()) == 1


@pytest.mark.proves("S4-96")
@pytest.mark.parametrize(
    ("payload", "limit"),
    [
        (b'{"a":' * 1_000_000, "500000"),
        (b'{"hook_event_name": "PreToolUse", "x": "' + b"a" * 68_000_000 + b'"}', "67108864"),
    ],
    ids=["deep", "huge"],
)
def test_a_payload_that_is_too_large_to_judge_is_asked_about(snell, payload, limit):
    snell.settings(GUARD)
    code, out, err = snell("hook", "--client", "claude", given=payload)
    said = json.loads(out)["hookSpecificOutput"]
    assert (code, said["permissionDecision"], err) == (0, "ask", "")
    assert said["permissionDecisionReason"].endswith(f"send at most {limit}")


def test_where_a_policy_stands_guard_an_unreadable_payload_is_refused_but_never_a_stop(snell, tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text(GUARD, encoding="utf-8")
    env = {"SNELL_POLICY": str(policy)}
    cut = b'{"hook_event_name": "%s", "tool_name": "Bash", "tool_na'
    assert snell("hook", "--client", "claude", given=cut % b"PreToolUse", **env)[0] == 2
    assert snell("hook", "--client", "claude", given=cut % b"Stop", **env)[0] == 0


@pytest.mark.parametrize("field", [None, [], "text", 7, {"command": None}, {"command": ["ls"]}])
def test_odd_fields_are_no_reason_to_fail(snell, field):
    snell.settings(GUARD)
    code, _, err = snell("hook", "--client", "claude", given=CALL | {"tool_input": field, "cwd": None, "session_id": 3})
    assert (code, err) == (0, "")


def test_check_match_answers_every_row_in_order(snell):
    rows = [
        {"id": 1, "pattern": "Edit|Write", "value": "Write"},
        {"id": 2, "pattern": "^(Read|Write)$", "value": "Write"},
        {"id": 3, "pattern": "Bash(", "value": "Bash"},
        {"id": 4, "pattern": "compact", "value": "compact", "event": "SessionStart"},
        {"id": 5, "pattern": "B*h", "value": "Bash", "type": "wildcard"},
        {"id": 6, "pattern": None, "value": "anything"},
        {"id": 7, "pattern": "x", "value": "y", "event": "Nothing"},
        {"id": 8, "pattern": "x", "value": "y", "event": "Stop"},
        {"id": 9, "pattern": "Ba", "value": "Bash"},
    ]
    given = "\n".join([*map(json.dumps, rows), "broken", "[]"]).encode()
    code, out, _ = snell("check", "match", "--jsonl", given=given)
    answers = [json.loads(line) for line in out.splitlines()]
    matches = {answer["id"]: answer.get("match") for answer in answers[:9]}
    assert code == 0
    assert matches == {1: True, 2: True, 3: None, 4: True, 5: True, 6: True, 7: None, 8: True, 9: False}
    assert ["error" in answer for answer in answers] == [n in (2, 6, 9, 10) for n in range(11)]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("Edit|Write", "Write"), 0, ["matches", "  `Edit|Write` was read as a list of exact names", TOOL_NAME]),
        (("Bash*", "Read"), 1, ["does not match", "  `Bash*` was read as a prefix", TOOL_NAME]),
        (("", "Read"), 0, ["matches", "  `` was read as everything", TOOL_NAME]),
        (
            ("Bash(git *)", "Bash"),
            1,
            [
                "does not match",
                "  `Bash(git *)` was read as a regular expression, which may match anywhere in the name",
                TOOL_NAME,
                '  it looks like a permission rule; write that as `if = "Bash(git *)"`',
            ],
        ),
        (
            ("x", "y", "--event", "Stop"),
            0,
            ["matches", "  Stop has no field to match, so every matcher matches"],
        ),
    ],
)
def test_check_match_says_how_the_pattern_was_read(snell, words, code, told):
    assert snell("check", "match", *words) == (code, "".join(f"{line}\n" for line in told), "")


def test_settings_list_the_files_that_were_looked_for_and_the_hooks_of_python_files_and_packs(snell, tmp_path):
    pack = tmp_path / "tidy"
    hook = "from snell import informs\n\n\n@informs('Stop')\ndef {}(): ...\n"
    for path, text in (
        (pack / "pack.toml", 'name = "tidy"\n'),
        (pack / "bye.py", hook.format("bye")),
        (snell.project / ".snell/hooks/mine.py", hook.format("mine")),
        (snell.project / ".snell/hooks/empty.py", ""),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    snell.settings(f'packs = ["{pack}"]\n{GUARD}')
    snell("trust", "--hash", json.loads(snell("trust", "--json")[1])["digest"])

    code, out, _ = snell("settings", "--json")
    found = json.loads(out)
    config, project = tmp_path / "home/config", snell.project / ".snell"
    assert {each["path"] for each in found["files"] if each["found"]} - {"/etc/snell/policy.toml"} == {
        f"{config}/snell.toml",
        f"{project}/hooks",
        str(pack),
    }
    ours = {f"pack:{name}" for name in builtin_packs()}
    assert {(each["id"], each["layer"], each["from"]) for each in found["hooks"] if each["layer"] not in ours} == {
        ("tidy/bye", "pack:tidy", f"{pack}/bye.py:4"),
        ("mine/mine", "project", f"{project}/hooks/mine.py:4"),
        ("guard", "user", f"{config}/snell.toml:2"),
    }
    assert [each["message"].partition(";")[0] for each in found["problems"]] == [
        f"{project}/hooks/empty.py:1: the file declares no hook"
    ]
    told = snell("settings")[1]
    assert f"  user     found      {config}/snell.toml\n" in told
    assert f"  local    not found  {project}/snell.local.toml\n" in told
    assert re.search(r"mine/mine +Stop +informs\n +project, .*/mine\.py:4\n", told)
    assert code == 1


def test_settings_say_where_each_value_came_from_and_what_is_wrong(snell):
    snell.settings('disable_all_hooks = true\n[[hooks]]\nevent = "PreToolUs"\ncommand = "x"\n')
    code, out, _ = snell("settings", "--effective")
    assert code == 1
    assert re.search(r"disable_all_hooks\s+true\s+user \(.*snell\.toml:1\)", out)
    assert re.search(r"snell\.toml:3: .*did you mean `PreToolUse`", out)
    schema = json.loads(snell("settings", "--schema")[1])
    assert "disable_all_hooks" in schema["properties"]


@pytest.mark.parametrize(
    "words", [("nope",), ("fire", "PreToolUs"), ("fire", "Stop", "--nope"), ("why", "zzz"), ("check", "nope")]
)
def test_a_mistake_is_one_line_that_says_what_to_do_and_exit_code_1(snell, words):
    code, out, err = snell(*words)
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert err.startswith("snell: ")
    assert ";" in err


def test_a_bug_of_ours_is_a_report_and_not_a_traceback(snell, tmp_path):
    """A state folder that turns into a loop of links is something no code of ours expects."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "config").symlink_to(home / "config")
    code, _, err = snell("fire", "Stop")
    assert code in (0, 1, 3)
    assert "Traceback" not in err


@pytest.mark.parametrize("command", ["demo", "fire", "why", "hook", "check", "test", "new", "settings", "trust"])
def test_every_command_has_help_with_an_example(snell, command):
    code, out, _ = snell(command, "--help")
    assert (code, "example:\n  snell " in out) == (0, True)


def test_bytes_that_are_no_text_and_a_deleted_folder_are_no_bugs(snell):
    code, _, err = snell("fire", "--command", b"ls \xff", "--tool", b"B\xfe")
    assert (code, err) == (0, "")
    snell.project.rename(snell.project.with_name("gone"))
    snell.project.mkdir()


def test_the_demo_shows_a_block_a_rewrite_context_a_failure_and_a_why(snell, tmp_path):
    folder_too_long_for_a_socket = tmp_path / ("t" * 80)
    folder_too_long_for_a_socket.mkdir()
    code, out, err = snell("demo", TMPDIR=str(folder_too_long_for_a_socket))
    assert (code, err) == (0, "")
    for sign in (
        "blocked",
        "rewritten",
        "context",
        "a hook failed, the agent continues",
        "$ snell why",
        "how the outcomes were combined",
    ):
        assert sign in out
    costs = {what: float(ms) for ms, what in re.findall(r"([\d.]+) ms +[\d.]+ x   (\S+)", out)}
    assert costs.keys() == {"/bin/true,", "snell-hook:", "one"}
    assert costs["one"] > costs["/bin/true,"]  # an interpreter cannot start faster than a program that does nothing
    assert "\x1b" not in out  # no colours without a terminal
    assert "    Edit app.py\n" in out
    assert f"\n{len(re.findall('^- ', out, re.MULTILINE))} events shown" in out
    assert "looks incomplete" not in out  # who is refused anyway needs no advice on the length of it
    words = " ".join(out.split())
    assert words.index("set up the redis cache") < words.rindex(
        "We decided to use Valkey instead of Redis"
    )  # remembered
    assert "snell-demo" not in out  # paths are short
    assert max(map(len, out.splitlines()[:-1])) <= 80


def test_the_reply_does_not_wait_for_watchers_or_async_hooks(snell, tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    watcher = f'[[hooks]]\nevent = "PreToolUse"\nrole = "watches"\ncommand = "cat {gate}"\n'
    snell.settings(GUARD + watcher)
    running = subprocess.Popen(
        [sys.executable, "-m", "snell", "hook", "--client", "claude"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SNELL_HOME": str(tmp_path / "home")},
    )
    running.stdin.write(json.dumps(CALL).encode())
    running.stdin.close()
    first = running.stdout.read(1)  # comes although the watcher still waits
    gate.write_text("", encoding="utf-8")
    assert (first, running.wait(30)) == (b"{", 0)
    running.stdout.close()


def test_a_command_that_goes_to_the_background_is_let_finish(snell):
    snell.settings(
        """[[hooks]]
event = "PreToolUse"
[hooks.command]
command = 'echo "{\\"async\\": true}"; sleep 0.3; touch done'
""".replace("\\\\", "\\")
    )
    assert snell("hook", "--client", "claude", given=CALL | {"cwd": str(snell.project)})[0] == 0
    assert (snell.project / "done").exists()


def test_a_guard_that_blocks_when_it_fails_also_blocks_what_cannot_be_read(snell):
    snell.settings(GUARD.replace("command =", 'on_failure = "block"\ncommand ='))
    hidden = b'{"hook_event_name": "PreToolUse", "tool_input": {"title": "Stop"}, "tool_name": "Bash'
    assert snell("hook", "--client", "claude", given=hidden)[0] == 2
    assert snell("hook", "--client", "claude", given=hidden.replace(b"PreToolUse", b"Stop"))[0] == 0


def test_a_rule_that_is_none_is_reported_and_does_not_switch_a_guard_off_in_silence(snell, tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text(GUARD.replace("command =", 'if = "Bash(git push"\ncommand ='), encoding="utf-8")
    _, out, err = snell("fire", "--json", given=CALL, SNELL_POLICY=str(policy))
    assert json.loads(out)["verdict"] == "deny"
    assert "`if` is not a rule" in err
