"""Calls that no agent should send: 10 MB of arguments, lists where text belongs, bytes that are no text."""

import json
from typing import Any

from tests.process.machine import CALL, Machine

pytest_plugins = ("tests.process.machine_fixtures",)

LARGE = 10_000_000


def bad_call(**fields: Any) -> bytes:
    return json.dumps({**CALL, **fields}).encode()


WORDS = "word " * (LARGE // 5)
BINARY = b'{"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "%s"}}'
BAD_CALLS: dict[str, tuple[bytes, tuple[int, str]]] = {
    "10 MB for an unknown tool": (bad_call(tool_name="mcp__x__report", tool_input={"text": WORDS}), (0, "")),
    "10 MB after a deletion": (bad_call(tool_name="run_it", tool_input={"command": f"rm -rf / # {WORDS}"}), (0, "ask")),
    "a long list of keys": (bad_call(tool_name="mcp__x__press", tool_input={"keys": ["a"] * 100_000}), (0, "ask")),
    "10 MB of output": (bad_call(hook_event_name="PostToolUse", tool_response=[WORDS]), (0, "")),
    "a list as the command": (bad_call(tool_input={"command": ["rm", "-rf", "/"]}), (0, "deny")),
    "a list as an unknown tool's command": (
        bad_call(tool_name="run_it", tool_input={"command": ["rm", "-rf", "/"]}),
        (0, "deny"),
    ),
    "numbers as path and content": (bad_call(tool_name="Write", tool_input={"file_path": 7, "content": [1]}), (0, "")),
    "a list as the input": (bad_call(tool_input=["rm -rf /"]), (0, "deny")),
    "text as the input": (bad_call(tool_input="rm -rf /"), (0, "deny")),
    "no input": (bad_call(tool_input=None), (0, "deny")),
    "a list as the tool": (bad_call(tool_name=["Bash"]), (0, "ask")),
    "a list as the event": (bad_call(hook_event_name=["PreToolUse"]), (0, "")),
    "lists and objects as names": (bad_call(session_id=["s"], cwd=["/"], transcript_path={"a": 1}), (0, "")),
    "a list as the prompt": (bad_call(hook_event_name="UserPromptSubmit", prompt=["a", {"b": 1}]), (0, "")),
    "bytes that are no text": (BINARY % b"rm -rf / \xff\xfe\x80", (0, "deny")),
    "control characters": (BINARY % b"rm -rf / \x00\x01", (0, "deny")),
    "a program": (b"\x7fELF" + bytes(range(256)) * 40_000, (0, "")),
    "zeros": (bytes(LARGE), (0, "")),
}


def test_a_bad_call_is_decided_by_the_hook_program_and_the_socket_alike(machine: Machine) -> None:
    machine.hook()
    pid = machine.pid
    seen: dict[str, tuple[int, str]] = {}
    for name, (payload, _) in BAD_CALLS.items():
        code, out, err = machine.hook(raw=payload)
        reply = machine.send(raw=payload)
        assert reply, name
        assert (reply.exit_code, verdict_in(reply.stdout), reply.stderr.decode()) == (code, verdict_in(out), err), name
        assert ("Traceback" in err, "bug in Snell" in err) == (False, False), err
        seen[name] = (code, verdict_in(out))
    assert seen == {name: wanted for name, (_, wanted) in BAD_CALLS.items()}
    assert (machine.pid, (machine.home / "state" / "crashes").exists()) == (pid, False)


def verdict_in(reply: str | bytes) -> str:
    return json.loads(reply).get("hookSpecificOutput", {}).get("permissionDecision", "") if reply else ""
