"""claude-agent-sdk, with a program on the other end of its control protocol that asks the callbacks."""

import asyncio
import json

import pytest

from snell import Deny, HookMatcher, Note, Rewrite, Runtime, Scope, judges

sdk = pytest.importorskip(
    "claude_agent_sdk", reason="claude-agent-sdk is not installed; `python3 dev.py adapters` brings it"
)

from snell.embed.adapters.claude_agent_sdk import hooks  # noqa: E402 - after it is known to be there


class ClaudeCode(sdk.Transport):
    """Speaks the control protocol: agrees to everything, then reports events to the callbacks it was told of."""

    def __init__(self, *events):
        self.events = list(events)
        self.answers = []
        self.hooks = {}
        self.is_done = asyncio.Event()
        self._news = asyncio.Queue()

    async def connect(self):
        pass

    async def write(self, data):
        message = json.loads(data)
        if message["type"] == "control_request":
            self.hooks = message["request"].get("hooks") or self.hooks
            ok = {"subtype": "success", "request_id": message["request_id"], "response": {}}
            await self._news.put({"type": "control_response", "response": ok})
            await self._ask()
        elif message["type"] == "control_response":
            self.answers.append(message["response"].get("response", message["response"]))
            await self._ask()

    async def _ask(self):
        if not self.events:
            self.is_done.set()
            return
        payload = self.events.pop(0)
        (matcher,) = self.hooks[payload["hook_event_name"]]
        request = {
            "subtype": "hook_callback",
            "callback_id": matcher["hookCallbackIds"][0],
            "input": payload,
            "tool_use_id": payload.get("tool_use_id"),
        }
        await self._news.put({"type": "control_request", "request_id": f"r{len(self.events)}", "request": request})

    async def read_messages(self):
        while (message := await self._news.get()) is not None:
            yield message

    async def close(self):
        await self._news.put(None)

    def is_ready(self):
        return True

    async def end_input(self):
        pass


def answers(runtime, *events):
    async def main():
        claude = ClaudeCode(*events)
        client = sdk.ClaudeSDKClient(sdk.ClaudeAgentOptions(hooks=hooks(runtime)), transport=claude)
        await client.connect()
        async with asyncio.timeout(30):
            await claude.is_done.wait()
        await client.disconnect()
        return claude.answers

    return asyncio.run(main())


def event(name, **fields):
    return {"session_id": "s1", "transcript_path": "", "cwd": "/", "hook_event_name": name, **fields}


def bash(name, command, **fields):
    return event(name, tool_name="Bash", tool_input={"command": command}, tool_use_id="t1", **fields)


def test_the_library_asks_the_hooks_and_gives_claude_code_their_answers():
    def guard(event):
        command = event.tool_input["command"]
        return {"rm": Deny("no"), "make": Rewrite(command="make -j2")}.get(command)

    def remind(event):
        return Note("run the tests")

    def more(event):
        return Deny("not yet")

    runtime = Runtime.embed(
        hooks={
            "PreToolUse": [HookMatcher("Bash", [guard])],
            "PostToolUse": [HookMatcher("Bash", [remind])],
            "Stop": [HookMatcher(None, [more])],
        }
    )
    given = [
        bash("PreToolUse", "rm"),
        bash("PreToolUse", "make"),
        bash("PreToolUse", "ls"),
        bash("PostToolUse", "ls", tool_response={"stdout": ""}),
        event("Stop", stop_hook_active=False),
    ]
    denied, rewritten, silent, noted, kept = answers(runtime, *given)
    assert denied["hookSpecificOutput"] == {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "no",
    }
    assert rewritten["hookSpecificOutput"]["updatedInput"] == {"command": "make -j2"}
    assert silent == {}
    assert noted["hookSpecificOutput"]["additionalContext"] == "run the tests"
    assert (kept["decision"], kept["reason"]) == ("block", "not yet")


def test_what_cannot_be_read_is_refused_where_a_guard_must_not_be_missed():
    @judges("PreToolUse")
    def guard():
        return None

    strange = bash("PreToolUse", "ls") | {"tool_name": 5}
    closed = Runtime.embed()
    closed.register(guard, scope=Scope.POLICY)
    (refused,) = answers(closed, strange)
    assert refused["hookSpecificOutput"]["permissionDecision"] == "deny"
    (told,) = answers(Runtime.embed(guard), strange)
    assert "hookSpecificOutput" not in told


def test_every_event_that_the_library_knows_has_its_callback():
    found = hooks(Runtime.embed())
    assert {"PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "PreCompact"} <= set(found)
    assert list(hooks(Runtime.embed(), ["Stop"])) == ["Stop"]


def test_a_hook_that_raises_counts_by_its_policy():
    def broken(event):
        raise ZeroDivisionError("by hand")

    said = []
    for on_failure in (None, "ask", "block"):
        runtime = Runtime.embed(hooks={"PreToolUse": [HookMatcher("Bash", [broken], on_failure=on_failure)]})
        (answer,) = answers(runtime, bash("PreToolUse", "ls"))
        said.append(answer.get("hookSpecificOutput", {}).get("permissionDecision"))
    assert said == [None, "ask", "deny"]


def test_a_coroutine_that_takes_too_long_counts_by_its_policy_and_others_are_heard():
    async def slow(event):
        await asyncio.sleep(60)

    async def judge(event):
        return Deny("not that")

    matchers = [HookMatcher("Bash", [slow], timeout=0.1), HookMatcher("Bash", [judge])]
    (answer,) = answers(Runtime.embed(hooks={"PreToolUse": matchers}), bash("PreToolUse", "ls"))
    assert answer["hookSpecificOutput"]["permissionDecisionReason"] == "not that"
