"""MCP tool hooks, through the real library and a real server."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from snell.handlers.mcp_tool import McpTool
from snell.model.context import Context, HandlerSettings, McpServer
from snell.model.decision import Failure, Outcome
from snell.model.effects import Deny, Note
from tests.handler_helpers import outcome_of
from tests.helpers import call
from tests.unit.settings.settings_files import hook_of, messages_of, parse_text

ROOT = Path(__file__).resolve().parents[2]
CHECKER = McpServer(sys.executable, (str(ROOT / "tests/mcp_checker.py"),))


def context(**fields) -> Context:
    servers = {"checker": CHECKER, "gone": McpServer("/nowhere/server"), "mute": McpServer("/bin/true")}
    return Context(env={"PATH": "/usr/bin:/bin"}, settings=HandlerSettings(mcp_servers=servers), **fields)


def answered(given: dict, *, server: str = "checker", tool: str = "check", **fields) -> Outcome:
    return outcome_of(McpTool(server, tool, given), call("make all"), context=context(), **{"timeout": 30.0, **fields})


def test_the_text_of_the_tool_is_the_answer_and_its_input_is_made_from_the_event():
    assert answered({"command": "<${tool_input.command}|${no.such.field}|${tool_name}>"}) == Outcome(
        (Note("saw <make all||Bash>"),)
    )
    assert answered({"answer": '{"decision": "block", "reason": "no"}'}) == Outcome((Deny("no"),))
    assert answered({"answer": "fine"}) == Outcome(remarks=("printed text, which goes nowhere on PreToolUse",))


@pytest.mark.parametrize(
    ("given", "options", "failure"),
    [
        ({}, {"server": "other"}, ("launch", "there is no MCP server `other`; describe it in `[mcp_servers.other]`")),
        ({}, {"server": "gone"}, ("launch", "cannot start `/nowhere/server`: No such file or directory")),
        ({"sleep": 60}, {"timeout": 3.0}, ("timeout", "did not answer within 3 s")),
    ],
)
def test_what_goes_wrong_is_a_failure(given, options, failure):
    assert answered(given, **options) == Outcome(failure=Failure(*failure))


@pytest.mark.parametrize(
    ("given", "options", "kind"),
    [
        ({"fail": "out of order"}, {}, "output"),
        ({}, {"tool": "none"}, "output"),
        ({"die": True}, {}, "crash"),
        ({}, {"server": "mute"}, "crash"),
        ({"answer": "{broken}"}, {}, "output"),
    ],
)
def test_a_server_in_trouble_is_a_failure(given, options, kind):
    outcome = answered(given, **options)
    assert (outcome.effects, outcome.failure.kind) == ((), kind)


# It has no library that would keep its stdout clean.
NOISY = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        print("not json", {"half": 1}, flush=True)
        told = {
            "initialize": {
                "protocolVersion": asked.get("params", {}).get("protocolVersion"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "noisy", "version": "1"},
            },
            "tools/list": {"tools": []},
            "tools/call": {"content": [{"type": "text", "text": '{"decision": "block", "reason": "no"}'}]},
        }[asked["method"]]
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told}), flush=True)
"""
ASKS = """
import sys
from snell.system.mcp_client import call_tool
from snell.system.deadline import Deadline
from snell.model.context import McpServer
print(call_tool(McpServer(sys.executable, (sys.argv[1],)), "check", {}, {}, Deadline(50)))
"""


def test_a_server_that_prints_other_things_is_read_past_and_stderr_stays_clean(tmp_path):
    """Asked by a process of its own, since here the test runner listens to what libraries log."""
    (tmp_path / "noisy.py").write_text(NOISY, encoding="utf-8")
    argv = [sys.executable, "-c", ASKS, str(tmp_path / "noisy.py")]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ('{"decision": "block", "reason": "no"}\n', "")


def test_a_call_can_be_cancelled():
    cancel = threading.Event()
    threading.Timer(1.0, cancel.set).start()
    outcome = outcome_of(McpTool("checker", "check", {"sleep": 60}), context=context(cancel=cancel), timeout=60.0)
    assert outcome.status == "cancelled"


def test_servers_and_hooks_are_read_from_settings():
    text = '[mcp_servers.memo]\ncommand = "memo"\nargs = ["--stdio"]\nenv = { A = "b" }\n'
    (value,) = parse_text(text, layer="user").values
    assert value.value == {"memo": {"command": "memo", "args": ("--stdio",), "env": {"A": "b"}}}
    assert messages_of(parse_text("[mcp_servers.memo]\nargs = []\n").problems) == [
        "snell.toml:1: `mcp_servers.memo` has no `command`; add it: the program"
    ]
    hook = hook_of(
        '[[hooks]]\nevent = "PreToolUse"\ntype = "mcp_tool"\nserver = "memo"\ntool = "t"\ninput = { a = "${cwd}" }\n'
    )
    assert hook.handler == McpTool("memo", "t", {"a": "${cwd}"})
