"""Events sent through the real `snell-hook`, and what their answers say."""

import json
from typing import Any

from tests.fork_server import run_snell
from tests.process.machine import Machine
from tests.waiting import wait_until


def answer(machine: Machine, event: str, env: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    """Return the answer to one event; plain text is `text`, and no answer is empty. The exit code is 0."""
    payload = {"hook_event_name": event, "session_id": "s", "cwd": str(machine.project), **fields}
    code, out, err = machine.hook(raw=json.dumps(payload).encode(), **(env or {}))
    assert (code, err) == (0, "")
    return json.loads(out) if out.startswith("{") else {"text": out} if out else {}


def call(machine: Machine, command: str = "ls", env: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    """Return the answer to a call of the shell."""
    given = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"t-{command}", **fields}
    return answer(machine, "PreToolUse", env, **given)


def specific(said: dict[str, Any]) -> dict[str, Any]:
    return dict(said.get("hookSpecificOutput", {}))


def context_in(said: dict[str, Any]) -> str:
    return str(said.get("text") or specific(said).get("additionalContext", ""))


def verdict_of(said: dict[str, Any]) -> str:
    return str(specific(said).get("permissionDecision", ""))


def record(machine: Machine) -> dict[str, Any]:
    """Return the record of the last decision, whose runs are written after the reply."""
    found: dict[str, Any] = {}

    def is_complete() -> bool:
        found.update(json.loads(machine.snell("why", "last", "--json")))
        return "rounds" in found

    wait_until(is_complete)
    return found


def problems(machine: Machine) -> list[dict[str, Any]]:
    """Return what is wrong with the settings."""
    _, out, _ = run_snell("settings", "--json", cwd=machine.project, env=machine.env(), given=b"")
    return list(json.loads(out)["problems"])
