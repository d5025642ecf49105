"""Which files run by themselves, by their path in small letters: some disks do not tell capitals apart."""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from snell.packs.guard.sensitive_files import is_workflow
from snell.system.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from snell.packs.guard.automatic_files.entries import Entry

LONGEST_PATH = 4_096  # of the operating system

Reader = Callable[[str], Iterable["Entry"]]

# The pattern of each kind, and what reads it: a module here, which is loaded with the first such file, and a function.
_KINDS: dict[str, tuple[str, str]] = {
    "tasks": (r"/\.vscode/tasks\.json|\.code-workspace|/user/tasks\.json", "editors.read_tasks"),
    "settings": (
        r"/\.vscode/settings\.json|/(?:code|vscodium|cursor|windsurf)/user/settings\.json",
        "editors.read_editor_settings",
    ),
    "container": (r"/\.?devcontainer\.json", "editors.read_devcontainer"),
    "servers": (
        (
            r"/\.?mcp\.json|/(?:cline_)?mcp[_-](?:config|settings|servers)\.json|/claude_desktop_config\.json|/\.claude\.json"
            r"|/opencode\.jsonc?|/\.(?:gemini|qwen|amp|config/amp|factory|copilot|crush)/settings\.json|/\.?crush\.json"
            r"|/\.(?:codex|grok|kimi-code)/config\.toml|/\.?(?:config/)?zed/settings\.json|/\.continue/(?:config|mcpservers/[^/]+)\.ya?ml"
            r"|/\.config/goose/config\.ya?ml"
        ),
        "agents.read_servers",
    ),
    "agent": (
        (
            r"/skill\.md|/\.(?:claude|cursor|codex|gemini|qwen|factory|github|copilot|opencode|agents?|kiro|windsurf)/.*"
            r"(?:agents?|commands?|skills?|prompts|droids|modes)/.*\.(?:md|toml)|/(?:agents|commands|skills)/[^/]+\.md"
        ),
        "agents.read_agent_text",
    ),
    "script": (
        r"/\.(?:husky|githooks)/(?:_/)?[^/.]+(?:\.sh)?|/\.envrc(?:\.\w+)?|/\.direnvrc|/direnv/direnvrc",
        "projects.read_script",
    ),
    "hooks": (
        r"/\.?lefthook(?:-local)?\.(?:ya?ml|toml|json)|/\.pre-commit-config\.ya?ml|/\.overcommit\.yml",
        "projects.read_hook_list",
    ),
    "package": (r"/package\.json", "projects.read_package"),
    "composer": (r"/composer\.json", "projects.read_composer"),
    "tools": (
        (
            r"/\.?npmrc|/\.yarnrc(?:\.yml)?|/\.pnpmrc|/\.cargo/config(?:\.toml)?|/pip\.(?:conf|ini)|/bunfig\.toml|/uv\.toml"
        ),
        "projects.read_tool_settings",
    ),
    "build": (r"/build\.rs", "projects.read_build_script"),
    "python": (r"/setup\.py|/(?:site|user)customize\.py", "projects.read_python"),
}
_NAMES = lazy_regex("|".join(f"(?P<{kind}>{pattern})$" for kind, (pattern, _reader) in _KINDS.items()))


def reader_of(path: str) -> Reader | None:
    """Return what reads a file that runs by itself; None for all other files."""
    lower = path[-LONGEST_PATH:].lower()
    found = _NAMES.search(lower)
    name = _KINDS[found.lastgroup][1] if found is not None and found.lastgroup else ""
    if not name and is_workflow(lower):
        name = "projects.read_workflow"
    module, _, function = name.partition(".")
    return getattr(import_module(f"{__package__}.{module}"), function) if name else None
