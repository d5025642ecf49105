"""Several hooks that rewrite one call, through the real `snell-hook`: what runs in the end, and what `why` shows."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)

# A command hook that runs Python with the command line as `c`; it prints the new one.
SCRIPT = """import json, sys
c = json.load(sys.stdin)["tool_input"]["command"]
n = {new}
open({log!r}, "a").write(c + "\\n")
changed = {{"hookEventName": "PreToolUse", "updatedInput": {{"command": n}}}}
if n != c: print(json.dumps({{"hookSpecificOutput": changed}}))
"""


def rewriter(folder: Path, name: str, new: str, more: str = "") -> str:
    script = folder / f"{name}.py"
    script.write_text(SCRIPT.format(new=new, log=str(folder / f"{name}.log")), encoding="utf-8")
    handler = f'[hooks.command]\ncommand = "python3 -I -S {script}"\npass_context = true\nparse_result = true\n'
    return f'[[hooks]]\nevent = "PreToolUse"\nname = "{name}"\n{more}\n{handler}'


def seen(folder: Path, name: str) -> list[str]:
    log = folder / f"{name}.log"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


def runs(machine: Machine, command: str, **env: str) -> tuple[str, str]:
    """The verdict and the command that runs."""
    _, out, _ = machine.hook({"tool_input": {"command": command}}, **env)
    said: dict[str, Any] = json.loads(out)["hookSpecificOutput"] if out else {}
    return said.get("permissionDecision", ""), said.get("updatedInput", {}).get("command", command)


def explained(machine: Machine) -> str:
    wait_until(lambda: "were not kept" not in machine.snell("why", "last"))  # the trace is written after the reply
    return machine.snell("why", "last")


@pytest.mark.parametrize("role", ["", 'role = "rewrites"'])
def test_what_a_policy_adds_stays_whatever_others_make_of_the_call(machine: Machine, tmp_path: Path, role: str) -> None:
    (machine.project / "Makefile").write_text("test:\n\t./run\n", encoding="utf-8")
    policy = tmp_path / "policy.toml"
    policy.write_text(rewriter(tmp_path, "ci", 'c if c.startswith("CI=1 ") else "CI=1 " + c', role), encoding="utf-8")
    machine.write("snell.toml", rewriter(tmp_path, "tox", '"make all" if "tox" in c else c'))
    wanted = {"pytest": "CI=1 make test", "tox": "CI=1 make all", "ls": "CI=1 ls"}
    assert {each: runs(machine, each, SNELL_POLICY=str(policy)) for each in wanted} == {
        each: ("", command) for each, command in wanted.items()
    }
    policy.write_text(rewriter(tmp_path, "always", '"CI=1 " + c', role), encoding="utf-8")
    assert runs(machine, "pytest", SNELL_POLICY=str(policy)) == ("", "CI=1 make test")
    assert "what it would add is already there" in explained(machine)
    assert runs(machine, "CI=1 tox", SNELL_POLICY=str(policy)) == ("", "CI=1 make all")


def test_a_hook_that_only_fits_the_result_of_another_has_its_turn_and_a_third_pass_is_asked_about(
    machine: Machine, tmp_path: Path
) -> None:
    steps = [rewriter(tmp_path, f"to-{n + 1}", f'"step {n + 1}" if c == "step {n}" else c') for n in range(3)]
    machine.write("snell.toml", "\n".join(steps[:2]))
    assert runs(machine, "step 0") == ("", "step 2")
    why = explained(machine)
    assert (why.count("again, on the rewritten input"), why.count("after a second pass of rewriters")) == (1, 1)
    machine.write("snell.toml", "\n".join(steps))
    assert runs(machine, "step 0")[0] == "ask"


@pytest.mark.proves("S1-93")
def test_in_sequential_order_each_hook_gets_what_the_one_before_left_until_one_denies(
    machine: Machine, tmp_path: Path
) -> None:
    deny = '[hooks.command]\ncommand = "echo no >&2; exit 2"\n'
    hooks = [
        rewriter(tmp_path, "first", 'c + " 1"'),
        rewriter(tmp_path, "second", 'c + " 2"'),
        f'[[hooks]]\nevent = "PreToolUse"\nname = "no"\n{deny}',
        rewriter(tmp_path, "third", 'c + " 3"'),
    ]
    machine.write("snell.toml", 'order = "sequential"\n' + "\n".join(hooks))
    assert runs(machine, "ls")[0] == "deny"
    assert [seen(tmp_path, name) for name in ("first", "second", "third")] == [["ls"], ["ls 1"], []]
    why = explained(machine)
    assert "all hooks, in turn, until one denies" in why
    assert "third: a hook before it had already denied" in why
