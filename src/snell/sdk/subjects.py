"""
Typed subjects: what an event is about, as attributes for hook authors.

One type per tool kind and per sort of event. A field that the client left out, or sent with the wrong type, is empty;
nothing here raises.
"""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from snell.model.call_contents import CallContents
from snell.model.command_folders import NO_FOLDER_KEYS, folders_of
from snell.model.events import Event, text_in
from snell.model.tools import KINDS, mcp_parts
from snell.system.capabilities import capability

# Parsing a command line loads twenty modules, and not every hook needs it.
if TYPE_CHECKING:
    from snell.shell.reader import CommandLine
    from snell.usage.figures import Usage


class Subject(Struct, frozen=True, dict=True):
    """What an event is about. Two are equal if their fields are; the event itself is kept beside them."""

    @property
    def usage(self) -> "Usage":
        """Return what the session has used; its transcript is read when a hook asks for this."""
        found: Usage = usage_of(self.__dict__["event"])
        return found


class ToolCall(Subject, frozen=True, kw_only=True):
    """Any tool call; the types below add what their kind of tool has."""

    tool: str = ""
    kind: str = ""
    input: Mapping[str, Any] = {}
    id: str = ""
    cwd: str = ""
    response: Any = None  # PostToolUse
    error: str = ""  # PostToolUseFailure


class ShellCall(ToolCall, frozen=True, kw_only=True):
    command: str = ""
    description: str = ""

    @property
    def line(self) -> "CommandLine":
        """Return the parsed command line: every command that is visible in it."""
        from snell.shell.reader import read

        return read(self.command)

    @property
    def is_escaped(self) -> bool:
        """Return whether the command begins with Snell's own `!word` escape."""
        if not self.command.lstrip(" \t\n").startswith("!"):
            return False
        from snell.shell.reader import is_escaped

        return is_escaped(self.command)

    def runs(self, program: str, *words: str) -> bool:
        """Return whether a command of this line runs the program with these words: `runs("git", "push", "--force")`."""
        return self.line.runs(program, *words)


class EditCall(ToolCall, frozen=True, kw_only=True):
    path: str = ""
    old: str = ""
    new: str = ""


class WriteCall(ToolCall, frozen=True, kw_only=True):
    path: str = ""
    content: str = ""


class ReadCall(ToolCall, frozen=True, kw_only=True):
    path: str = ""


class SearchCall(ToolCall, frozen=True, kw_only=True):
    pattern: str = ""
    path: str = ""


class WebCall(ToolCall, frozen=True, kw_only=True):
    url: str = ""
    query: str = ""


class DatabaseCall(ToolCall, frozen=True, kw_only=True):
    statement: str = ""


class McpCall(ToolCall, frozen=True, kw_only=True):
    server: str = ""
    method: str = ""


class AgentCall(ToolCall, frozen=True, kw_only=True):
    prompt: str = ""
    agent_type: str = ""


class SkillCall(ToolCall, frozen=True, kw_only=True):
    skill: str = ""
    args: str = ""


class Prompt(Subject, frozen=True):
    text: str = ""
    command: str = ""  # UserPromptExpansion


class Session(Subject, frozen=True):
    id: str = ""
    source: str = ""  # SessionStart: startup, resume, clear, compact, fork; Setup: its trigger
    reason: str = ""  # SessionEnd


class Turn(Subject, frozen=True):
    """Stop and StopFailure."""

    last_message: str = ""
    is_continuation: bool = False
    error: str = ""


class AgentRun(Subject, frozen=True):
    """SubagentStart, SubagentStop, TeammateIdle."""

    id: str = ""
    type: str = ""
    transcript: str = ""
    last_message: str = ""


class Notification(Subject, frozen=True):
    type: str = ""
    message: str = ""
    title: str = ""


class Compaction(Subject, frozen=True):
    trigger: str = ""
    instructions: str = ""
    summary: str = ""


class Task(Subject, frozen=True):
    id: str = ""
    subject: str = ""
    description: str = ""


class FileEvent(Subject, frozen=True):
    """FileChanged, InstructionsLoaded, CwdChanged, DirectoryAdded."""

    path: str = ""
    change: str = ""


def usage_of(event: Event) -> Any:
    """Return what the session of an event has used; None without the folder that counts it."""
    reader = capability("snell.usage.session")
    return reader.read_usage(event) if reader else None


def call_of(event: Event, wanted: str = "") -> ToolCall:
    """Return the tool call of an event, typed by the wanted kind if that is one of its kinds, else by the first."""
    kind = wanted if wanted and wanted != event.kind and wanted in event.kinds else event.kind
    if kind == "shell":
        about = text if isinstance(text := event.tool_input.get("description"), str) else ""  # most events come here
        return ShellCall(**_common_fields(event, _folder_of(event)), command=event.command, description=about)
    type_, fields = _CALLS.get(kind, (ToolCall, {}))
    given = event.tool_input
    own: dict[str, Any] = {name: _first_text(given, keys) for name, keys in fields.items()}
    if kind == "mcp":
        own["server"], own["method"] = mcp_parts(event.tool)
    elif (event.tool not in KINDS or kind == "edit") and not all(own.values()):
        own |= _carried_fields(kind, event.contents, own)
    return type_(**_common_fields(event, event.cwd), **own)


def _carried_fields(kind: str, contents: CallContents, own: dict[str, Any]) -> dict[str, str]:
    """Return the fields of a tool that no table knows, by what its input carries."""
    path, text = next(iter(contents.writes.items()), ("", ""))
    gone = next(iter((*contents.deletes, *(source for source, _ in contents.moves))), "")
    found = {
        "path": path or gone if kind in ("edit", "write") else next(iter(contents.reads), ""),
        "content": text,
        "new": text,
        "old": contents.old_text,
        "url": next(iter(contents.urls), ""),
        "statement": "\n".join(contents.statements),
    }
    return {name: found[name] for name, value in own.items() if not value and name in found}


def _common_fields(event: Event, cwd: str) -> dict[str, Any]:
    return {
        "tool": event.tool,
        "kind": event.kind,
        "input": event.tool_input,
        "id": event.tool_use_id,
        "cwd": cwd,
        "response": event.payload.get("tool_response"),
        "error": text_in(event.payload, "error") if "error" in event.payload else "",
    }


def _folder_of(event: Event) -> str:
    """Return the folder in which a shell call runs: the one that its input names, else the event's."""
    if event.tool_input.keys() <= NO_FOLDER_KEYS:
        return event.cwd
    return folders_of(event.tool_input, event.cwd, os.path.expanduser("~"), event.client, event.tool)[0]


def subject_of(event: Event) -> Any:
    """Return what the event is about; the event itself where there is no type for it."""
    build = SUBJECTS.get(event.row.subject)
    return build(event) if build else event


def _first_text(given: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((given[key] for key in keys if isinstance(given.get(key), str)), "")


def _from_payload(type_: Callable[..., Any], **fields: str) -> Callable[[Event], Any]:
    keys_of = _keys(**fields)
    return lambda event: type_(**{name: _first_text(event.payload, keys) for name, keys in keys_of.items()})


def _keys(**fields: str) -> dict[str, tuple[str, ...]]:
    return {name: tuple(keys.split()) for name, keys in fields.items()}


_PATHS = "file_path path notebook_path"
# Tool kind -> type and, for each of its fields, the input keys that hold it in one client or another.
_CALLS: dict[str, tuple[type[ToolCall], dict[str, tuple[str, ...]]]] = {
    "edit": (EditCall, _keys(path=_PATHS, old="old_string old_str", new="new_string new_str new_source")),
    "write": (WriteCall, _keys(path="file_path path", content="content text file_text")),
    "read": (ReadCall, _keys(path=_PATHS)),
    "search": (SearchCall, _keys(pattern="pattern query", path="path")),
    "web": (WebCall, _keys(url="url", query="query")),
    "database": (DatabaseCall, _keys(statement="sql statement")),
    "mcp": (McpCall, {}),
    "agent": (AgentCall, _keys(prompt="prompt", agent_type="subagent_type agent_type")),
    "skill": (SkillCall, _keys(skill="skill name skill_name skillName", args="args")),
}

# A parameter of one of these types makes a hook one for this kind of tool.
KIND_OF_TYPE = {"ShellCall": "shell", **{type_.__name__: kind for kind, (type_, _) in _CALLS.items()}}

SUBJECTS: dict[str, Callable[[Event], Any]] = {
    "tool": call_of,
    "prompt": _from_payload(Prompt, text="prompt", command="command_name"),
    "session": _from_payload(Session, id="session_id", source="source trigger", reason="reason"),
    "turn": lambda event: Turn(
        text_in(event.payload, "last_assistant_message"), event.is_continuation, text_in(event.payload, "error")
    ),
    "agent": _from_payload(
        AgentRun,
        id="agent_id",
        type="agent_type teammate_name",
        transcript="agent_transcript_path",
        last_message="last_assistant_message",
    ),
    "notification": _from_payload(Notification, type="notification_type", message="message", title="title"),
    "compaction": _from_payload(
        Compaction, trigger="trigger", instructions="custom_instructions", summary="compact_summary"
    ),
    "task": _from_payload(Task, id="task_id", subject="task_subject", description="task_description"),
    "file": _from_payload(FileEvent, path="file_path new_cwd directory", change="event load_reason source"),
}
