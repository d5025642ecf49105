"""Emulate Cursor, as its own hook module (SDK 1.0.32) calls hooks and reads their answers."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from snell.clients.emulation.base import Emulation, crash_outcome, edits_of, plain_text, refusal_of, result_text
from snell.clients.emulation.patches import edits_in_patch
from snell.clients.protocol.client_file import read_client
from snell.clients.protocol.messages import to_text
from snell.clients.protocol.tool_inputs import ALL_FILES
from snell.model.decision import Failure, Outcome
from snell.model.effects import Deny
from snell.model.events import Event, Payload, text_in
from snell.model.hooks import Hook
from snell.model.protocols import ProgramOutput
from snell.model.tools import mcp_parts
from snell.system.files import text_or_nothing

VERSION = "3.12.17"  # the emulated version: a hook may require a minimum
LONGEST_FILE = 1024 * 1024

# Events at which an invalid answer blocks.
_PERMISSION = frozenset({"preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "subagentStart"})
_LOOPING = frozenset({"stop", "subagentStop"})
_VERDICT = ("permission", "user_message", "agent_message")
# The fields of an answer that Cursor reads; at every other event it reads none.
_READ: Mapping[str, tuple[str, ...]] = {
    "preToolUse": (*_VERDICT, "updated_input", "additional_context"),
    "beforeShellExecution": _VERDICT,
    "beforeMCPExecution": _VERDICT,
    "beforeReadFile": ("permission", "user_message"),
    "subagentStart": ("permission", "user_message"),
    "postToolUse": ("additional_context", "updated_mcp_tool_output"),
    "postToolUseFailure": ("additional_context",),
    "beforeSubmitPrompt": ("continue", "user_message", "additional_context"),
    "sessionStart": ("additional_context", "env"),
    "stop": ("followup_message",),
    "subagentStop": ("followup_message",),
}
# Claude's fields, which Cursor ignores: a program that answers with them means them.
_CLAUDES = ("decision", "reason", "hookSpecificOutput")


class Cursor(Emulation):
    table = read_client("cursor").table
    also: Mapping[str, str] = {"Edit": "Write", "MultiEdit": "Write", "NotebookEdit": "Write"}

    def payloads_for(self, event: Event, project: str) -> Sequence[Payload]:
        about = _ABOUT.get(self.native)
        return [{**self._common(event, project), **each} for each in about(self, event)] if about else []

    def _common(self, event: Event, project: str) -> Payload:
        turn = (text_in(event.payload, key) for key in ("generation_id", "prompt_id", "turn_id"))
        return {
            "conversation_id": event.session_id,
            "generation_id": next(filter(None, turn), event.session_id),
            "model": text_in(event.payload, "model"),
            "session_id": event.session_id,
            "hook_event_name": self.native,
            "cursor_version": VERSION,
            "workspace_roots": [project or event.cwd],
            "user_email": None,
            "transcript_path": event.transcript_path or None,
        }

    def match_values(self, event: Event, given: Payload) -> Sequence[str]:
        name = text_in(given, "tool_name")
        by_event = {
            "beforeShellExecution": text_in(given, "command"),
            "afterShellExecution": text_in(given, "command"),
            "beforeMCPExecution": f"MCP:{name}",
            "afterMCPExecution": f"MCP:{name}",
            "beforeReadFile": "Read",
            "afterFileEdit": "Write",
            "beforeSubmitPrompt": "UserPromptSubmit",
            "stop": "Stop",
            "afterAgentResponse": "AgentResponse",
            "subagentStart": text_in(given, "subagent_type"),
            "subagentStop": text_in(given, "subagent_type"),
        }
        found = by_event.get(self.native, name)
        return (found,) if found else ()

    def variables(self, event: Event, project: str) -> dict[str, str]:
        return {
            "CURSOR_PROJECT_DIR": project or event.cwd,
            "CURSOR_VERSION": VERSION,
            "CURSOR_TRANSCRIPT_PATH": event.transcript_path,
        }

    def folder(self, hook: Hook) -> str:
        """Return the folder of the file for a user's hooks, and the project's root for a project's hooks."""
        beside = os.path.dirname(hook.source.file)
        return {"cursor:user": beside, "cursor:project": os.path.dirname(beside)}.get(hook.source.layer, "")

    def answer(self, event: Event, given: Payload, said: ProgramOutput) -> Outcome:
        is_strict = self.native in _PERMISSION
        if said.exit_code == 2:
            if is_strict or self.native == "beforeSubmitPrompt":
                return Outcome((refusal_of(said, ("agent_message", "user_message"), stdout_first=True),))
            return Outcome(remarks=(f"exit code 2 has no effect in {self.title} at {self.native}",))
        if said.exit_code != 0:
            return crash_outcome(said)
        if not said.stdout.strip():
            return Outcome()
        if self.native not in _READ:
            return Outcome(remarks=(f"{self.title} reads no answer at {self.native}",))
        not_json = Outcome(failure=Failure("output", "the answer is not JSON"))
        outcome = self.outcome_of_text(event, said.stdout, not_json)
        if self.native in _LOOPING and outcome.effects:
            _count(event, given["loop_count"] + 1)
        if outcome.failure is None or not is_strict:
            return outcome
        return replace(outcome, effects=(Deny(f"{self.title} refuses a call if the answer of such a hook is invalid"),))

    def in_claude_form(self, event: Event, answer: Payload) -> Payload:
        read = {key: answer[key] for key in (*_READ[self.native], *_CLAUDES) if answer.get(key) is not None}
        if self.native == "beforeSubmitPrompt" and read.pop("continue", True) is not True:
            read |= {"decision": "deny", "reason": text_in(answer, "user_message") or "the hook blocks this prompt"}
        if "updated_input" in read:
            changed = self.claude_input(event, read.pop("updated_input"), is_complete=False)
            read |= self.refuse_change() if changed is None else {"updated_input": changed}
        return read


def _tool(emulation: Cursor, event: Event) -> list[Payload]:
    call = emulation.call(event)
    return [{"tool_name": call.name, "tool_input": call.input, "tool_use_id": event.tool_use_id, "cwd": event.cwd}]


def _tool_done(emulation: Cursor, event: Event) -> list[Payload]:
    response = event.tool_response
    if event.kind == "shell":
        response = {"output": plain_text(response), "exitCode": _exit_code(event)}
    return [{**_tool(emulation, event)[0], "tool_output": to_text(response), "duration": _duration(event)}]


def _mcp(event: Event) -> Payload:
    return {"tool_name": mcp_parts(event.tool)[1], "tool_input": to_text(event.tool_input)}


def _read(_emulation: Cursor, event: Event) -> list[Payload]:
    return [
        {"file_path": path, "content": text_or_nothing(Path(path), LONGEST_FILE), "attachments": []}
        for path in _files(event)
    ]


def _file_edits(_emulation: Cursor, event: Event) -> list[Payload]:
    given = event.tool_input
    if event.tool == "Delete":
        return []
    patched = edits_in_patch(text_in(given, "new_string"), event.cwd)
    if patched:
        return [{"file_path": path, "edits": edits} for path, edits in patched.items()]
    return [{"file_path": path, "edits": edits_of(given)} for path in _files(event)]


def _stop(_emulation: Cursor, event: Event) -> list[Payload]:
    """Return the payload of a stop; nothing after five loops, because Cursor ends a loop then."""
    count = max(_counts.get(_turn(event), 0), 1) if event.is_continuation else 0
    return [{"status": "completed", "loop_count": count}] if count < MOST_LOOPS else []


# How often each turn was continued, as far as this process knows; without a daemon that is once.
_counts: dict[tuple[str, str], int] = {}
MOST_LOOPS = 5
MOST_TURNS = 1000


def _count(event: Event, loops: int) -> None:
    _counts.pop(_turn(event), None)
    _counts[_turn(event)] = loops
    if len(_counts) > MOST_TURNS:
        _counts.pop(next(iter(_counts)), None)


def _turn(event: Event) -> tuple[str, str]:
    return event.session_id, event.agent_id


def _subagent(emulation: Cursor, event: Event) -> list[Payload]:
    """Return the payload of a subagent before it starts, while it can be refused."""
    given = event.tool_input
    task = text_in(given, "prompt") or text_in(given, "description")
    about = {"subagent_id": event.tool_use_id, "subagent_type": text_in(given, "subagent_type"), "task": task}
    more = {"parent_conversation_id": event.session_id, "tool_call_id": event.tool_use_id}
    return [{**about, **more, "subagent_model": text_in(given, "model"), "is_parallel_worker": False}]


def _subagent_stop(emulation: Cursor, event: Event) -> list[Payload]:
    about = {"subagent_id": event.agent_id, "subagent_type": text_in(event.payload, "agent_type")}
    summary = text_in(event.payload, "last_assistant_message")
    transcript = text_in(event.payload, "agent_transcript_path") or None
    more: Payload = {"summary": summary, "task": "", "modified_files": [], "agent_transcript_path": transcript}
    return [{**about, **each, **more} for each in _stop(emulation, event)]


def _files(event: Event) -> list[str]:
    several = event.tool_input.get(ALL_FILES)
    one = text_in(event.tool_input, "file_path") or text_in(event.tool_input, "notebook_path")
    paths = [each for each in several if isinstance(each, str)] if isinstance(several, list) else [one]
    return [os.path.normpath(os.path.join(event.cwd, path)) for path in paths if path]


def _duration(event: Event) -> float:
    found = event.payload.get("duration_ms", event.payload.get("duration"))
    return found if isinstance(found, int | float) else 0


def _exit_code(event: Event) -> int:
    response = event.tool_response if isinstance(event.tool_response, dict) else {}
    found = next((response[key] for key in ("exitCode", "exit_code", "code") if key in response), 0)
    return found if isinstance(found, int) else 0


# What each event adds to the common fields; an event without a payload is not sent.
_ABOUT: Mapping[str, Callable[[Cursor, Event], list[Payload]]] = {
    "sessionStart": lambda _, event: [{"is_background_agent": False, "composer_mode": "agent"}],
    "sessionEnd": lambda _, event: [
        {"reason": text_in(event.payload, "reason") or "completed", "is_background_agent": False}
        | {"final_status": "completed"}
    ],
    "beforeSubmitPrompt": lambda _, event: [{"prompt": event.prompt, "attachments": [], "composer_mode": "agent"}],
    "preToolUse": _tool,
    "postToolUse": _tool_done,
    "postToolUseFailure": lambda emulation, event: [
        _tool(emulation, event)[0]
        | {"error_message": result_text(event), "failure_type": "error", "duration": _duration(event)}
        | {"is_interrupt": event.payload.get("is_interrupt") is True}
    ],
    "beforeShellExecution": lambda _, event: [{"command": event.command, "cwd": event.cwd, "sandbox": False}],
    "afterShellExecution": lambda _, event: [
        {"command": event.command, "output": result_text(event), "duration": _duration(event), "sandbox": False}
    ],
    "beforeMCPExecution": lambda _, event: [_mcp(event) | {"command": mcp_parts(event.tool)[0]}],
    "afterMCPExecution": lambda _, event: [
        _mcp(event) | {"result_json": to_text(event.tool_response), "duration": _duration(event)}
    ],
    "beforeReadFile": _read,
    "afterFileEdit": _file_edits,
    "stop": _stop,
    "afterAgentResponse": lambda _, event: [
        {"text": text} for text in [text_in(event.payload, "last_assistant_message")] if text
    ],
    "subagentStart": _subagent,
    "subagentStop": _subagent_stop,
    "preCompact": lambda _, event: [{"trigger": text_in(event.payload, "trigger") or "auto"}],
}

EMULATION = Cursor
