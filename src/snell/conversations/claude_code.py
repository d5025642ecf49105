"""
Claude Code: one file per session, and one beside it for each sub-agent.

A result says who let the call run or refused it (`permissionDecision`); earlier versions do not have that field. What
hooks did is recorded as attachments, with the number of the call.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from snell.conversations.record import Conversation, rows_in, timestamp_of
from snell.model.events import as_table, as_tables, text_of

PLACES = ("{base}/projects/*/*.jsonl",)
_MARKERS = (b'"tool_use"', b'"tool_result"', b'"hook_', b'"promptId"', b'"server_tool_use"')
_FAILED_HOOKS = {
    "hook_cancelled": "the client ended the hook before it answered",
    "hook_non_blocking_error": "the client could not use the hook's answer",
    "hook_error_during_execution": "the client could not run the hook",
}
_REFUSED = ("PreToolUse:", "The user doesn't want to", "[Request interrupted", "Permission to use", "<tool_use_error>")
_SERVER = "the model's server runs this tool, not the client"


def files_of_session(path: Path) -> list[Path]:
    """Return the file of a session, and those of its sub-agents."""
    return [path, *sorted(path.with_suffix("").glob("subagents/**/agent-*.jsonl"))]


def read(path: Path) -> Iterator[Conversation]:
    found = Conversation(client="claude_code", session_id=path.stem, path=str(path))
    for file in files_of_session(path):
        agent = "" if file == path else file.stem.removeprefix("agent-")
        if agent:
            found.agents.add(agent)
        failures: dict[str, str] = {}
        for row in rows_in(found, file, *_MARKERS):
            if found.session_id.startswith("agent-"):  # earlier versions kept sub-agents beside their session
                found.session_id = str(row.get("sessionId") or found.session_id)
            _add_row(found, row, agent, failures)
        for call in found.calls:
            call.hook_failure = call.hook_failure or failures.get(call.number, "")
    yield found


def _add_row(found: Conversation, row: Mapping[str, Any], agent: str, failures: dict[str, str]) -> None:
    kind, at = row.get("type"), timestamp_of(row.get("timestamp"))
    found.version = str(row.get("version") or found.version)
    found.cwd = found.cwd or str(row.get("cwd") or "")
    content = as_table(row.get("message")).get("content")
    if kind == "assistant":
        for part in as_tables(content):
            if part.get("type") in ("tool_use", "server_tool_use"):
                side = agent or (str(row.get("agentId") or "sub-agent") if row.get("isSidechain") else "")
                call = found.call(str(part.get("id") or ""), str(part.get("name")), part.get("input"), at, side)
                call.unreported = _SERVER if part["type"] == "server_tool_use" else ""
    elif kind == "user":
        found.prompts += _is_prompt(row, content, agent)
        for part in as_tables(content):
            known = found.find(part.get("tool_use_id")) if part.get("type") == "tool_result" else None
            if known is not None:
                known.end(at, *_judge(row, part))
    elif kind == "attachment":
        _note_failed_hook(as_table(row.get("attachment")), failures)


def _is_prompt(row: Mapping[str, Any], content: object, agent: str) -> bool:
    return not agent and isinstance(content, str) and bool(row.get("promptId")) and not row.get("isMeta")


def _judge(row: Mapping[str, Any], part: Mapping[str, Any]) -> tuple[bool | None, str]:
    """Return whether a call with this result ran, and why not."""
    permission, text = as_table(row.get("permissionDecision")), text_of(part.get("content"))
    if permission.get("decision") == "reject" or row.get("toolDenialKind"):
        return False, f"the client refused it ({permission.get('source') or row.get('toolDenialKind')})"
    if permission.get("decision") == "accept" or not part.get("is_error") or text.startswith("Exit code"):
        return True, ""
    return False if text.startswith(_REFUSED) else None, ""


def _note_failed_hook(attachment: Mapping[str, Any], failures: dict[str, str]) -> None:
    """Note a hook of Snell that failed; where the client does not name the program it may be Snell's."""
    kind, command = str(attachment.get("type")), str(attachment.get("command") or "snell-hook")
    if kind not in _FAILED_HOOKS or attachment.get("hookEvent") != "PreToolUse" or "snell-hook" not in command:
        return
    code, said = attachment.get("exitCode"), str(attachment.get("stderr") or "").strip()
    more = [f"exit code {code}"] if code is not None else []
    more += [said.splitlines()[0][:120]] if said else []
    details = f" ({'; '.join(more)})" if more else ""
    failures[str(attachment.get("toolUseID"))] = f"{_FAILED_HOOKS[kind]}{details}"
