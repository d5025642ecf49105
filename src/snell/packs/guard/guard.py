"""
Judge what a call would do, before it does it.

Why      An agent that is confused, hurried or misled can delete, leak or take over with one line.
What     Commands are read as a shell would read them, unwrapped and followed; every rule looks at what they would do.
         Files that hold secrets, and Snell's own, are guarded from every tool.
Instead  Each answer says what to do instead; `[pack.guard.rules] NAME = "ask"` or `"off"` switches one rule.
"""

from __future__ import annotations

import os

from snell.model.command_folders import folders_of
from snell.model.command_lines import other_readings
from snell.model.context import Context
from snell.model.effects import Ask, Deny, Tell
from snell.model.events import Event
from snell.model.tools import ALL_KINDS
from snell.packs.guard.edited_text import add_text_from_disk
from snell.packs.guard.judge import ALLOW, Judgement, merge_judgements, strictest_verdict
from snell.packs.guard.not_shell_text import drop_misread, is_shell_tool
from snell.packs.guard.one_time_allow import record_denied, use_allowance
from snell.packs.guard.presets import apply_presets
from snell.packs.guard.rule import DENY, Finding
from snell.packs.guard.secret_fingerprints import record_values
from snell.packs.guard.session_state import (
    ask_after_secret,
    check_read_of_copy,
    check_send_after_secret,
    check_sent_value,
    check_value_in_tool,
    known_files,
    record_files,
    record_secret,
    secrets_read,
)
from snell.packs.guard.snell_paths import find_snell_paths
from snell.packs.guard.tool_access import has_command_line, judge_call, read_path, sends_data, written_text
from snell.packs.guard.verdict_cache import cached_judgement
from snell.sdk.decorators import informs, judges
from snell.sdk.subjects import ShellCall, ToolCall

MOST_WAITING = 64
_waiting: dict[tuple[str, ...], Judgement] = {}  # judged before the call, to be remembered after it


@judges("PreToolUse", kind="shell", on_failure="ask")
def command(call: ShellCall, event: Event, context: Context) -> Deny | Ask | Tell | None:
    """Stop commands that destroy, leak or take over."""
    if not call.command or event.kind == "mcp":  # `access` judges all of what a tool of an MCP server is told
        return None
    folders = _folders(event, context)
    judgement = _judged(call.command, event, context, folders[0])
    _keep_waiting(_key(call.command, event, folders[0]), judgement)
    lines = (call.command, *other_readings(event.tool_name or event.tool, event.payload.get("tool_input")))
    if more := [(line, folder) for folder in folders for line in lines][1:]:
        judgement = merge_judgements([judgement, *(_judged(line, event, context, folder) for line, folder in more)])
    if not is_shell_tool(event.tool, event.tool_name):
        judgement = drop_misread(judgement)
    judgement = _with(
        judgement,
        check_sent_value(context.marks, event.session_id, call.command, judgement.steps),
        check_send_after_secret(context.marks, event.session_id, judgement.steps),
    )
    answer = _answer(judgement, context)
    if not isinstance(answer, Deny):
        return answer
    if use_allowance(context.state, event.session_id, call.command):
        return Tell(f"guard: a person let this command pass once; {answer.because}")
    record_denied(context.marks, event.session_id, call.command, answer.because)
    return answer


@judges("PreToolUse", kind=tuple(kind for kind in ALL_KINDS if kind != "shell"), on_failure="ask")
def access(call: ToolCall, event: Event, context: Context) -> Deny | Ask | Tell | None:
    """Guard secrets and Snell's own files from every tool, and judge a command line in any input."""
    if call.kind in ("agent", "skill", "other") and not has_command_line(call):
        return None
    judgement = judge_call(call, *_workspace(event, context), find_snell_paths(context))
    tells = sends_data(call)
    value = check_value_in_tool(context.marks, event.session_id, call, tells=tells)
    sent = ask_after_secret(context.marks, event.session_id, call.tool) if tells else None
    copy = check_read_of_copy(context.marks, event.session_id, call, read_path(call, *_workspace(event, context)[:2]))
    return _answer(_with(judgement, value, sent, copy), context)


# Not a watcher: the next call of the session may come at once, and must find what this one leaves.
@informs("PostToolUse", kind=("shell", "write", "edit", "mcp"))
def remember(call: ToolCall, event: Event, context: Context) -> None:
    """Remember what was written and which secrets were read, for later calls of the session."""
    if not isinstance(call, ShellCall):
        cwd, home, _project = _workspace(event, context)
        record_files(context.marks, event.session_id, add_text_from_disk(written_text(call, cwd, home)))
    elif call.command:
        folder = _folders(event, context)[0]
        kept = _waiting.pop(_key(call.command, event, folder), None)
        judgement = kept or _judged(call.command, event, context, folder)
        record_files(context.marks, event.session_id, add_text_from_disk(judgement.files, judgement.steps))
        _keep_read(judgement, call, event, context)


@informs("PostToolUse", kind=("read", "search", "mcp"))
def remember_read(call: ToolCall, event: Event, context: Context) -> None:
    """Remember that a secret was read by the client's own tool."""
    _keep_read(judge_call(call, *_workspace(event, context), find_snell_paths(context)), call, event, context)


def _keep_read(judgement: Judgement, call: ToolCall, event: Event, context: Context) -> None:
    names = secrets_read(judgement)
    for name in names:
        record_secret(context.marks, event.session_id, name)
    if names:
        record_values(context.marks, event.session_id, call.response)


def _keep_waiting(key: tuple[str, ...], judgement: Judgement) -> None:
    _waiting[key] = judgement
    if len(_waiting) > MOST_WAITING:
        _waiting.pop(next(iter(_waiting)), None)


def _with(judgement: Judgement, *more: Finding | None) -> Judgement:
    added = tuple(finding for finding in more if finding is not None)
    if not added:
        return judgement
    findings = (*judgement.findings, *added)
    return Judgement(strictest_verdict(findings), findings, judgement.steps)


def _judged(line: str, event: Event, context: Context, folder: str) -> Judgement:
    """The line in this folder; where no project is known, the event's folder stays the project."""
    files = known_files(context.marks, event.session_id)
    cwd, home, project = _workspace(event, context)
    return cached_judgement(
        line, folder, home, project or (cwd if folder != cwd else ""), files, find_snell_paths(context)
    )


def _folders(event: Event, context: Context) -> tuple[str, ...]:
    """Every folder in which the command may run."""
    cwd, home, _project = _workspace(event, context)
    return folders_of(event.payload.get("tool_input"), cwd, home, event.client, event.tool)


def _key(line: str, event: Event, folder: str) -> tuple[str, ...]:
    return event.session_id, folder, line


def _workspace(event: Event, context: Context) -> tuple[str, str, str]:
    cwd = event.cwd or context.project_dir or "/"
    return cwd, context.env.get("HOME") or os.path.expanduser("~"), context.project_dir


def _answer(judgement: Judgement, context: Context) -> Deny | Ask | Tell | None:
    judgement, observed = apply_presets(judgement, context.options)
    if judgement.verdict == ALLOW:
        return Tell(f"guard observed: {_reason(observed)}") if observed else None
    reason = _reason(judgement.findings)
    instead = next((finding.instead for finding in judgement.findings if finding.verdict == judgement.verdict), "")
    if judgement.verdict == DENY:
        return Deny(reason, instead)
    return Ask(f"{reason}; instead: {instead}" if instead else reason)


def _reason(findings: tuple[Finding, ...]) -> str:
    return "; ".join(dict.fromkeys(f"{finding.rule}: {finding.why}" for finding in findings[:3]))
