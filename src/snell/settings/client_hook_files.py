"""Hook files of other programs: where they are, what their events are here, and in whose words their hooks speak."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from snell.model.catalogue import CATALOGUE, canonical


class ForeignEvent(Struct, frozen=True):
    """What one of a client's events is here."""

    here: tuple[str, ...]  # what it reports may be several events of ours
    kinds: tuple[str, ...] = ()  # of tools, where it is about one kind only


class ForeignForm(Struct, frozen=True):
    """One client's files and words."""

    base: str  # below the home directory
    user: tuple[str, ...]
    project: tuple[str, ...]
    variable: str = ""  # moves `base`
    events: Mapping[str, ForeignEvent] = {}  # where a name is not one of ours in another spelling
    lacks: frozenset[str] = frozenset()  # events that nothing here is like
    tools: Mapping[str, str] = {}  # what its matchers call a tool -> Claude Code's name, which every client's has here
    in_milliseconds: bool = False
    has_comments: bool = False  # its JSON may have comments and commas at the end
    seconds: float = 0.0  # how long it waits for a command that does not say; 0 = as long as we would
    has_voice: bool = True  # its hooks are called, and answer, in its own words
    has_folders: bool = False  # an entry may say where and with which variables it runs
    remark: str = ""

    def event(self, native: str) -> ForeignEvent | None:
        """What an event of this client is here; None when it has no such event, or nothing here is like it."""
        if native in self.lacks:
            return None
        name = canonical(native)
        return self.events.get(native) or (ForeignEvent((name,)) if name in CATALOGUE else None)


def _one(name: str, *kinds: str) -> ForeignEvent:
    return ForeignEvent((name,), kinds)


# Elsewhere a command that ends badly, or a tool that fails, is an event of its own.
_SHELL_DONE = ForeignEvent(("PostToolUse", "PostToolUseFailure"), ("shell",))
_DONE = ForeignEvent(("PostToolUse", "PostToolUseFailure"))

FORMS: Mapping[str, ForeignForm] = {
    "claude-code": ForeignForm(
        ".claude",
        ("settings.json",),
        (".claude/settings.json", ".claude/settings.local.json"),
        variable="CLAUDE_CONFIG_DIR",
        has_voice=False,
    ),
    "codex": ForeignForm(
        ".codex",
        ("hooks.json", "config.toml"),
        (".codex/hooks.json", ".codex/config.toml"),
        variable="CODEX_HOME",
        events={"PostToolUse": _DONE},
        remark="hooks are given what Codex sends; a change of files reaches them as a patch",
    ),
    "copilot": ForeignForm(
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
        remark="hooks are given what Copilot sends for an event of that spelling, and answer in its words",
    ),
    "cursor": ForeignForm(
        ".cursor",
        ("hooks.json",),
        (".cursor/hooks.json",),
        events={
            "beforeSubmitPrompt": _one("UserPromptSubmit"),
            "beforeShellExecution": _one("PreToolUse", "shell"),
            "beforeMCPExecution": _one("PreToolUse", "mcp"),
            "beforeReadFile": _one("PreToolUse", "read"),
            "subagentStart": _one("PreToolUse", "agent"),  # elsewhere it cannot be refused once it has started
            "afterShellExecution": _SHELL_DONE,
            "afterMCPExecution": _one("PostToolUse", "mcp"),
            "afterFileEdit": _one("PostToolUse", "edit", "write"),
            "afterAgentResponse": _one("Stop"),
        },
        lacks=frozenset({"afterAgentThought", "beforeTabFileRead", "afterTabFileEdit", "workspaceOpen"}),
        tools={"Shell": "Bash"},
        has_comments=True,
        seconds=60.0,
        remark="hooks are given what Cursor sends at their event, and answer in its words (`permission`, ...)",
    ),
    "gemini": ForeignForm(
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
        remark="hooks are given what Gemini CLI sends, with its names of tools, and answer in its words",
    ),
}


def speaks(written_for: str) -> bool:
    """Is this a client's event in whose words a hook can be asked?"""
    client, _, native = written_for.partition(":")
    return client in FORMS and FORMS[client].has_voice and FORMS[client].event(native) is not None


def user_files(name: str, home: Path, env: Mapping[str, str]) -> tuple[Path, ...]:
    """The files of a client that are the user's own."""
    form = FORMS[name]
    moved = env.get(form.variable, "") if form.variable else ""
    return _found(Path(moved) if os.path.isabs(moved) else home / form.base, form.user)


def project_files(name: str, root: Path) -> tuple[Path, ...]:
    """The files of a client that belong to a project."""
    return _found(root, FORMS[name].project)


def _found(base: Path, patterns: Iterable[str]) -> tuple[Path, ...]:
    """Names only; a pattern stands for what is there now."""
    paths: list[Path] = []
    for pattern in patterns:
        paths += sorted(base.glob(pattern)) if "*" in pattern else [base / pattern]
    return tuple(paths)
