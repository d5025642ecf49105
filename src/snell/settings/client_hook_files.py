"""The hook files of other clients: their paths, their events, and whether Snell emulates the client for their hooks."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from snell.model.catalogue import CATALOGUE, canonical


class ClientEvent(Struct, frozen=True):
    """The events of Snell that one event of a client corresponds to."""

    names: tuple[str, ...]
    kinds: tuple[str, ...] = ()  # of tools, when it is for some kinds only


class ClientFormat(Struct, frozen=True):
    """The hook files of one client and their format."""

    base: str  # below the home directory
    user: tuple[str, ...]
    project: tuple[str, ...]
    variable: str = ""  # the environment variable that replaces `base`
    events: Mapping[str, ClientEvent] = {}  # events whose names are not Snell's names in another spelling
    lacks: frozenset[str] = frozenset()  # events that no event of Snell corresponds to
    tools: Mapping[str, str] = {}  # its names of tools in matchers -> Claude Code's names
    in_milliseconds: bool = False
    has_comments: bool = False  # its JSON may have comments and trailing commas
    seconds: float = 0.0  # its default time limit of a command; 0 = Snell's
    is_emulated: bool = True  # its hooks get that client's input, and answer in its format
    has_folders: bool = False  # an entry may have `cwd` and `env`
    remark: str = ""

    def event(self, native: str) -> ClientEvent | None:
        """Return the events that an event of this client corresponds to; None when there are none."""
        if native in self.lacks:
            return None
        name = canonical(native)
        return self.events.get(native) or (ClientEvent((name,)) if name in CATALOGUE else None)


def _one(name: str, *kinds: str) -> ClientEvent:
    return ClientEvent((name,), kinds)


# In Snell, the failure of a command or a tool is an event of its own.
_SHELL_DONE = ClientEvent(("PostToolUse", "PostToolUseFailure"), ("shell",))
_DONE = ClientEvent(("PostToolUse", "PostToolUseFailure"))

CLIENT_FORMATS: Mapping[str, ClientFormat] = {
    "claude-code": ClientFormat(
        ".claude",
        ("settings.json",),
        (".claude/settings.json", ".claude/settings.local.json"),
        variable="CLAUDE_CONFIG_DIR",
        is_emulated=False,
    ),
    "codex": ClientFormat(
        ".codex",
        ("hooks.json", "config.toml"),
        (".codex/hooks.json", ".codex/config.toml"),
        variable="CODEX_HOME",
        events={"PostToolUse": _DONE},
        remark="hooks get the input that Codex sends; a change of files is a patch",
    ),
    "copilot": ClientFormat(
        ".copilot",
        ("hooks/*.json", "settings.json"),
        (".github/hooks/*.json", ".github/copilot/settings.json", ".github/copilot/settings.local.json"),
        variable="COPILOT_HOME",
        events={
            "agentStop": _one("Stop"),
            "userPromptSubmitted": _one("UserPromptSubmit"),
            "errorOccurred": _one("StopFailure"),
            "PostToolUse": _DONE,
            "postToolUse": _DONE,
        },
        lacks=frozenset({"userPromptTransformed", "preMcpToolCall"}),
        tools={"bash": "Bash", "view": "Read", "create": "Write", "edit": "Edit", "grep": "Grep", "glob": "Glob"},
        has_comments=True,
        seconds=30.0,
        has_folders=True,
        remark="hooks get the input that Copilot sends for an event of that spelling, and answer in its format",
    ),
    "cursor": ClientFormat(
        ".cursor",
        ("hooks.json",),
        (".cursor/hooks.json",),
        events={
            "beforeSubmitPrompt": _one("UserPromptSubmit"),
            "beforeShellExecution": _one("PreToolUse", "shell"),
            "beforeMCPExecution": _one("PreToolUse", "mcp"),
            "beforeReadFile": _one("PreToolUse", "read"),
            "subagentStart": _one("PreToolUse", "agent"),  # in other clients it cannot be denied after its start
            "afterShellExecution": _SHELL_DONE,
            "afterMCPExecution": _one("PostToolUse", "mcp"),
            "afterFileEdit": _one("PostToolUse", "edit", "write"),
            "afterAgentResponse": _one("Stop"),
        },
        lacks=frozenset({"afterAgentThought", "beforeTabFileRead", "afterTabFileEdit", "workspaceOpen"}),
        tools={"Shell": "Bash"},
        has_comments=True,
        seconds=60.0,
        remark="hooks get the input that Cursor sends for their event, and answer in its format (`permission`, ...)",
    ),
    "gemini": ClientFormat(
        ".gemini",
        ("settings.json",),
        (".gemini/settings.json",),
        events={
            "BeforeTool": _one("PreToolUse"),
            "AfterTool": _DONE,
            "BeforeAgent": _one("UserPromptSubmit"),
            "AfterAgent": _one("Stop"),
            "PreCompress": _one("PreCompact"),
        },
        lacks=frozenset({"BeforeModel", "AfterModel", "BeforeToolSelection"}),
        tools={
            "run_shell_command": "Bash",
            "read_file": "Read",
            "write_file": "Write",
            "replace": "Edit",
            "grep_search": "Grep",
            "list_directory": "LS",
        },
        in_milliseconds=True,
        has_comments=True,
        seconds=60.0,
        remark="hooks get the input that Gemini CLI sends, with its names of tools, and answer in its format",
    ),
}


def can_emulate(written_for: str) -> bool:
    """Whether this names an event of a client that Snell can emulate, such as `cursor:stop`."""
    client, _, native = written_for.partition(":")
    form = CLIENT_FORMATS.get(client)
    return form is not None and form.is_emulated and form.event(native) is not None


def user_files(name: str, home: Path, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the paths of a client's user files."""
    form = CLIENT_FORMATS[name]
    moved = env.get(form.variable, "") if form.variable else ""
    return _paths(Path(moved) if os.path.isabs(moved) else home / form.base, form.user)


def project_files(name: str, root: Path) -> tuple[Path, ...]:
    """Return the paths of a client's files in a project."""
    return _paths(root, CLIENT_FORMATS[name].project)


def _paths(base: Path, patterns: Iterable[str]) -> tuple[Path, ...]:
    """Expand the patterns; the files are not opened."""
    paths: list[Path] = []
    for pattern in patterns:
        paths += sorted(base.glob(pattern)) if "*" in pattern else [base / pattern]
    return tuple(paths)
