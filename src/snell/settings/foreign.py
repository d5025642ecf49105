"""
Hook files of other programs, read as if they were ours: where they are, and what their words mean.

Entries that run `snell-hook` are left out: they are how that client calls us.
"""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from snell.settings.our_commands import runs_shim
from snell.settings.tree import Node, plain


class ForeignForm(Struct, frozen=True):
    """One client's files and words."""

    base: str  # below the home directory
    user: tuple[str, ...]
    project: tuple[str, ...]
    variable: str = ""  # moves `base`
    events: Mapping[str, str] = {}  # where a name is not one of ours in another spelling
    tools: Mapping[str, str] = {}  # what its matchers call a tool -> Claude Code's name, which every client's has here
    in_milliseconds: bool = False
    remark: str = ""


FORMS: Mapping[str, ForeignForm] = {
    "claude-code": ForeignForm(
        ".claude",
        ("settings.json",),
        (".claude/settings.json", ".claude/settings.local.json"),
        variable="CLAUDE_CONFIG_DIR",
    ),
    "codex": ForeignForm(".codex", ("hooks.json",), (".codex/hooks.json",), variable="CODEX_HOME"),
    "copilot": ForeignForm(
        ".copilot",
        ("hooks/*.json",),
        (".github/hooks/*.json",),
        variable="COPILOT_HOME",
        events={"agentStop": "Stop", "userPromptSubmitted": "UserPromptSubmit", "errorOccurred": "StopFailure"},
        tools={"bash": "Bash", "view": "Read", "create": "Write", "edit": "Edit", "grep": "Grep", "glob": "Glob"},
    ),
    "cursor": ForeignForm(
        ".cursor",
        ("hooks.json",),
        (".cursor/hooks.json",),
        events={"beforeSubmitPrompt": "UserPromptSubmit"},
        tools={"Shell": "Bash"},
        remark="hooks are given Claude Code's fields; answers in Cursor's own words (`permission`) are understood",
    ),
    "gemini": ForeignForm(
        ".gemini",
        ("settings.json",),
        (".gemini/settings.json",),
        events={
            "BeforeTool": "PreToolUse",
            "AfterTool": "PostToolUse",
            "BeforeAgent": "UserPromptSubmit",
            "AfterAgent": "Stop",
            "PreCompress": "PreCompact",
        },
        tools={
            "run_shell_command": "Bash",
            "read_file": "Read",
            "write_file": "Write",
            "replace": "Edit",
            "grep_search": "Grep",
            "list_directory": "LS",
        },
        in_milliseconds=True,
    ),
}


def user_files(name: str, home: Path, env: Mapping[str, str]) -> tuple[Path, ...]:
    """The files of a client that are the user's own."""
    form = FORMS[name]
    moved = env.get(form.variable, "") if form.variable else ""
    return _found(Path(moved) if os.path.isabs(moved) else home / form.base, form.user)


def project_files(name: str, root: Path) -> tuple[Path, ...]:
    """The files of a client that belong to a project."""
    return _found(root, FORMS[name].project)


def adapted(root: Node | None, layer: str) -> Node | None:
    """The file's tree in our words, without what is ours already."""
    form = FORMS.get(layer.partition(":")[0])
    if root is None or form is None or not root.is_table or "hooks" not in root.value:
        return root
    hooks = root.value["hooks"]
    if not hooks.is_table:
        return root
    lists = {form.events.get(name, name): _list(node, form) for name, node in hooks.value.items()}
    return Node({**root.value, "hooks": Node(lists, hooks.line)}, root.line)


def _list(node: Node, form: ForeignForm) -> Node:
    if not node.is_list:
        return node
    entries = [_entry(each, form) for each in node.value if not runs_shim(_alone(each))]
    return Node([each for each in entries if each is not None], node.line)


def _alone(node: Node) -> object:
    """An entry without the handlers that it groups; those are looked at one by one."""
    given = plain(node)
    return {name: value for name, value in given.items() if name != "hooks"} if isinstance(given, dict) else given


def _entry(node: Node, form: ForeignForm) -> Node | None:
    if not node.is_table:
        return node
    fields = {_key(name, form): each for name, each in node.value.items()}
    inner = fields.get("hooks")
    if inner is not None and inner.is_list:
        kept = _list(inner, form)
        if inner.value and not kept.value:
            return None
        fields["hooks"] = kept
    if (matcher := fields.get("matcher")) and isinstance(matcher.value, str):
        fields["matcher"] = Node(_everywhere(matcher.value, form.tools), matcher.line)
    if "bash" in fields and "command" not in fields:
        fields["command"] = fields.pop("bash")
    return Node(fields, node.line)


def _everywhere(matcher: str, tools: Mapping[str, str]) -> str:
    """The matcher with Claude Code's names of the same tools beside the client's own."""
    if not tools:
        return matcher
    is_list = re.fullmatch(r"[\w|-]+", matcher)
    both = "{}|{}" if is_list else "(?:{}|{})"
    names = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, tools))})(?![\w-])")
    return names.sub(lambda found: both.format(found[0], tools[found[0]]), matcher)


def _key(name: str, form: ForeignForm) -> str:
    return "timeout_ms" if name == "timeout" and form.in_milliseconds else name


def _found(base: Path, patterns: Iterable[str]) -> tuple[Path, ...]:
    """Names only; a pattern stands for what is there now."""
    paths: list[Path] = []
    for pattern in patterns:
        paths += sorted(base.glob(pattern)) if "*" in pattern else [base / pattern]
    return tuple(paths)
