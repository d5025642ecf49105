"""
Small examples for the scaffolder: one per kind of tool and per sort of event.

Each has a question that a hook can ask, an event for which the answer is yes and one for which it is no.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from snell.model.catalogue import EventRow


class Example(Struct, frozen=True):
    type: str  # what the hook is handed
    asks: str
    yes: Mapping[str, str]
    no: Mapping[str, str]
    what: str  # what the hook is about, as the object of a sentence
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
    """The example for an event, and for a kind of tool where it is about one."""
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
        "could give secrets away",
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
        "stands for what this hook is about",
        "write here what to do instead",
        'command=f"echo {call.command}"',
        {"command": "echo example --now"},
    ),
    "edit": _env_file("EditCall", "an edit of an `.env` file"),
    "write": _env_file("WriteCall", "a new `.env` file"),
    "read": _env_file("ReadCall", "a look into an `.env` file"),
    "search": Example(
        "SearchCall",
        'call.pattern == ".*"',
        {"pattern": ".*"},
        {"pattern": "def main"},
        "a search for everything",
        "fills the conversation with noise",
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
        "could have been changed on the way",
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
        "would act where nobody looks",
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
        "would be kept with the conversation",
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
        "may know an older state of the files",
        "look at `git log` first",
    ),
    "turn": Example(
        "Turn",
        '"TODO" in turn.last_message',
        {"last_message": "done, but TODO: tests"},
        {"last_message": "done"},
        "a turn that ends with a TODO",
        "leaves work behind",
        "do it now, or say why it cannot be done",
    ),
    "agent": Example(
        "AgentRun",
        'agent.type == "reviewer"',
        {"type": "reviewer"},
        {"type": "explorer"},
        "a reviewer",
        "has to name the files it looked at",
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
        "may lose what is not written down",
        "write down what has to survive",
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
        "holds settings that programs read only once",
        "start them again",
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
        "write down what you want to happen",
    )
