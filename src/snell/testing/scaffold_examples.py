"""
Small examples for `snell new`: one per kind of tool and per kind of event.

Each has a condition, an event that meets it and one that does not.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from snell.model.catalogue import EventRow


class Example(Struct, frozen=True):
    type: str  # of the hook's argument
    asks: str  # the condition, as code
    yes: Mapping[str, str]
    no: Mapping[str, str]
    what: str  # the subject of the hook, as the object of a sentence
    why: str  # continues "it ..."
    instead: str
    change: str = ""  # arguments for Rewrite
    changed: Any = None  # what a case then expects

    @property
    def parameter(self) -> str:
        return _PARAMETERS.get(self.type, "call")


_PARAMETERS = {
    "Prompt": "prompt",
    "Session": "session",
    "Turn": "turn",
    "AgentRun": "agent",
    "Notification": "notification",
    "Compaction": "compaction",
    "Task": "task",
    "FileEvent": "file",
    "Event": "event",
}


def example_for(row: EventRow, kind: str) -> Example:
    """Return the example for an event, or for a kind of tool if the event has one."""
    if kind:
        return OF_KIND[kind]
    return OF_EVENT.get(row.name) or OF_SUBJECT.get(row.subject) or _any(row.matches or "example")


def _env_file(type_: str, what: str) -> Example:
    return Example(
        type_,
        'call.path.endswith(".env")',
        {"path": ".env"},
        {"path": "README.md"},
        what,
        "could reveal secrets",
        "use `.env.example`",
        'file_path=f"{call.path}.example"',
        {"path": ".env.example"},
    )


OF_KIND: Mapping[str, Example] = {
    "shell": Example(
        "ShellCall",
        'call.runs("example")',
        {"command": "example --now"},
        {"command": "git status"},
        "the command `example`",
        "is a placeholder",
        "write what to do instead here",
        'command=f"echo {call.command}"',
        {"command": "echo example --now"},
    ),
    "edit": _env_file("EditCall", "an edit of an `.env` file"),
    "write": _env_file("WriteCall", "a new `.env` file"),
    "read": _env_file("ReadCall", "reading an `.env` file"),
    "search": Example(
        "SearchCall",
        'call.pattern == ".*"',
        {"pattern": ".*"},
        {"pattern": "def main"},
        "a search for everything",
        "fills the context with noise",
        "search for a word",
        "head_limit=50",
        {"head_limit": 50},
    ),
    "web": Example(
        "WebCall",
        'call.url.startswith("http://")',
        {"url": "http://example.com"},
        {"url": "https://example.com"},
        "an unencrypted page",
        "could have been changed in transit",
        "use https",
        'url=call.url.replace("http://", "https://", 1)',
        {"url": "https://example.com"},
    ),
    "mcp": Example(
        "McpCall",
        'call.method.startswith("delete")',
        {"server": "files", "method": "delete_all"},
        {"server": "files", "method": "list"},
        "a deletion",
        "cannot be undone",
        "ask the user to do it",
        "dry_run=True",
        {"dry_run": True},
    ),
    "agent": Example(
        "AgentCall",
        '"deploy" in call.prompt',
        {"prompt": "deploy the site"},
        {"prompt": "read the logs"},
        "an agent that deploys",
        "would act without the user's control",
        "let the user start it",
        'prompt=f"{call.prompt}, but only as a dry run"',
        {"prompt": "deploy the site, but only as a dry run"},
    ),
    "skill": Example(
        "SkillCall",
        'call.skill == "deploy"',
        {"skill": "deploy"},
        {"skill": "review"},
        "the skill `deploy`",
        "changes what others see",
        "ask the user to start it",
        'args="--dry-run"',
        {"args": "--dry-run"},
    ),
    "other": Example(
        "ToolCall",
        'call.tool == "Purge"',
        {"tool": "Purge"},
        {"tool": "Look"},
        "the tool `Purge`",
        "cannot be undone",
        "ask the user to do it",
        "dry_run=True",
        {"dry_run": True},
    ),
}

OF_SUBJECT: Mapping[str, Example] = {
    "prompt": Example(
        "Prompt",
        '"password" in prompt.text',
        {"prompt": "my password is 1234"},
        {"prompt": "hello"},
        "a password in a prompt",
        "would be stored in the transcript",
        "put it into an environment variable",
        'prompt.text.replace("password", "[secret]")',
        "my [secret] is 1234",
    ),
    "session": Example(
        "Session",
        'session.source == "resume"',
        {"source": "resume"},
        {"source": "startup"},
        "a resumed session",
        "may know only an older state of the files",
        "read `git log` first",
    ),
    "turn": Example(
        "Turn",
        '"TODO" in turn.last_message',
        {"last_message": "done, but TODO: tests"},
        {"last_message": "done"},
        "a turn that ends with a TODO",
        "leaves work undone",
        "do it now, or say why it cannot be done",
    ),
    "agent": Example(
        "AgentRun",
        'agent.type == "reviewer"',
        {"type": "reviewer"},
        {"type": "explorer"},
        "a reviewer",
        "has to name the files it read",
        "list the files",
    ),
    "notification": Example(
        "Notification",
        '"permission" in notification.message',
        {"message": "a permission is needed"},
        {"message": "hello"},
        "a request for permission",
        "waits for an answer",
        "look at the terminal",
    ),
    "compaction": Example(
        "Compaction",
        'compaction.trigger == "auto"',
        {"trigger": "auto"},
        {"trigger": "manual"},
        "an automatic compaction",
        "may lose what is not in a file",
        "save it to a file first",
    ),
    "task": Example(
        "Task",
        '"later" in task.subject',
        {"subject": "clean up later"},
        {"subject": "clean up"},
        "a task for later",
        "tends to be forgotten",
        "say when it is due",
    ),
    "file": Example(
        "FileEvent",
        'file.path.endswith(".env")',
        {"path": "/project/.env"},
        {"path": "/project/README.md"},
        "an `.env` file",
        "contains settings that programs read only once",
        "restart them",
    ),
}

OF_EVENT: Mapping[str, Example] = {
    "SessionEnd": Example(
        "Session",
        'session.reason == "logout"',
        {"reason": "logout"},
        {"reason": "clear"},
        "a logout",
        "ends every session",
        "log in again",
    ),
    "Setup": Example(
        "Session",
        'session.source == "init"',
        {"trigger": "init"},
        {"trigger": "maintenance"},
        "a first start",
        "has nothing installed yet",
        "install what is missing",
    ),
    "MessageDisplay": Example(
        "Event",
        '"password" in event.payload["delta"]',
        {"delta": "the password is 1234"},
        {"delta": "hello"},
        "a password on the screen",
        "can be read by others",
        "ask for it",
        'event.payload["delta"].replace("password", "[secret]")',
        "the [secret] is 1234",
    ),
}


def _any(field: str) -> Example:
    return Example(
        "Event",
        f'event.payload.get("{field}") == "example"',
        {field: "example"},
        {field: "other"},
        "the example",
        "is only an example",
        "write what to do instead here",
    )
