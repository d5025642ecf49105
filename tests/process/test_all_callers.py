"""What an event brings along through `snell-hook` it brings along through a remote call and through MCP too."""

import json
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from tests.process.machine import HOOK, Machine
from tests.process.mcp_agent import McpAgent
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(not HOOK.exists(), reason="snell-hook is not beside this Python")

SLOW = """
packs = ["pack"]
[[hooks]]
event = "UserPromptSubmit"
async = true
command = "printf 'the build is red'"
"""
Ask = Callable[..., str]  # the event, its fields, the agent -> the text that the model gets


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    machine = Machine(tmp_path_factory.mktemp("m"), forks_daemon=True)
    machine.write("snell.toml", SLOW)
    machine.hook()
    yield machine
    machine.stop()


def through_hook(machine: Machine, event: str, fields: dict[str, Any], agent: str = "", **env: str) -> str:
    code, out, err = machine.hook({"hook_event_name": event, **fields}, AGENT_ID=agent, **env)
    assert (code, err) == (0, "")
    return _text(json.loads(out) if out else {})


def through_socket(machine: Machine, event: str, fields: dict[str, Any], agent: str = "", **env: str) -> str:
    args = {"transcript_path": "/t.jsonl", "cwd": str(machine.project), **fields}
    call = {"cmd": f"hooks.{event[0].lower()}{event[1:]}", "args": args, "env": {"AGENT_ID": agent, **env}}
    (answer,) = machine.ask(json.dumps(call))
    assert answer["ok"], answer
    return _text(answer["data"])


def through_mcp(machine: Machine, event: str, fields: dict[str, Any], agent: str = "", **_env: str) -> str:
    payload = {name: value for name, value in fields.items() if name != "session_id"}
    asked = {"event": event, "session_id": fields["session_id"], "payload": payload, "agent_id": agent or None}
    return _text(McpAgent(machine, machine.project).call("ask_hooks", **asked))


def _text(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


every_caller = pytest.mark.parametrize(
    "ask", [through_hook, through_socket, through_mcp], ids=lambda each: each.__name__
)


@every_caller
def test_a_coordinator_gets_the_signals_of_its_agents(machine: Machine, ask: Ask):
    boss, worker = f"boss-{ask.__name__}", f"worker-{ask.__name__}"
    registered = [{"id": boss}, {"id": worker, "parent": boss}]
    machine.ask(*(json.dumps({"cmd": "db.agents.register", "args": each}) for each in registered))
    waits = {"session_id": worker, "message": "m", "notification_type": "permission_prompt"}
    ask(machine, "Notification", waits, worker, AGENT_PARENT=boss)
    prompt = {"session_id": boss, "prompt": "how is it going"}
    assert f"Your agents:\n- {worker}: attention" in ask(machine, "UserPromptSubmit", prompt, boss)
    assert "Your agents" not in ask(machine, "UserPromptSubmit", {**prompt, "prompt": "and now"}, boss)


@every_caller
def test_a_note_of_a_slow_hook_comes_with_a_later_event(machine: Machine, ask: Ask):
    session = {"session_id": f"late-{ask.__name__}"}
    assert "the build is red" not in ask(machine, "UserPromptSubmit", {**session, "prompt": "first"})
    numbers = count()

    def next_call() -> dict[str, Any]:
        return {**session, "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": f"t{next(numbers)}"}

    wait_until(lambda: "the build is red" in ask(machine, "PreToolUse", next_call()))


def test_a_client_without_hooks_can_ask_whether_a_tool_call_may_run(machine: Machine):
    agent, call = McpAgent(machine, machine.project), {"tool_name": "Bash", "tool_input": {"command": "bad"}}
    answer = agent.call("ask_hooks", event="PreToolUse", session_id="s", payload=call)
    assert (answer["allow"], answer["reason"]) == (False, "not that")
    assert agent.call("why", id=answer["decisionId"])["verdict"] == "deny"
