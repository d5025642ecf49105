"""The events of a client, what they carry and what their matchers read, through the real `snell-hook`."""

import json
from pathlib import Path
from typing import Any

import pytest

from snell import HookMatcher, Rewrite, Runtime
from tests.process.answers import answer, call, context_in, problems, specific
from tests.process.machine import Machine

pytest_plugins = ("tests.process.machine_fixtures",)

SHELL = {
    "tool_name": "Bash",
    "tool_input": {"command": "é", "n": 2**70, "deep": [None, {"a": 1.5}]},
    "tool_use_id": "t",
}
READ = {"tool_name": "Read", "tool_input": {"file_path": "/a", "limit": None}, "tool_use_id": "r"}
# By event: its own fields, a matcher that fits them, and one that does not; None where matchers are ignored.
EVENTS: dict[str, tuple[dict[str, Any], str, str | None]] = {
    "SessionStart": ({"source": "startup"}, "startup", "resume"),
    "UserPromptSubmit": ({"prompt": "hi"}, "nothing like it", None),
    "PreToolUse": (SHELL, "Bash", "Edit"),
    "PermissionRequest": ({**SHELL, "agent_id": "a2", "agent_type": "Explore"}, "Bash", "Edit"),
    "PostToolUse": ({**READ, "tool_response": {"stdout": "a", "code": 0}}, "Read", "Edit"),
    "PostToolUseFailure": (
        {"tool_name": "Odd", "tool_input": [1, {"a": None}], "error": "Exit code 3", "is_interrupt": True},
        "Odd",
        "Edit",
    ),
    "Notification": ({"message": "well?", "notification_type": "idle_prompt"}, "idle_prompt", "auth_success"),
    "SubagentStart": ({"agent_id": "a1", "agent_type": "Explore"}, "Explore", "Plan"),
    "SubagentStop": (
        {"agent_id": "a1", "agent_type": "Explore", "agent_transcript_path": "/t/a1.jsonl", "stop_hook_active": False},
        "Explore",
        "Plan",
    ),
    "Stop": ({"stop_hook_active": True, "last_assistant_message": "done"}, "nothing like it", None),
    "PreCompact": ({"trigger": "auto", "custom_instructions": ""}, "auto", "manual"),
    "SessionEnd": ({"reason": "clear"}, "clear", "logout"),
}
COMMON = {"permission_mode": "plan", "transcript_path": "/t/s.jsonl"}


@pytest.mark.proves(
    "S1-02",
    "S1-03",
    "S1-05",
    "S1-06",
    "S1-07",
    "S1-08",
    "S1-09",
    "S1-10",
    "S1-11",
    "S1-12",
    "S1-16",
    "S1-17",
    "S1-18",
    "S1-19",
    "S1-20",
    "S1-21",
    "S1-22",
    "S1-23",
    "S1-24",
    "S1-26",
    "S1-36",
    "S1-63",
    "S1-113",
    "S0-70",
    "S0-71",
)
def test_every_event_reaches_the_commands_that_fit_with_the_fields_of_the_client(machine: Machine, tmp_path: Path):
    out = tmp_path / "out"
    out.mkdir()

    def entry(matcher: str | None, name: str) -> dict[str, Any]:
        line = f"cat >> {out}/{name}"
        program = {"command": "/bin/sh", "args": ["-c", line]} if name.startswith("Stop") else {"command": line}
        return {"matcher": matcher, "hooks": [{"type": "command", **program}]}

    hooks = {event: [entry(fits, f"{event}-fits")] for event, (_, fits, _) in EVENTS.items()}
    for event, (_, _, other) in EVENTS.items():
        hooks[event] += [entry(None, f"{event}-any"), *([entry(other, f"{event}-other")] if other else [])]
    machine.write("snell.json", json.dumps({"hooks": hooks}))
    wanted = {}
    for number, (event, (fields, _, _)) in enumerate(EVENTS.items()):
        given = {"session_id": "s7", "cwd": str(machine.project), **(COMMON if number % 2 else {}), **fields}
        answer(machine, event, **given)
        wanted |= {f"{event}-{each}": {"hook_event_name": event, **given} for each in ("fits", "any")}
    assert {path.name: json.loads(path.read_bytes()) for path in out.iterdir()} == wanted
    ignored = [f"{event} has nothing to match, so the matcher is ignored" for event in ("UserPromptSubmit", "Stop")]
    assert [problem["message"] for problem in problems(machine)] == ignored


RULES = """
from snell import Deny, Note, Rewrite, Stop, informs, judges, rewrites

@judges("PreToolUse", matcher="Bash")
def no_bad(call):
    return Deny("not that") if call.command == "bad" else None

@informs("PreToolUse", matcher="Bash")
def hint(call):
    return Note("read the manual") if call.command == "bad" else None

@rewrites("PreToolUse", matcher="Bash")
def tidy(call):
    return Rewrite({"command": "ls -a"}) if call.command == "ls" else None

@rewrites("PostToolUse")
def hide(call):
    return Rewrite("[hidden]") if call.response == "secret" else None

@judges("PostToolUse")
def after(call):
    return {"stop": Stop("enough"), "note": Note("look"), "no": Deny("never again")}.get(call.response)

@informs("PostToolUseFailure")
def failed(call):
    return Note(f"it said: {call.error}")
"""


@pytest.mark.proves("S1-01", "S1-02", "S1-03", "S1-04", "S1-19", "S1-20", "S2-01")
def test_a_call_is_denied_or_rewritten_before_it_and_commented_on_after_it(machine: Machine):
    machine.write("pack/rules.py", RULES)
    denied = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "not that"}
    assert specific(call(machine, "bad")) == {**denied, "additionalContext": "read the manual"}
    assert specific(call(machine, "ls"))["updatedInput"] == {"command": "ls -a"}
    assert answer(machine, "PreToolUse", tool_name="Read", tool_input={"file_path": "bad"}) == {}
    given = {"tool_name": "Bash", "tool_input": {"command": "make"}}
    after = {text: answer(machine, "PostToolUse", tool_response=text, tool_use_id=text, **given)
             for text in ("secret", "stop", "note", "no", "fine")}  # fmt: skip
    assert specific(after["secret"])["updatedToolOutput"] == "[hidden]"
    assert after["stop"] == {"continue": False, "stopReason": "enough"}
    assert context_in(after["note"]) == "look"
    assert after["no"] == {"decision": "block", "reason": "never again"}
    assert after["fine"] == {}
    failed = context_in(answer(machine, "PostToolUseFailure", error="Exit code 3", **given))
    assert failed.endswith("\nit said: Exit code 3")


@pytest.mark.proves("S1-04")
def test_a_prompt_is_replaced_for_a_caller_that_takes_a_new_one():
    def reword(event: Any) -> Rewrite:
        return Rewrite(event.prompt.upper())

    with Runtime.embed(hooks={"UserPromptSubmit": [HookMatcher("nothing like it", [reword])]}) as runtime:
        assert runtime.fire("UserPromptSubmit", prompt="hi").event.prompt == "HI"


@pytest.mark.proves("S1-13", "S1-14", "S1-118")
def test_events_are_named_in_pascal_or_snake_case_and_an_unknown_one_is_an_error(machine: Machine):
    names = ("PreToolUse", "pre_tool_use", "FromTomorrow", "PreToolUze")
    entry = '[[hooks]]\nevent = "{0}"\n[hooks.command]\ncommand = "echo {0} >> {1}"\n'
    seen = machine.home / "seen"
    entries = "\n".join(entry.format(name, seen) for name in names)
    machine.write("snell.toml", f'extra_events = ["FromTomorrow"]\n{entries}')
    call(machine)
    answer(machine, "pre_tool_use", tool_name="Bash", tool_input={"command": "pwd"}, tool_use_id="p")
    answer(machine, "FromTomorrow", news="x")
    ran = sorted(seen.read_text(encoding="utf-8").split())
    assert ran == ["FromTomorrow", "PreToolUse", "PreToolUse", "pre_tool_use", "pre_tool_use"]
    (problem,) = problems(machine)
    assert (problem["severity"], problem["line"], problem["message"]) == ("error", 18, "`PreToolUze` is not an event")
    assert problem["advice"] == "did you mean `PreToolUse`?"


@pytest.mark.proves("S1-25", "S1-44", "S1-65", "S1-66", "S1-67", "S1-70")
def test_a_command_has_the_directory_and_variables_of_its_event(machine: Machine, tmp_path: Path):
    out = tmp_path / "out"
    (machine.project / ".snell").mkdir()
    plugin = machine.config / "plugin"
    for name, text in {
        ".claude-plugin/plugin.json": '{"name": "lab"}',
        "hooks/hooks.json": json.dumps(
            {
                "hooks": {
                    "PreToolUse": [{"hooks": [{"type": "command", "command": "echo $CLAUDE_PLUGIN_ROOT > $OUT/root"}]}]
                }
            }
        ),
    }.items():
        path = plugin / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    line = 'mkdir -p $OUT; { cat; echo; pwd; env; } > $OUT/$HOOK_EVENT; echo "A=\\"two words\\"" > "$CLAUDE_ENV_FILE"'
    entries = [
        f"[[hooks]]\nevent = '{event}'\n[hooks.command]\ncommand = '''{line} || true'''\n"
        for event in ("PreToolUse", "Stop", "SessionStart")
    ]
    machine.write("snell.toml", 'packs = ["plugin"]\n' + "\n".join(entries))
    inner = machine.project / "inner"
    inner.mkdir()
    env, variables = {"OUT": str(out), "OWN_WORD": "only-for-the-session"}, tmp_path / "variables"
    answer(machine, "SessionStart", {**env, "CLAUDE_ENV_FILE": str(variables)}, source="startup", cwd="/nowhere/at/all")
    assert variables.read_text(encoding="utf-8") == "export A='two words'\n"  # where the client reads it
    call(machine, env=env, cwd=str(inner), session_id="s1")
    answer(machine, "Stop", env, stop_hook_active=False)
    seen = {path.name: path.read_text(encoding="utf-8").splitlines() for path in out.iterdir()}
    assert seen.pop("root") == [str(plugin)]
    folders = {event: lines[2] for event, lines in seen.items()}
    assert folders == {"SessionStart": str(machine.home), "PreToolUse": str(inner), "Stop": str(machine.project)}
    found = {event: dict(line.partition("=")[::2] for line in lines[3:]) for event, lines in seen.items()}
    assert [("only-for-the-session" in lines[0], found[event]["OWN_WORD"]) for event, lines in seen.items()] == [
        (False, "only-for-the-session")
    ] * 3
    shown = ("HOOK_EVENT", "HOOK_TOOL_NAME", "HOOK_SESSION_ID", "CLAUDE_PROJECT_DIR")
    assert [found["PreToolUse"][name] for name in shown] == ["PreToolUse", "Bash", "s1", str(machine.project)]
    assert ("HOOK_TOOL_NAME" in found["Stop"], found["Stop"]["HOOK_SESSION_ID"]) == (False, "s")
    assert ["CLAUDE_ENV_FILE" in found[event] for event in ("SessionStart", "PreToolUse", "Stop")] == [
        True,
        False,
        False,
    ]
    assert not Path(found["SessionStart"]["CLAUDE_ENV_FILE"]).exists()
