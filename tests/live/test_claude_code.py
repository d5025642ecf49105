"""What only the first of the clients is asked: every kind of handler, the guard, and late refusals."""

import json
import os
import sys
from base64 import b64encode
from pathlib import Path

from tests.live.drivers import DRIVERS
from tests.live.wires import Said
from tests.loopback import Answer, serving
from tests.model_server import Line
from tests.model_server import model as hook_model

CLAUDE = DRIVERS[0]
CHECKER = Path(__file__).parents[1] / "mcp_checker.py"
HANDLERS = ("command", "webhook", "prompt", "agent", "mcp_tool")

SETTINGS = """
[model]
api = "anthropic"
url = "{model}"
name = "scripted"
in_batch = true

[mcp_servers.checker]
command = "{python}"
args = ["{checker}"]

[[hooks]]
name = "by-command"
event = "PreToolUse"
matcher = "Bash"
if = "Bash(touch command.txt)"
[hooks.command]
command = "echo REFUSED-BY-COMMAND >&2; exit 2"

[[hooks]]
name = "by-webhook"
event = "PreToolUse"
matcher = "Bash"
if = "Bash(touch webhook.txt)"
[hooks.webhook]
url = "{webhook}/check"

[[hooks]]
name = "by-prompt"
event = "PreToolUse"
matcher = "Bash"
if = "Bash(touch prompt.txt)"
[hooks.prompt]
prompt = "ASKED-BY-PROMPT $ARGUMENTS"
continue_on_block = true

[[hooks]]
name = "by-agent"
event = "PreToolUse"
matcher = "Bash"
if = "Bash(touch agent.txt)"
[hooks.agent]
prompt = "ASKED-BY-AGENT $ARGUMENTS"

[[hooks]]
name = "by-mcp-tool"
event = "PreToolUse"
matcher = "Bash"
if = "Bash(touch mcp_tool.txt)"
[hooks.mcp_tool]
server = "checker"
tool = "check"
input = {{ answer = '{refusal}' }}
"""
REWAKE = """
[[hooks]]
name = "late"
event = "PostToolUse"
async_rewake = true
[hooks.command]
command = "sleep 0.5; echo REFUSED-LATE >&2; exit 2"
"""
PYTHON_HOOK = """
from snell import Deny, judges

@judges("PreToolUse", kind="shell")
def by_python(call):
    return Deny("REFUSED-BY-PYTHON") if call.command == "touch python.txt" else None
"""


def test_a_hook_of_every_kind_refuses_its_command_and_no_other(user, claude):
    refusal = Answer(json.dumps(_refusal("REFUSED-BY-WEBHOOK")))
    with hook_model(_verdict) as judge, serving(refusal) as board:
        user.configure(
            SETTINGS.format(
                model=judge.url,
                webhook=board.url,
                python=sys.executable,
                checker=CHECKER,
                refusal=json.dumps(_refusal("REFUSED-BY-MCP_TOOL")),
            ),
            PYTHON_HOOK,
        )
        kinds = (*HANDLERS, "python")
        shown = claude(*(f"touch {kind}.txt" for kind in kinds), "touch free.txt")
    assert [kind for kind in kinds if f"REFUSED-BY-{kind.upper()}" not in shown] == []
    assert [path.name for path in user.project.glob("*.txt")] == ["free.txt"]


def test_the_guard_stops_a_hidden_deletion_and_lets_what_looks_like_one_run(user, claude):
    user.write("home/documents/letter.txt", "dear")
    hidden = b64encode(b"rm -rf ~/").decode()
    harmless = b64encode(b"hello").decode()
    claude(
        f"echo {hidden} | base64 -d | sh",
        "r=r; m=m; $r$m -rf ~/",
        f"echo {harmless} | base64 -d > hello.txt",
        "echo 'rm -rf ~/' > advice.txt",
    )
    assert (user.home / "documents/letter.txt").read_text(encoding="utf-8") == "dear"
    assert (user.project / "hello.txt").read_text(encoding="utf-8") == "hello"
    assert (user.project / "advice.txt").read_text(encoding="utf-8") == "rm -rf ~/\n"


def test_a_refusal_that_comes_late_reaches_the_agent(user, claude):
    user.configure(REWAKE)
    user.snell("setup", "claude-code", "--yes")
    assert "REFUSED-LATE" in claude("echo harmless")


def test_a_plugin_folder_works_by_itself(asked_for, user, model, client_folder):
    folder = client_folder(next(each for each in DRIVERS if each.client == asked_for("claude-code")))
    user.configure(REWAKE, PYTHON_HOOK)
    user.snell("setup", "claude-code", "--plugin", "plug")
    env = CLAUDE.prepare(user, model.url)
    path = os.pathsep.join([os.path.dirname(sys.executable), user.env()["PATH"]])
    model.begin([Said("Working.", (CLAUDE.shell(command),)) for command in ("touch python.txt", "touch free.txt")])
    words = [*CLAUDE.command(folder, user, "Please work."), "--plugin-dir", str(user.project / "plug")]
    ran = user.run(words, {**env, "PATH": path})
    assert "REFUSED-BY-PYTHON" in model.shown, ran
    assert "REFUSED-LATE" in model.shown, ran
    assert [path.name for path in user.project.glob("*.txt")] == ["free.txt"]


def _verdict(asked: dict) -> Line:
    kind = "AGENT" if "ASKED-BY-AGENT" in json.dumps(asked) else "PROMPT"
    return Line(json.dumps({"ok": False, "reason": f"REFUSED-BY-{kind}"}))


def _refusal(reason: str) -> dict:
    decision = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": decision}
