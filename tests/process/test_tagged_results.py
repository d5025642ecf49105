"""The three tagged results, `"Continue"`, `{"Reject": ...}` and `{"ModifyInput": ...}`, from every kind of handler."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.loopback import Answer, serving
from tests.model_server import Line, model
from tests.process.machine import Machine

pytest_plugins = ("tests.process.machine_fixtures",)

RESULTS: dict[str, Any] = {
    "continue": "Continue",
    "reject": {"Reject": {"reason": "not now"}},
    "modify": {"ModifyInput": {"new_input": {"command": "make"}}},
}
CHECKER = Path(__file__).resolve().parents[1] / "mcp_checker.py"
ENTRY = '[[hooks]]\nevent = "PreToolUse"\nname = "h"\n'
Settings = Callable[[Machine, Any], Any]


@contextmanager
def by_command(machine: Machine, result: Any) -> Iterator[str]:
    (machine.config / "result.json").write_text(json.dumps(result), encoding="utf-8")
    yield f'{ENTRY}[hooks.shell]\ncommand = "cat {machine.config}/result.json"\nparse_result = true\n'


def by_python(word: str) -> Settings:
    @contextmanager
    def settings(machine: Machine, result: Any) -> Iterator[str]:
        role = "rewrites" if "ModifyInput" in result else "judges"
        function = f'@{role}("PreToolUse")\n{word}def check(event):\n    return {result!r}\n'
        machine.write("h.py", f"from snell import {role}\n\n{function}")
        yield f'{ENTRY}[hooks.python]\nfile = "h.py"\nfunction = "check"\n'

    return settings


@contextmanager
def by_webhook(_machine: Machine, result: Any) -> Iterator[str]:
    with serving(Answer(json.dumps(result))) as server:
        yield f'{ENTRY}[hooks.webhook]\nurl = "{server.url}"\n'


@contextmanager
def by_mcp_tool(_machine: Machine, result: Any) -> Iterator[str]:
    answer = f"answer = '''{json.dumps(result)}'''"
    server = f'[mcp_servers.c]\ncommand = "{sys.executable}"\nargs = ["{CHECKER}"]\n'
    yield f'{ENTRY}[hooks.mcp_tool]\nserver = "c"\ntool = "check"\ninput = {{ {answer} }}\n{server}'


def by_model(kind: str) -> Settings:
    @contextmanager
    def settings(_machine: Machine, result: Any) -> Iterator[str]:
        with model([Line(json.dumps(result))]) as server:
            asked = f'[model]\napi = "anthropic"\nurl = "{server.url}"\nkey_env = "KEY"\n'
            yield f'{asked}{ENTRY}[hooks.{kind}]\nprompt = "is $ARGUMENTS fine?"\n'

    return settings


def said(machine: Machine, settings: Settings) -> dict[str, Any]:
    found = {}
    for name, result in RESULTS.items():
        with settings(machine, result) as text:
            machine.write("snell.toml", text)
            _, out, err = machine.hook({"session_id": name}, KEY="k")
        assert err == ""
        reply = json.loads(out) if out else {}
        specific = reply.get("hookSpecificOutput", {})
        found[name] = (
            specific.get("permissionDecision", ""),
            specific.get("permissionDecisionReason", ""),
            specific.get("updatedInput"),
            reply.get("systemMessage", ""),
        )
    return found


@pytest.mark.proves("S1-48", "S1-82", "S1-83")
@pytest.mark.parametrize(
    "settings",
    [by_command, by_python(""), by_python("async "), by_webhook, by_mcp_tool],
    ids=["command", "python", "async python", "webhook", "mcp tool"],
)
def test_a_hook_of_any_kind_continues_rejects_or_modifies_the_input(machine: Machine, settings: Settings) -> None:
    assert said(machine, settings) == {
        "continue": ("", "", None, ""),
        "reject": ("deny", "not now", None, ""),
        "modify": ("", "", {"command": "make"}, ""),
    }


@pytest.mark.parametrize("kind", ["prompt", "agent"])
def test_a_model_continues_or_rejects_and_may_not_modify_the_input(machine: Machine, kind: str) -> None:
    found = said(machine, by_model(kind))
    assert (found["continue"], found["reject"]) == (("", "", None, ""), ("deny", "not now", None, ""))
    assert found["modify"][:3] == ("", "", None)
    assert "failed and was ignored: a model may not change the input" in found["modify"][3]
