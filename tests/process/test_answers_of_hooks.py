"""What the answers of programs, models and web services do, through the real `snell-hook`."""

import itertools
import json
from typing import Any

import pytest

from tests.loopback import Answer, serving
from tests.model_server import Line, ModelServer, model
from tests.process.answers import answer, call, record, specific, verdict_of
from tests.process.machine import Machine

pytest_plugins = ("tests.process.machine_fixtures",)
NUMBERS = itertools.count()
ENTRY = "[[hooks]]\nevent = 'PreToolUse'\nname = 'h'\n"


def fresh(machine: Machine, env: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    """Return the answer to a shell call in a session of its own."""
    number = next(NUMBERS)
    return call(machine, "ls", env, **{"tool_use_id": f"t{number}", "session_id": f"s{number}", **fields})


def saying(machine: Machine, script: str, **fields: Any) -> dict[str, Any]:
    (machine.home / "say").write_text(script, encoding="utf-8")
    return fresh(machine, **fields)


def printed(machine: Machine, value: Any, more: str = "", **fields: Any) -> dict[str, Any]:
    return saying(machine, f"cat <<'END'\n{json.dumps(value)}\nEND\n{more}", **fields)


def own(**fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **fields}}


@pytest.mark.proves("S1-64", "S1-68", "S1-69", "S1-71", "S1-81", "S1-85", "S1-86", "S1-89")
def test_the_exit_code_and_the_answer_of_a_program_decide(machine: Machine):
    machine.write("snell.toml", f"{ENTRY}[hooks.command]\ncommand = 'sh \"$SNELL_HOME/say\"'\n")
    denied = own(permissionDecision="deny", permissionDecisionReason="not that")
    assert saying(machine, "exit 0") == {}
    assert status(machine) == "success"
    assert saying(machine, "echo not that >&2; exit 2") == denied
    assert status(machine) == "blocking"
    assert printed(machine, {"decision": "block", "reason": "not that"}, "exit 3") == denied  # refused and failed
    assert status(machine) == "blocking"
    assert "exit code 3: oh" in saying(machine, "echo oh >&2; exit 3")["systemMessage"]
    assert status(machine) == "non_blocking_error"
    tagged = ("Continue", {"Reject": {"reason": "not that"}}, {"ModifyInput": {"new_input": {"command": "make"}}})
    assert [printed(machine, each) for each in tagged] == [{}, denied, own(updatedInput={"command": "make"})]
    machine.write(
        "snell.toml", f"{ENTRY}exit_code_mode = 'strict'\n[hooks.command]\ncommand = 'sh \"$SNELL_HOME/say\"'\n"
    )
    assert saying(machine, "echo not that >&2; exit 3") == denied
    for mode, verdict, state in (("client", "", "non_blocking_error"), ("strict", "deny", "blocking")):
        entry = f"{ENTRY}exit_code_mode = '{mode}'\n[hooks.command]\ncommand = '/no/such/program'\nargs = []\n"
        machine.write("snell.toml", entry)
        said = fresh(machine)
        assert (verdict_of(said), "/no/such/program" in json.dumps(said)) == (verdict, True)
        assert (status(machine), failure_of(machine)["kind"]) == (state, "launch")  # a refusal beats a failure


def run_of_hook(machine: Machine) -> dict[str, Any]:
    return next(run for each in record(machine)["rounds"] for run in each["runs"] if run["hook"] == "h")


def status(machine: Machine) -> str:
    return str(run_of_hook(machine)["status"])


def failure_of(machine: Machine) -> dict[str, Any]:
    return dict(run_of_hook(machine)["failure"])


@pytest.mark.proves(
    "S1-83", "S1-90", "S1-141", "S1-142", "S1-143", "S1-144", "S1-145", "S1-146", "S1-147", "S1-148", "S1-158"
)
def test_every_field_of_an_answer_counts(machine: Machine):
    machine.write("snell.toml", f"{ENTRY}[hooks.command]\ncommand = 'sh \"$SNELL_HOME/say\"'\n")
    for word, verdict in {"allow": "allow", "approve": "allow", "deny": "deny", "block": "deny"}.items():
        assert printed(machine, {"decision": word, "reason": "so"}) == own(
            permissionDecision=verdict, permissionDecisionReason="so"
        )
    odd = printed(machine, {"decision": "Block", "reason": "so"})
    assert (verdict_of(odd), "Block" in odd["systemMessage"]) == ("", True)
    assert [printed(machine, each) for each in ({}, {"continue": True})] == [{}, {}]
    assert printed(machine, {"continue": False, "stopReason": "enough"}) == {"continue": False, "stopReason": "enough"}
    assert printed(machine, own(additionalContext="look")) == own(additionalContext="look")
    changed = {"command": "make", "timeout": 5}
    given = {"command": "ls", "description": "goes away", "timeout": 1}
    for value in (own(updatedInput=changed), {"ModifyInput": {"new_input": changed}}):
        assert printed(machine, value, tool_input=given) == own(updatedInput=changed)
    assert printed(machine, own(permissionDecision="ask", permissionDecisionReason="sure?")) == own(
        permissionDecision="ask", permissionDecisionReason="sure?"
    )
    assert printed(machine, {"systemMessage": "hello"}) == {"systemMessage": "hello"}
    for spelling in ("suppressOutput", "suppress_output"):
        assert printed(machine, {spelling: True, "systemMessage": "m"}) == {
            "continue": True,
            "suppressOutput": True,
            "systemMessage": "m",
        }
    foreign = {"hookSpecificOutput": {"hookEventName": "Stop", "permissionDecision": "deny"}}
    warned = printed(machine, foreign)
    assert (verdict_of(warned), "Stop" in warned["systemMessage"]) == ("", True)
    nameless = printed(machine, {"hookSpecificOutput": {"permissionDecision": "allow"}})
    assert (verdict_of(nameless), "has no hookEventName" in nameless["systemMessage"]) == ("", True)
    everything = {
        **own(additionalContext="look", permissionDecision="deny", permissionDecisionReason="no"),
        "systemMessage": "m",
    }
    assert printed(machine, everything) == everything
    after = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": "[hidden]"}}
    machine.write(
        "snell.toml", "[[hooks]]\nevent = 'PostToolUse'\n[hooks.command]\ncommand = 'sh \"$SNELL_HOME/say\"'\n"
    )
    (machine.home / "say").write_text(f"echo '{json.dumps(after)}'", encoding="utf-8")
    assert answer(machine, "PostToolUse", tool_name="Bash", tool_input={}, tool_response="secret") == after


@pytest.mark.proves("S1-44", "S1-63", "S1-64", "S1-115")
def test_a_shell_table_is_given_and_asked_for_nothing_unless_it_says_so(machine: Machine):
    line = 'cat > $SNELL_HOME/seen; echo \'{"decision": "block"}\''
    found = []
    for keys in ("", "pass_context = true\nparse_result = true\n"):
        machine.write("snell.toml", f"{ENTRY}[hooks.shell]\ncommand = '''{line}'''\n{keys}")
        found.append((verdict_of(fresh(machine)), bool((machine.home / "seen").read_bytes())))
    assert found == [("", False), ("deny", True)]


@pytest.mark.proves("S1-47", "S1-72", "S1-73", "S1-74", "S1-75", "S1-76", "S1-78")
def test_a_webhook_sends_the_event_and_its_response_is_an_answer(machine: Machine):
    refusal, down = Answer({"decision": "block", "reason": "not today"}), Answer("no", 503)
    with serving([refusal, Answer("<html>"), Answer(""), down, down]) as server:
        handler = f"[hooks.webhook]\nurl = '{server.url}/check'\n"
        more = "method = 'PUT'\nheaders = { A = 'b ${TOKEN}' }\nallowed_env = ['TOKEN']\n"
        machine.write("snell.toml", ENTRY + handler + more)
        assert specific(fresh(machine, {"TOKEN": "t\r\nX: y"}))["permissionDecisionReason"] == "not today"
        machine.write("snell.toml", ENTRY + handler)
        unreadable, empty, failed = (fresh(machine) for _ in range(3))
        machine.write("snell.toml", f"{ENTRY}exit_code_mode = 'strict'\n{handler}")
        strict = specific(fresh(machine))
    put, post = server.sent[:2]
    assert (put.method, put.path, put.headers["a"], post.method) == ("PUT", "/check", "b tX: y", "POST")
    assert (put.json["hook_event_name"], put.json["tool_input"]) == ("PreToolUse", {"command": "ls"})
    assert ("is not a JSON object" in unreadable["systemMessage"], empty) == (True, {})
    assert "answered with status 503" in failed["systemMessage"]
    assert (strict["permissionDecision"], "status 503" in strict["permissionDecisionReason"]) == ("deny", True)
    why = {
        server.url: "connection refused",
        "http://10.1.2.3/": "is private or reserved",
        "https://192.168.7.7/": "is private or reserved",
        "http://169.254.169.254/latest": "metadata service",
    }
    for url, wanted in why.items():
        machine.write("snell.toml", f"{ENTRY}[hooks.webhook]\nurl = '{url}'\ntimeout = 30\n")
        assert wanted in fresh(machine)["systemMessage"]
    listed = (
        f"webhook_hosts = ['192.168.7.0/24']\n{ENTRY}[hooks.webhook]\nurl = 'https://192.168.7.7/'\ntimeout = 0.3\n"
    )
    machine.write("snell.toml", listed)
    assert "is private or reserved" not in fresh(machine)["systemMessage"]  # it was called
    machine.write("snell.toml", f"{ENTRY}exit_code_mode = 'strict'\n[hooks.webhook]\nurl = '{server.url}'\n")
    assert verdict_of(fresh(machine)) == "deny"


def asking(server: ModelServer, entry: str) -> str:
    return f'[model]\napi = "anthropic"\nurl = "{server.url}"\nkey_env = "KEY"\nname = "usual"\n{entry}'


PROMPT = f"{ENTRY}[hooks.prompt]\nprompt = 'is $ARGUMENTS fine? $ARGUMENTS'\n"


@pytest.mark.proves("S1-45", "S1-49", "S1-51", "S1-52", "S1-53", "S1-54", "S1-55", "S1-56", "S1-79")
def test_a_prompt_hook_asks_a_model_and_its_answer_counts(machine: Machine):
    wanted = {
        '{"ok": true}': ("", "", ""),
        '{"ok": false, "reason": "not that"}': ("deny", "not that", ""),
        '"ok": false, "reason": "not that"}': ("deny", "not that", ""),  # it went on after the brace that it was given
        '{"ok": false}': ("deny", "refused", ""),
        'Well. {"ok": false, "reason": "not that"} So.': ("deny", "not that", ""),
        'Well. {"ok": true} So.': ("", "", ""),
        "I would rather not say": ("", "", "failed and was ignored"),
    }
    found = {}
    with model([*map(Line, wanted), Line('{"ok": true}'), Line(before=30)]) as server:
        machine.write("snell.toml", asking(server, PROMPT))
        for text, (_, reason, message) in wanted.items():
            said = fresh(machine, {"KEY": "k"})
            why = specific(said).get("permissionDecisionReason", "")
            told = said.get("systemMessage", "")
            assert bool(why) == bool(reason)
            is_as_wanted = message in told if message else not told
            found[text] = (verdict_of(said), reason if reason in why else why, message if is_as_wanted else told)
        machine.write("snell.toml", asking(server, f"{ENTRY}[hooks.prompt]\nprompt = 'Is it?'\nmodel = 'own'\n"))
        fresh(machine, {"KEY": "k"})
        machine.write("snell.toml", asking(server, PROMPT.replace("[hooks.", "timeout = 0.5\n[hooks.")))
        assert "within 0.5 s" in fresh(machine, {"KEY": "k"})["systemMessage"]
    assert found == wanted
    asked = server.asked[:-1]
    assert [each["model"] for each in asked[-2:]] == ["usual", "own"]
    question = asked[0]["messages"][0]["content"][0]["text"]
    assert (question.count('"hook_event_name":"PreToolUse"'), "$ARGUMENTS" in question) == (2, False)
    assert '{"ok": true}' in asked[0]["system"]
    assert '{"ok": false, "reason"' in asked[0]["system"]
    assert asked[0]["messages"][-1] == {"role": "assistant", "content": "{"}
    assert "Is it?" in asked[-1]["messages"][0]["content"][0]["text"]
    machine.write("snell.toml", PROMPT)
    none = fresh(machine)
    assert (verdict_of(none), "failed and was ignored" in none["systemMessage"]) == ("", True)


@pytest.mark.proves("S1-50")
def test_a_prompt_hook_shows_the_model_the_conversation(machine: Machine):
    transcript = machine.project / "t.jsonl"
    lines = [{"type": "user", "message": {"role": "user", "content": "please count the pears"}}]
    transcript.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    with model([Line('{"ok": true}')]) as server:
        machine.write("snell.toml", asking(server, PROMPT))
        fresh(machine, {"KEY": "k"}, transcript_path=str(transcript))
    assert "please count the pears" in json.dumps(server.asked[0])


@pytest.mark.proves("S1-46", "S1-57", "S1-58", "S1-59", "S1-61", "S1-62", "S1-79")
def test_an_agent_hook_reads_and_searches_before_it_answers(machine: Machine):
    (machine.project / "a.py").write_text("x = 'pear'\n", encoding="utf-8")
    transcript = machine.project / "t.jsonl"
    transcript.write_text(
        '{"type": "user", "message": {"role": "user", "content": "count the plums"}}\n', encoding="utf-8"
    )
    turns = [
        Line(calls=(("Glob", {"pattern": "*.py"}), ("Read", {"file_path": "a.py"}))),
        Line(calls=(("Grep", {"pattern": "plums", "path": str(transcript)}), ("Bash", {"command": "touch made"}))),
        Line('First {"ok": true}. No: {"ok": false, "reason": "no tests"}'),
        Line(status=500),
        Line(before=30),
    ]
    with model(turns) as server:
        entry = f"{ENTRY}timeout = 60\n[hooks.agent]\nprompt = 'Are there tests for $ARGUMENTS?'\nmodel = 'own'\n"
        machine.write("snell.toml", asking(server, entry))
        said = fresh(machine, {"KEY": "k"}, transcript_path=str(transcript))
        assert (
            specific(said) == own(permissionDecision="deny", permissionDecisionReason="no tests")["hookSpecificOutput"]
        )
        asked = server.asked
        assert {tool["name"] for tool in asked[0]["tools"]} == {"Read", "Glob", "Grep"}
        task = json.dumps(asked[0])
        assert ("$ARGUMENTS" in task, str(transcript) in task) == (False, True)
        assert "PreToolUse" in task.partition("Are there tests for ")[2]
        assert [each["model"] for each in asked] == ["own"] * 3
        assert "pear" in json.dumps(asked[1]["messages"][-1])
        assert "count the plums" in json.dumps(asked[2]["messages"][-1])
        assert not (machine.project / "made").exists()
        failed = fresh(machine, {"KEY": "k"})
        assert (verdict_of(failed), "failed and was ignored" in failed["systemMessage"]) == ("", True)
        usual = entry.replace("timeout = 60", "timeout = 1").replace("model = 'own'\n", "").replace("$ARGUMENTS", "it")
        machine.write("snell.toml", asking(server, usual))
        late = fresh(machine, {"KEY": "k"})
        assert server.asked[-1]["model"] == "usual"
        assert "hook_event_name" in json.dumps(server.asked[-1])  # also without a place for the event
        assert (verdict_of(late), "did not" in late["systemMessage"], status(machine)) == ("", True, "cancelled")
