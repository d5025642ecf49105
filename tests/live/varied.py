"""Conversations that real clients should hold without any alarm: other tools, several at once, sub-agents, resumed."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.live.drivers import Driver, Words
from tests.live.model import LAST, Script
from tests.live.wires import Said

Call = tuple[str, Any]
SUBTASK = "SUBTASK look around"


class Variety(Struct, frozen=True, kw_only=True):
    """What a client has beside its shell tool."""

    # Its tools for files, called in this order in a folder: some find nothing.
    tools: Callable[[str], tuple[Call, ...]]
    resumed: Callable[[Words], Words]  # the command that continues the last conversation
    agent: tuple[Call, ...] = ()  # that starts a sub-agent, and waits for it
    changed: Callable[[Words], Words] = lambda command: command  # the command with what these calls need
    can_compact: bool = False  # does `/compact` as a prompt compact the conversation?


def _before_last(*words: str) -> Callable[[Words], Words]:
    return lambda command: [*command[:-1], *words, command[-1]]


def _after(*words: str) -> Callable[[Words], Words]:
    return lambda command: [*command, *words]


def _files(
    names: tuple[str, str, str], path: str, text: str, old: str, new: str, **more: Any
) -> Callable[[str], tuple[Call, ...]]:
    """Return calls that write, read and change a file, and read one that is not there."""
    write, read, edit = names

    def calls(folder: str) -> tuple[Call, ...]:
        file = {path: f"{folder}/new é.txt"}
        changed = {**file, old: "one", new: "two", **more}
        missing = {path: f"{folder}/missing.txt"}
        return (write, {**file, text: "one\n"}), (read, file), (edit, changed), (read, missing)

    return calls


def _with(calls: Callable[[str], tuple[Call, ...]], *more: Call) -> Callable[[str], tuple[Call, ...]]:
    return lambda folder: (*calls(folder), *more, ("no_such_tool", {"x": 1}))


PATCH = "*** Begin Patch\n*** Add File: new.txt\n+one\n*** End Patch"
STEPS = {"plan": [{"step": "look", "status": "in_progress"}]}
FIND = {"pattern": "*.txt"}, {"pattern": "one"}

VARIETIES: Mapping[str, Variety] = {
    "claude_code": Variety(
        tools=_with(
            _files(("Write", "Read", "Edit"), "file_path", "content", "old_string", "new_string"),
            *(("Glob", FIND[0]), ("Grep", FIND[1]), ("Bash", {"nope": 1})),
        ),
        resumed=_after("--continue"),
        agent=(("Agent", {"description": "look", "prompt": SUBTASK, "subagent_type": "general-purpose"}),),
        changed=_after("--permission-mode", "acceptEdits"),
        can_compact=True,
    ),
    "codex": Variety(
        tools=lambda folder: (
            *(("apply_patch", PATCH), ("apply_patch", PATCH.replace("Add", "Update")), ("update_plan", STEPS)),
            *(("view_image", {"path": f"{folder}/none.png"}), ("no_such_tool", {"x": 1})),
        ),
        resumed=_before_last("resume", "--last"),
        agent=(
            *(("multi_agent_v1/spawn_agent", {"message": SUBTASK}),),
            *(("multi_agent_v1/wait_agent", {"timeout_ms": 4_000}),),
        ),
        changed=_before_last("-c", "features.multi_agent=true"),
    ),
    "copilot": Variety(
        tools=_with(
            _files(("create", "view", "edit"), "path", "file_text", "old_str", "new_str"),
            *(("glob", FIND[0]), ("grep", FIND[1])),
        ),
        resumed=_after("--continue"),
        agent=(
            (
                "task",
                {
                    "agent_type": "general-purpose",
                    "name": "child",
                    "description": "look",
                    "prompt": SUBTASK,
                    "mode": "sync",
                },
            ),
        ),
    ),
    "gemini": Variety(
        tools=_with(
            _files(
                ("write_file", "read_file", "replace"),
                *("file_path", "content", "old_string", "new_string"),
                instruction="change it",
            ),
            *(("glob", FIND[0]), ("grep_search", FIND[1]), ("list_directory", {"dir_path": "."})),
        ),
        resumed=_after("--resume", "latest"),
        agent=(("invoke_agent", {"agent_name": "generalist", "prompt": SUBTASK}),),
    ),
    "kimi": Variety(
        tools=_with(
            _files(("Write", "Read", "Edit"), "path", "content", "old_string", "new_string"),
            *(("Glob", FIND[0]), ("Grep", FIND[1])),
        ),
        resumed=lambda command: [*command[:-2], "--continue", *command[-2:]],
        agent=(("Agent", {"subagent_type": "coder", "description": "look", "prompt": SUBTASK}),),
    ),
    "opencode": Variety(
        tools=_with(
            _files(("write", "read", "edit"), "filePath", "content", "oldString", "newString"),
            *(("glob", FIND[0]), ("grep", FIND[1])),
        ),
        resumed=_before_last("--continue"),
        agent=(("task", {"subagent_type": "general", "description": "look", "prompt": SUBTASK}),),
    ),
    "qwen": Variety(
        tools=_with(
            _files(("write_file", "read_file", "edit"), "file_path", "content", "old_string", "new_string"),
            *(("glob", FIND[0]), ("grep_search", FIND[1])),
        ),
        resumed=_after("--continue"),
        agent=(("agent", {"subagent_type": "general-purpose", "description": "look", "prompt": SUBTASK}),),
    ),
}


def conversations(driver: Driver, variety: Variety, folder: Path) -> list[tuple[str, bool, Script]]:
    """Return what is typed, whether it continues the last conversation, and the model's part of it."""
    shell = driver.shell
    at_once = Said("Working.", (shell("echo same"), shell("echo same"), shell("exit 3"), shell("rm -f precious.txt")))
    tools = [Said("Working.", (call,)) for call in variety.tools(str(folder))]
    found = [
        ("Please work.", False, says(at_once)),
        ("Please work.", False, says(*tools, Said("", (shell("echo 'é' \"$HOME\" | cat"),)))),
        ("Please go on.", True, says(Said("", (shell("echo same"),)), at_once)),
        ("Please work.", False, says(*(Said("", (call,)) for call in variety.agent), inside=shell("echo inside"))),
    ]
    if variety.can_compact:
        found += [("/compact", True, says()), ("Please go on.", True, says(Said("", (shell("echo after"),))))]
    return [*found, ("Please go on.", True, says(Said("", (shell("echo last"),))))]


def says(*turns: Said, inside: Call | None = None) -> Script:
    """Return a model that says these turns, and in a sub-agent makes one call."""
    left, left_inside = list(turns), [Said("", (inside,))] if inside else []

    def answer(asked: Any) -> Said:
        told = json.dumps(asked)
        is_inside = inside is not None and SUBTASK in told and "Please work." not in told
        queue = left_inside if is_inside else left
        return queue.pop(0) if queue else LAST

    return answer
