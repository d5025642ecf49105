"""The plugins for clients without command hooks, run by Node.js, with a real `snell hook` behind them."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from snell.setup.config_formats import Programs, plugin_text
from snell.setup.file_changes import plan_change
from snell.setup.plan import Options, Site, find_install, plan

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
DRIVER = Path(__file__).parent / "bridge_driver.mjs"

# One hook for everything, written for Claude Code.
HOOK = """
import json, sys

event = json.load(sys.stdin)
name, call = event["hook_event_name"], event.get("tool_input", {})
command, prompt = call.get("command", ""), event.get("prompt", "")
if name == "PreToolUse" and command.startswith("rm"):
    sys.stderr.write("not here")
    sys.exit(2)
if name == "PreToolUse" and command.startswith("pip"):
    changed = {**call, "command": "uv " + command}
    print(json.dumps({"hookSpecificOutput": {"hookEventName": name, "updatedInput": changed}}))
if name == "UserPromptSubmit" and "password" in prompt:
    print(json.dumps({"decision": "block", "reason": "ask for something else"}))
if name == "UserPromptSubmit" and prompt == "hello":
    print(json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": "it rains"}}))
if name == "PostToolUse":
    output = json.loads(json.dumps(event["tool_response"]).replace("secret", "[hidden]"))
    print(json.dumps({"hookSpecificOutput": {"hookEventName": name, "updatedToolOutput": output}}))
if name == "Stop" and not event["stop_hook_active"]:
    print(json.dumps({"decision": "block", "reason": "run the tests"}))
"""
EVENTS = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop")


def played(kind: str, file: str, tmp_path: Path) -> dict[str, Any]:
    assert NODE
    home = tmp_path / "home"
    (home / "config").mkdir(parents=True)
    (home / "rules.py").write_text(HOOK, encoding="utf-8")
    command = json.dumps(shlex.join([sys.executable, "-I", str(home / "rules.py")]))
    settings = "".join(f'[[hooks]]\nevent = "{event}"\ncommand = {command}\npass_context = true\n' for event in EVENTS)
    (home / "config/snell.toml").write_text(settings, encoding="utf-8")
    # Node runs a TypeScript file only from version 22 on; the types of ours are few enough to be taken out here.
    text = plugin_text(file, [sys.executable, "-m", "snell", "hook"])
    plugin = tmp_path / "plugin.mjs"
    plugin.write_text(without_types(text) if file.endswith(".ts") else text, encoding="utf-8")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SNELL_HOME": str(home)}
    words = [NODE, str(DRIVER), kind, plugin.as_uri(), str(tmp_path)]
    done = subprocess.run(words, env=env, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def without_types(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.startswith("type Said")]
    text = "\n".join(lines)
    for annotation in (
        ": Promise<Said>",
        ": Buffer[]",
        ": Buffer",
        ": number | null",
        ": string[]",
        ": string",
        ": object",
    ):
        text = text.replace(annotation, "")
    return text.replace(": any", "").replace(": Said", "")


@needs_node
def test_opencode_does_what_the_hooks_say(tmp_path: Path) -> None:
    assert played("opencode", "opencode.js", tmp_path) == {
        "denied": "not here",
        "rewritten": {"command": "uv pip install x", "description": "d"},
        "silent": {"command": "ls", "description": "d"},
        "refusedPrompt": "ask for something else",
        "notedPrompt": ["hello", "it rains"],
        "output": "a [hidden]",
        "continued": ["run the tests"],
    }


@needs_node
def test_pi_does_what_the_hooks_say(tmp_path: Path) -> None:
    message = {"customType": "snell", "content": "it rains", "display": False}
    assert played("pi", "pi.ts", tmp_path) == {
        "denied": {"block": True, "reason": "not here"},
        "rewritten": {"command": "uv pip install x"},
        "silent": {"command": "ls"},
        "refusedPrompt": {"action": "handled"},
        "notedPrompt": [{"action": "continue"}, {"message": message}],
        "output": {"content": [{"type": "text", "text": "a [hidden]"}]},
        "continued": ["run the tests"],
    }


def test_a_bridge_names_the_command_that_it_was_given() -> None:
    assert 'const COMMAND = ["/opt/my tools/snell-hook"]' in plugin_text("pi.ts", ["/opt/my tools/snell-hook"])
    assert 'const COMMAND = ["snell-hook"]' in plugin_text("opencode.js")


CALLED = """
const { default: pi, Snell } = await import(process.argv[1])
const calls = {}
pi?.({ on: (name, run) => (calls[name] = run) })
const open = await Snell?.({ directory: "/tmp" })
const tried = async (run) => { try { return (await run())?.reason ?? "" } catch (error) { return error.message } }
const ctx = { cwd: "/tmp" }
const before = open?.["tool.execute.before"]
console.log(JSON.stringify([
  await tried(() => before ? before({ tool: "x" }, { args: {} }) : calls.tool_call({ toolName: "x", input: {} }, ctx)),
  await tried(() => open ? open.event({ event: { type: "session.idle", properties: {} } }) : calls.agent_end({}, ctx)),
]))
process.exit(0) // the time limit of a program that could not be started goes on
"""


@needs_node
@pytest.mark.parametrize("name", ["opencode", "pi"])
@pytest.mark.parametrize("program", ["", "kill -9 $$", "exit 3", "printf '{\"input\": '"])
def test_what_could_not_be_checked_is_refused_where_that_was_wished(tmp_path: Path, name: str, program: str) -> None:
    assert NODE
    shim = tmp_path / "snell-hook"
    if program:
        shim.write_text(f"#!/bin/sh\n{program}\n", encoding="utf-8")
        shim.chmod(0o755)
    said = []
    for options in (Options(), Options(fail_closed=True)):
        (file,) = plan(find_install(name), options, Site(tmp_path, tmp_path, Programs(str(shim), "/x/snell")))
        text = (plan_change(file).after or b"").decode()
        plugin = tmp_path / "plugin.mjs"
        plugin.write_text(without_types(text), encoding="utf-8")
        words = [NODE, "--input-type=module", "-e", CALLED, plugin.as_uri()]
        done = subprocess.run(words, capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr.decode()
        said.append([text.partition(":")[0] for text in json.loads(done.stdout)])
    assert said == [["", ""], ["denied, because Snell could not check it", ""]]
