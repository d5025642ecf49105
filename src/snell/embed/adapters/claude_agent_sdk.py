"""
claude-agent-sdk: the hooks of a house as the library's callbacks.

    options = ClaudeAgentOptions(hooks=hooks(house))

The library passes on what Claude Code reports, so this is Claude Code as a client, without a process in between.
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
    """For `ClaudeAgentOptions(hooks=...)`: every event that the library can report, or those that are named."""
    sdk = library("claude_agent_sdk", "claude-agent-sdk")
    callback = callback_for(runtime)
    known = _names(library("claude_agent_sdk.types", "claude-agent-sdk").HookEvent)
    wanted = [name for name in known if name in CATALOGUE] if events is None else list(events)
    return {name: [sdk.HookMatcher(hooks=[callback], timeout=LONGEST_TIMEOUT)] for name in wanted}


def callback_for(runtime: Runtime) -> Callback:
    """One function for all events."""

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
    """What a program would have printed, as the library wants it."""
    text = reply.stdout.decode("utf-8", "replace").strip()
    if text.startswith("{"):
        output: Output = json.loads(text)
        return output
    reason = reply.stderr.decode("utf-8", "replace").strip()
    if reply.exit_code == 2:
        return _refusal(event, reason)
    said = text or reason
    return {"systemMessage": said} if said else {}


def _refusal(event: str, reason: str) -> Output:
    if event != "PreToolUse":
        return {"decision": "block", "reason": reason}
    specific = {"hookEventName": event, "permissionDecision": "deny", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": specific}


def _names(hint: Any) -> list[str]:
    """The names in a union of literals."""
    return [name for each in get_args(hint) for name in ([each] if isinstance(each, str) else _names(each))]
