"""Payloads that are odd or no JSON at all, through the real `snell-hook` and its stand-in in Python."""

import json
import sys
from pathlib import Path

import pytest

from snell.system.version import our_version
from tests.process.machine import CALL, Machine
from tests.process.shim_sandbox import SHIM

pytest_plugins = ("tests.process.machine_fixtures",)

BAD = json.dumps({**CALL, "tool_input": {"command": "bad"}})
START = BAD.removesuffix("}")
DENIED = {
    "repeated key": f'{START}, "tool_input": {{"command": "ls"}}, "tool_input": {{"command": "bad"}}}}',
    "repeated inner key": BAD.replace('"command"', '"command": "ls", "command"'),
    "repeated escaped key": f'{START}, "tool_input": 1, "\\u0074ool_input": {{"command": "bad"}}}}',
    "text after it": f"{BAD} trailing",
    "comma after it": f"{BAD},\n",
    "byte order mark": f"\ufeff{BAD}",
    "line break in a text": f'{START}, "a": "\n"}}',
    "NaN": f'{START}, "a": NaN, "b": [-Infinity, 1e999]}}',
    "number with many digits": f'{START}, "a": {"9" * 5000}}}',
    "half a surrogate pair": f'{START}, "a": "\\ud800", "\\udc00": 1}}',
}
UNREADABLE = [b"", b"\n", b"not json", BAD[:40].encode(), b"[1]", b"null", b'{"session_id": "s"}', b"\x00\x01\xff"]


@pytest.fixture(params=["native", "python"])
def machine(request: pytest.FixtureRequest, machine: Machine, tmp_path: Path) -> Machine:
    if request.param == "python":
        machine.hook_program = tmp_path / "snell-hook"
        command = f'exec "{sys.executable}" -I -S "{SHIM}" {our_version()} "$@"'
        machine.hook_program.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
        machine.hook_program.chmod(0o755)
    return machine


def verdict(machine: Machine, raw: bytes) -> str:
    code, out, err = machine.hook(raw=raw)
    assert (code, err) == (0, "")
    return json.loads(out)["hookSpecificOutput"]["permissionDecision"] if out else ""


def test_odd_json_is_read_as_the_client_reads_it_and_judged(machine: Machine) -> None:
    read = {name: verdict(machine, text.encode()) for name, text in DENIED.items()}
    assert read == dict.fromkeys(DENIED, "deny")
    assert verdict(machine, BAD.encode("utf-16")) == "deny"
    assert verdict(machine, START.encode() + b', "a": "\xff"}') == "deny"
    assert verdict(machine, DENIED["repeated key"].replace("bad", "fine").encode()) == ""
    assert verdict(machine, f"{json.dumps(CALL)} trailing".encode()) == ""


def test_what_cannot_be_judged_is_asked_about(machine: Machine) -> None:
    for text in (json.dumps(CALL) + BAD, BAD + json.dumps(CALL), json.dumps({**CALL, "tool_name": ["Bash"]})):
        assert verdict(machine, text.encode()) == "ask"
    for text in (json.dumps({**CALL, "tool_name": None}), json.dumps({**CALL, "tool_name": ""})):
        assert verdict(machine, text.encode()) == "ask"


@pytest.mark.proves("S0-72")
def test_what_is_no_json_gets_exit_code_0_and_one_line(machine: Machine) -> None:
    for raw in UNREADABLE:
        code, out, err = machine.hook(raw=raw)
        assert (code, out, err.count("\n"), err.startswith("snell: the payload ")) == (0, "", 1, True), raw


def test_what_is_no_json_is_refused_where_a_guard_fails_closed(machine: Machine, tmp_path: Path) -> None:
    assert [machine.hook(None, "--fail-closed", raw=raw)[0] for raw in UNREADABLE] == [2] * len(UNREADABLE)
    policy = tmp_path / "policy.toml"
    policy.write_text('[[hooks]]\nevent = "PreToolUse"\n[hooks.command]\ncommand = "true"\n', encoding="utf-8")
    assert machine.hook(raw=b"not json", SNELL_POLICY=str(policy))[0] == 2
