"""
claude-agent-sdk: the hooks of a runtime as callbacks of the library.

    options = ClaudeAgentOptions(hooks=hooks(runtime))

The library forwards the events of Claude Code, so this is Claude Code as a client, without a process in between.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, get_args

from snell.clients import claude_code
from snell.embed.embedded_agent import library
from snell.model.catalogue import CATALOGUE
from snell.model.errors import SnellError
from snell.model.hooks import LONGEST_TIMEOUT
from snell.model.protocols import Reply
from snell.runtime.app import Runtime
from snell.system.json_output import json_bytes

Output = dict[str, Any]
Callback = Callable[[Mapping[str, Any], str | None, Any], Awaitable[Output]]


def hooks(runtime: Runtime, events: Iterable[str] | None = None) -> dict[str, list[Any]]:
    """Return hooks for `ClaudeAgentOptions(hooks=...)`: for all events of the library, or for those in `events`."""
    sdk = library("claude_agent_sdk", "claude-agent-sdk")
    callback = callback_for(runtime)
    known = _names(library("claude_agent_sdk.types", "claude-agent-sdk").HookEvent)
    wanted = [name for name in known if name in CATALOGUE] if events is None else list(events)
    return {name: [sdk.HookMatcher(hooks=[callback], timeout=LONGEST_TIMEOUT)] for name in wanted}


def callback_for(runtime: Runtime) -> Callback:
    async def snell(payload: Mapping[str, Any], _tool_use_id: str | None, _context: Any) -> Output:
        try:
            event = claude_code.decode(json_bytes(payload))
            reply = claude_code.encode(await runtime.decide_async(event))
        except SnellError as error:
            blocks = runtime.fails_closed(str(payload.get("cwd") or ""))
            reply = claude_code.encode_failure(str(payload.get("hook_event_name")), f"snell: {error}", blocks=blocks)
        return _output(reply, str(payload.get("hook_event_name")))

    return snell


def _output(reply: Reply, event: str) -> Output:
    """Convert the reply for a command hook into the output of a callback."""
    text = reply.stdout.decode("utf-8", "replace").strip()
    if text.startswith("{"):
        output: Output = json.loads(text)
        return output
    reason = reply.stderr.decode("utf-8", "replace").strip()
    if reply.exit_code == 2 and event == "PreToolUse":
        specific = {"hookEventName": event, "permissionDecision": "deny", "permissionDecisionReason": reason}
        return {"hookSpecificOutput": specific}
    if reply.exit_code == 2:
        return {"decision": "block", "reason": reason}
    message = text or reason
    return {"systemMessage": message} if message else {}


def _names(hint: Any) -> list[str]:
    """Return the names in a union of literals."""
    return [name for each in get_args(hint) for name in ([each] if isinstance(each, str) else _names(each))]
