"""
Judge what a tool call would do, before it runs.

Why      An agent that is confused, hurried or misled can destroy or leak data with one command.
What     Commands are parsed as a shell would parse them and followed step by step; rules judge what each step would do.
         Files that hold secrets, and Snell's own files, are guarded from every tool.
Instead  Each reason says what to do instead; `[pack.guard.rules] NAME = "ask"` or `"off"` sets the level of one rule.
"""

import os
from collections.abc import Iterable
from functools import partial

from msgspec.structs import replace

from snell.model.call_contents import with_known_keys
from snell.model.command_folders import NO_FOLDER_KEYS, folders_of
from snell.model.command_lines import PLAIN_SHELLS, other_readings
from snell.model.context import Context
from snell.model.effects import Ask, Deny, Remark, Tell
from snell.model.events import Event
from snell.model.tool_names import is_powershell
from snell.model.tools import ALL_KINDS
from snell.packs.guard.edited_text import add_text_from_disk
from snell.packs.guard.judge import ALLOW, Judgement, merge_judgements, strictest_verdict
from snell.packs.guard.not_shell_text import drop_misread, is_shell_tool
from snell.packs.guard.one_time_allow import record_denied, use_allowance
from snell.packs.guard.path_classes import Workspace, effective_project
from snell.packs.guard.presets import apply_presets
from snell.packs.guard.rule import DENY, Finding
from snell.packs.guard.rules import CHANGES
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
from snell.packs.guard.shell.shell_state import HERE
from snell.packs.guard.snell_paths import find_snell_paths
from snell.packs.guard.tool_access import (
    has_command_line,
    is_understood,
    judge_call,
    only_reads,
    read_path,
    sends_data,
    written_text,
)
from snell.packs.guard.verdict_cache import cached_judgement
from snell.sdk.decorators import informs, judges
from snell.sdk.subjects import ShellCall, ToolCall
from snell.system.mcp_tool_schemas import annotations_of, learned_tool

MOST_PENDING = 64
# Judged before the call, to be recorded after it, with the contents of the files that it writes.
_pending: dict[tuple[str, ...], tuple[Judgement, dict[str, str]]] = {}


@judges("PreToolUse", kind="shell", on_failure="ask")
def command(call: ShellCall, event: Event, context: Context) -> Deny | Ask | Tell | Remark | None:
    """Stop commands that destroy, leak or take over."""
    if not call.command or event.kind == "mcp":  # `access` judges the complete input of an MCP tool
        return None
    workspaces = _workspaces(event, context)
    judgement = _judge(call.command, event, context, workspaces[0])
    written = (path for step in judgement.steps if step.where == HERE for path in (*step.writes, *step.appends))
    _keep(_key(call.command, event, workspaces[0]), judgement, written, workspaces[0])
    lines = _lines(call.command, event)
    if len(workspaces) > 1 or len(lines) > 1:
        more = [(line, workspace) for workspace in workspaces for line in lines][1:]
        judgement = merge_judgements([judgement, *(_judge(line, event, context, each) for line, each in more)])
    if not is_shell_tool(event.tool, event.tool_name):
        judgement = drop_misread(judgement)
    judgement = _add_findings(
        judgement,
        check_sent_value(context.marks, event.session_id, call.command, judgement.steps),
        check_send_after_secret(context.marks, event.session_id, judgement.steps),
    )
    answer = _answer(judgement, context)
    if not isinstance(answer, Deny):
        return answer
    if use_allowance(context.state, event.session_id, call.command):
        return Tell(f"guard: the user allowed this command once; {answer.because}")
    record_denied(context.marks, event.session_id, call.command, answer.because)
    return answer


@judges("PreToolUse", kind=tuple(kind for kind in ALL_KINDS if kind != "shell"), on_failure="ask")
def access(call: ToolCall, event: Event, context: Context) -> Deny | Ask | Tell | Remark | None:
    """Guard secrets and Snell's own files from every tool, and judge a command line in any input."""
    if call.kind in ("agent", "skill") and not has_command_line(call):
        return None
    workspace = _workspace(event, context)
    call = _with_schema(call, event, context)
    sends = sends_data(call)
    if call.kind in ("write", "edit"):
        _keep(_key("", event, workspace), Judgement(), written_text(call, workspace), workspace)
    judgement = _add_findings(
        judge_call(call, workspace),
        check_value_in_tool(context.marks, event.session_id, call, sends=sends),
        ask_after_secret(context.marks, event.session_id, call.tool) if sends else None,
        check_read_of_copy(context.marks, event.session_id, call, read_path(call, workspace)),
    )
    if not judgement.findings and call.kind in ("mcp", "other"):
        return _check_unknown(call, event, context)
    return _answer(judgement, context)


def _with_schema(call: ToolCall, event: Event, context: Context) -> ToolCall:
    """Return the call under keys that the guard knows, where the schema of an MCP tool says what a key is for."""
    known = learned_tool(context.state, event.client, context.project_dir, call.tool) if call.kind == "mcp" else None
    return replace(call, input=with_known_keys(call.input, known.schema)) if known and known.schema else call


def _check_unknown(call: ToolCall, event: Event, context: Context) -> Ask | Remark | None:
    """Say that a call was not understood: nothing in its input is recognised, and it may do more than read."""
    hints = annotations_of(event, context.state, context.project_dir) or {}
    if not call.input or hints.get("readOnlyHint") is True or only_reads(call.tool) or is_understood(call):
        return None
    text = f"not understood by the guard: nothing in the input of `{call.tool}` says what it does"
    return Ask(text) if context.options.get("unknown_tools") == "ask" else Remark(text)


# Not a watcher: the next call of the session may come at once and needs what this one records.
@informs("PostToolUse", "PostToolUseFailure", kind=("shell", "write", "edit", "mcp"))
def remember(call: ToolCall, event: Event, context: Context) -> None:
    """Remember what was written and which secrets were read, for later calls of the session."""
    workspace = _workspaces(event, context)[0]
    line = call.command if isinstance(call, ShellCall) else ""
    judgement, before = _pending.pop(_key(line, event, workspace), (None, {}))
    if before:
        CHANGES.record(context.marks, event.session_id, before)
    if event.name != "PostToolUse":
        return  # a failed call may have changed files, but not have written all that it names
    if not isinstance(call, ShellCall):
        record_files(context.marks, event.session_id, add_text_from_disk(written_text(call, workspace)))
    elif line:
        judgement = judgement or _judge(line, event, context, workspace)
        record_files(context.marks, event.session_id, add_text_from_disk(judgement.files, judgement.steps))
        _record_secrets(judgement, call, event, context)


@informs("PostToolUse", kind=("read", "search", "mcp"))
def remember_read(call: ToolCall, event: Event, context: Context) -> None:
    """Remember that a secret was read by the client's own tool."""
    _record_secrets(judge_call(call, _workspace(event, context)), call, event, context)


def _record_secrets(judgement: Judgement, call: ToolCall, event: Event, context: Context) -> None:
    names = secrets_read(judgement)
    for name in names:
        record_secret(context.marks, event.session_id, name)
    if names:
        record_values(context.marks, event.session_id, call.response)


def _add_findings(judgement: Judgement, *more: Finding | None) -> Judgement:
    added = tuple(filter(None, more))
    if not added:
        return judgement
    findings = (*judgement.findings, *added)
    return Judgement(strictest_verdict(findings), findings, judgement.steps, unread=judgement.unread)


def _judge(line: str, event: Event, context: Context, workspace: Workspace) -> Judgement:
    files = known_files(context.marks, event.session_id)
    return cached_judgement(line, workspace, files, is_powershell=is_powershell(event.tool_name or event.tool))


def _workspace(event: Event, context: Context) -> Workspace:
    cwd = event.cwd or context.project_dir or "/"
    home = context.env.get("HOME") or os.path.expanduser("~")
    project, paths = effective_project(cwd, home, context.project_dir), find_snell_paths(context)
    return Workspace(cwd, home, project, paths, partial(context.marks.get, f"session:{event.session_id}"))


def _workspaces(event: Event, context: Context) -> list[Workspace]:
    """Return a workspace for every folder in which the command may run; the project stays the event's."""
    start = _workspace(event, context)
    if event.tool_input.keys() <= NO_FOLDER_KEYS:  # nearly every call
        return [start]
    folders = folders_of(event.payload.get("tool_input"), start.cwd, start.home, event.client, event.tool)
    return [start.in_folder(folder) for folder in folders]


def _lines(line: str, event: Event) -> tuple[str, ...]:
    """Return the command line, and the other ways to read the input of a tool that is not a plain shell."""
    tool = event.tool_name or event.tool
    if tool in PLAIN_SHELLS and event.tool_input.get("command") == line:
        return (line,)
    return (line, *other_readings(tool, event.payload.get("tool_input")))


def _key(line: str, event: Event, workspace: Workspace) -> tuple[str, ...]:
    return event.session_id, workspace.cwd, line or event.tool_use_id


def _keep(key: tuple[str, ...], judgement: Judgement, written: Iterable[str], workspace: Workspace) -> None:
    _pending[key] = judgement, CHANGES.contents_of(written, workspace) if CHANGES else {}
    if len(_pending) > MOST_PENDING:
        _pending.pop(next(iter(_pending)), None)


def _answer(judgement: Judgement, context: Context) -> Deny | Ask | Tell | Remark | None:
    unread = "; ".join(judgement.unread[:3])
    judgement, observed = apply_presets(judgement, context.options)
    if judgement.verdict == ALLOW:
        if observed:
            return Tell(f"guard observed: {_reason(observed)}")
        return Remark(unread) if unread else None
    reason = "; ".join(filter(None, (_reason(judgement.findings), unread)))
    instead = next((finding.instead for finding in judgement.findings if finding.verdict == judgement.verdict), "")
    if judgement.verdict == DENY:
        return Deny(reason, instead)
    return Ask(f"{reason}; instead: {instead}" if instead else reason)


def _reason(findings: tuple[Finding, ...]) -> str:
    return "; ".join(dict.fromkeys(f"{finding.rule}: {finding.why}" for finding in findings[:3]))
