"""How the hooks of one event run: together, within their limits, in the background, and what is recorded of them."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from snell import Deny, Event, Hook, Note, Rewrite, Runtime, Verdict
from snell.model.hooks import Inline
from tests.model_server import Line, model
from tests.process.answers import answer, call, context_in, problems, record, specific, verdict_of
from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)


def entry(line: str, event: str = "PreToolUse", **keys: str) -> str:
    given = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return f"[[hooks]]\nevent = '{event}'\n{given}[hooks.command]\ncommand = '''{line}'''\n"


def note(text: str, event: str = "PreToolUse") -> str:
    said = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
    return f"echo '{json.dumps(said)}'"


def run_of(machine: Machine, name: str) -> dict[str, Any]:
    runs = [run for each in record(machine)["rounds"] for run in each["runs"]]
    return next(run for run in runs if run["hook"] == name)


@pytest.mark.proves("S1-88", "S1-95")
def test_a_command_is_ended_at_its_limit_with_all_that_it_started(machine: Machine, tmp_path: Path):
    line = "sleep 600 & echo $! > $OUT/child; echo $$ > $OUT/shell; (setsid sleep 600 & echo $! > $OUT/away); sleep 600"
    env = {"OUT": str(tmp_path)}
    found = {}
    for policy in ("allow", "block"):
        machine.write("snell.toml", entry(line, name="'slow'", timeout="4", on_failure=f"'{policy}'"))
        said = call(machine, policy, env)
        assert "did not finish within 4 s" in json.dumps(said)
        found[policy] = (
            verdict_of(said),
            run_of(machine, "slow")["status"],
            run_of(machine, "slow")["failure"]["kind"],
        )
        for name in ("child", "shell", "away"):
            pid = (tmp_path / name).read_text(encoding="ascii").strip()
            wait_until(lambda pid=pid: not Path(f"/proc/{pid}").exists(), 20)
    assert found == {"allow": ("", "cancelled", "timeout"), "block": ("deny", "cancelled", "timeout")}


@pytest.mark.proves("S1-98", "S1-99")
def test_hooks_of_one_event_run_at_the_same_time_and_answer_in_their_order(machine: Machine, tmp_path: Path):
    """Each waits for the next one, so that the last is ready first."""
    meet = "touch $OUT/{0}; until [ -e $OUT/{1} ]; do sleep 0.02; done; "
    refuse = 'echo "no from {0}" >&2; exit 2'
    hooks = [meet.format(n, n + 1) + (note(f"note-{n}") if n % 2 else refuse.format(n)) for n in range(1, 4)]
    hooks.append("touch $OUT/4; until [ -e $OUT/3 ]; do sleep 0.02; done; " + refuse.format(4))
    machine.write("snell.toml", "\n".join(entry(line, name=f"'h{n}'", timeout="60") for n, line in enumerate(hooks, 1)))
    said = specific(call(machine, env={"OUT": str(tmp_path)}))
    assert (said["permissionDecision"], said["permissionDecisionReason"].splitlines()) == (
        "deny",
        ["no from 2", "no from 4"],
    )
    assert said["additionalContext"].split() == ["note-1", "note-3"]


REWRITES = """
from snell import Rewrite, rewrites

@rewrites("PreToolUse", kind="shell")
def one(call):
    return Rewrite(command={"same": "same", "there": "elsewhere", "new": "newer"}.get(call.command, call.command))

@rewrites("PreToolUse", kind="shell")
def two(call):
    return Rewrite(command="there") if call.command == "elsewhere" else None
"""


@pytest.mark.proves("S1-94", "S1-133", "S1-134")
def test_an_input_is_rewritten_when_its_value_differs_and_both_are_on_record(machine: Machine, tmp_path: Path):
    machine.write("pack/rules.py", REWRITES)
    assert [specific(call(machine, each)) for each in ("same", "there")] == [{}, {}]
    first, second = record(machine)["changes"]
    assert (first["after_hash"], first["before_hash"]) == (second["before_hash"], second["after_hash"])
    assert specific(call(machine, "new"))["updatedInput"] == {"command": "newer"}
    (change,) = record(machine)["changes"]
    assert (len(change["before_hash"]), len(change["after_hash"])) == (32, 32)
    assert change["before_hash"] != change["after_hash"]
    changed = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "ruled"}}})
    (tmp_path / "policy.toml").write_text(entry(f"grep -q rule && echo '{changed}'; true"), encoding="utf-8")
    env = {"SNELL_POLICY": str(tmp_path / "policy.toml")}
    machine.write("snell.toml", 'packs = ["pack"]\nrewrites_from = "policy"\n')
    assert specific(call(machine, "new", env, tool_use_id="n2")) == {}
    assert specific(call(machine, "rule", env, tool_use_id="n3"))["updatedInput"] == {"command": "ruled"}


@pytest.mark.proves("S1-96", "S1-102")
def test_reading_the_settings_again_keeps_what_once_has_used_up(machine: Machine):
    said = []
    for number in range(3):
        more = entry(note("more")) if number else ""
        machine.write("snell.toml", entry(note("once"), name="'o'", once="true") + more)
        said.append(context_in(call(machine, f"ls {number}")).split())
    assert said == [["once"], ["more"], ["more"]]


@pytest.mark.proves("S1-90", "S1-155", "S1-157", "S1-159", "S1-160")
def test_a_background_hook_delays_nothing_and_its_note_comes_with_the_next_event(machine: Machine, tmp_path: Path):
    wait = "until [ -e $OUT/go ]; do sleep 0.02; done; "
    late = json.dumps({"decision": "block", "reason": "too late"})
    hooks = [
        entry(wait + note("late-1"), **{"async": "true"}),
        entry("echo '{\"async\": true}'; " + wait + note("late-2")),
        entry(wait + f"echo '{late}'", name="'verdict'", **{"async": "true"}),
        entry("exit 3", name="'fails'", **{"async": "true"}),
        entry("sleep 600", name="'expires'", **{"async": "true", "async_timeout": "300"}),
        entry(note("forced"), **{"async": "true", "force_sync": "true"}),
        entry(note("begun", "SessionStart"), "SessionStart", **{"async": "true"}),
        entry("echo $$ > $OUT/pid; sleep 600", "PostToolUse", **{"async": "true", "async_timeout": "600000"}),
    ]
    machine.write("snell.toml", "\n".join(hooks))
    env = {"OUT": str(tmp_path)}
    assert "begun" in context_in(answer(machine, "SessionStart", env, source="startup"))
    first = call(machine, "one", env)
    assert (verdict_of(first), context_in(first).split()) == ("", ["forced"])
    (tmp_path / "go").touch()
    found: list[str] = []

    def has_all() -> bool:
        found.extend(context_in(answer(machine, "UserPromptSubmit", env, prompt="well?")).split())
        return {"late-1", "late-2"} <= set(found)

    wait_until(has_all, 30)
    assert sorted(found) == ["late-1", "late-2"]
    # On a busy machine many prompts came after it, more than `log` lists without a filter.
    (line,) = machine.snell("log", "--event", "PreToolUse", "--json").splitlines()
    decided = json.loads(line)["id"]
    late_runs = wait_until(
        lambda: len(runs := json.loads(machine.snell("why", decided, "--json")).get("late", [])) == 5 and runs
    )
    by_name = {run["hook"]: run for run in late_runs if not run["hook"].startswith("PreToolUse-")}
    assert {name: (run["status"], run.get("remarks"), run.get("failure")) for name, run in by_name.items()} == {
        "verdict": ("blocking", ["deny came too late to count"], None),
        "fails": ("non_blocking_error", None, {"kind": "crash", "message": "exit code 3"}),
        "expires": ("cancelled", None, {"kind": "timeout", "message": "did not finish within 0.3 s and was ended"}),
    }
    answer(machine, "PostToolUse", env, tool_name="Bash", tool_input={}, tool_response="")
    pid = wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(encoding="ascii").strip())
    answer(machine, "SessionEnd", env, reason="other")
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), 20)


@pytest.mark.proves("S1-149", "S1-150")
def test_a_headless_client_has_every_kind_of_hook_but_those_that_ask_a_model(machine: Machine):
    with model([Line('{"ok": false, "reason": "no"}')] * 2) as server:
        asked = f'[model]\napi = "anthropic"\nurl = "{server.url}"\nkey_env = "KEY"\n'
        kinds = "\n".join(
            f"[[hooks]]\nevent = 'PreToolUse'\n[hooks.{kind}]\nprompt = '?'\n" for kind in ("prompt", "agent")
        )
        machine.write("snell.toml", asked + entry(note("ran")) + kinds)
        said = call(machine, "a", {"KEY": "k", "CLAUDE_CODE_ENTRYPOINT": "sdk-cli"})
        assert (verdict_of(said), context_in(said), server.asked) == ("", "ran", [])
        for kind in ("a prompt hook", "an agent hook"):
            assert f"{kind} does not run in a session without a user; `in_batch = true`" in said["systemMessage"]
        said = call(machine, "b", {"KEY": "k", "CLAUDE_CODE_ENTRYPOINT": "cli"}, session_id="s2")
    assert (verdict_of(said), context_in(said), len(server.asked)) == ("deny", "ran", 2)


@pytest.mark.proves("S1-80", "S1-88", "S1-149")
def test_an_interactive_program_sees_each_hook_start_and_end_and_may_cancel():
    async def forever(_event: Event) -> None:
        await asyncio.sleep(1_000)

    async def watch(runtime: Runtime, *, cancels: bool) -> tuple[list[tuple[str, str, str]], list[str]]:
        streaming, seen = runtime.stream(Event(name="PreToolUse", payload={})), []
        async for each in streaming:
            seen.append((each.stage, each.hook, each.status_message))
            if cancels:
                streaming.cancel()
        return seen, [outcome.status for _, _, outcome in streaming.decision.runs()]

    def hook(name: str, function: Any) -> Hook:
        return Hook(id=name, event="PreToolUse", handler=Inline(function), status_message=f"{name} looks")

    with Runtime.embed(hook("a", lambda _event: Note("x"))) as runtime:
        assert asyncio.run(watch(runtime, cancels=False)) == (seen_of("a"), ["success"])
    with Runtime.embed(hook("b", forever)) as runtime:
        assert asyncio.run(asyncio.wait_for(watch(runtime, cancels=True), 60)) == (seen_of("b"), ["cancelled"])


def seen_of(name: str) -> list[tuple[str, str, str]]:
    return [("started", name, f"{name} looks"), ("completed", name, f"{name} looks"), ("decided", "", "")]


@pytest.mark.proves("S1-84", "S1-151")
def test_a_program_gets_all_outcomes_as_a_list_and_asks_whether_they_deny_or_rewrite():
    hooks = [Hook(id=str(n), event="PreToolUse", handler=Inline(lambda _event, effect=effect: effect))
             for n, effect in enumerate((Note("x"), Deny("no"), Rewrite({"a": 1}), None))]  # fmt: skip
    with Runtime.embed(*hooks) as runtime:
        outcomes = runtime.run_batch(Event(name="PreToolUse", payload={}, tool="T", tool_name="T"))
        decision = runtime.fire("PreToolUse", tool_name="T", tool_input={})
    effects = [effect for outcome in outcomes[:4] for effect in outcome.effects]
    assert effects == [Note("x"), Deny("no"), Rewrite({"a": 1})]
    assert [isinstance(each, Deny) for each in effects] == [False, True, False]
    assert [isinstance(each, Rewrite) for each in effects] == [False, False, True]
    assert (decision.verdict is Verdict.DENY, decision.is_rewritten) == (True, True)


@pytest.mark.proves("S1-154")
def test_status_line_and_file_suggestion_are_settings_and_no_events(machine: Machine):
    lines = "status_line = { command = 'echo mine' }\nfile_suggestion = { command = 'echo a.py' }\n"
    machine.write("snell.toml", lines + entry("true", "StatusLine") + entry("true", "FileSuggestion"))
    assert [problem["message"] for problem in problems(machine)] == [
        "`StatusLine` is not an event",
        "`FileSuggestion` is not an event",
    ]
    machine.write("snell.toml", lines)
    assert machine.snell("statusline", given=b"{}").strip() == "mine"
    assert machine.snell("suggest-files", given=b'{"query": "a"}').strip() == "a.py"
