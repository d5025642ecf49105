"""
Find the skill folders of all clients: of the user, of a project, of plugins.

A folder that does not exist costs one look-up, so the folders of every client are tried, installed or not.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from snell.packs.skills.plugins import plugin_folders

# A client's own folder, and the variable that moves it: `{base}/skills` is read.
USER = (
    (".claude", "CLAUDE_CONFIG_DIR"),
    (".agents", ""),
    (".agent", ""),
    (".codex", "CODEX_HOME"),
    (".gemini", ""),
    (".gemini/antigravity", ""),
    (".gemini/antigravity-cli", ""),
    (".cursor", ""),
    (".copilot", "COPILOT_HOME"),
    (".qwen", ""),
    (".factory", ""),
    (".kiro", ""),
    (".roo", ""),
    (".codeium/windsurf", ""),
    (".codeium/windsurf-next", ""),
    (".augment", ""),
    (".cline", ""),
    (".grok", "GROK_HOME"),
    (".kimi", ""),
    (".kimi-code", "KIMI_CODE_HOME"),
    (".pi/agent", "PI_CODING_AGENT_DIR"),
    (".warp", ""),
    (".junie", ""),
)
# Folders below XDG_CONFIG_HOME.
CONFIG = ("agents", "opencode", "goose", "crush")
PROJECT = (
    ".claude",
    ".agents",
    ".agent",
    ".codex",
    ".gemini",
    ".cursor",
    ".github",
    ".qwen",
    ".factory",
    ".kiro",
    ".roo",
    ".windsurf",
    ".augment",
    ".cline",
    ".clinerules",
    ".grok",
    ".kimi",
    ".kimi-code",
    ".pi",
    ".warp",
    ".junie",
    ".opencode",
    ".goose",
    ".crush",
)
# Roo has folders for single modes beside `skills`; early versions of OpenCode used `skill`.
ALSO = {".roo": "skills-*", ".config/opencode": "skill", ".opencode": "skill"}


def folders_for(home: str, project: str, more: Any, env: Mapping[str, str] | None = None, cwd: str = "") -> list[str]:
    """Return all folders: those in the settings, the user's, then the project's, if it is trusted."""
    env = env or {}
    named = [os.path.expanduser(str(each)) for each in more] if isinstance(more, list) else []
    return [*named, *_user_folders(home, env), *plugin_folders(home, env, project), *_project_folders(project, cwd)]


def _user_folders(home: str, env: Mapping[str, str]) -> Iterator[str]:
    for folder, variable in USER:
        yield from _skill_folders(env.get(variable) or os.path.join(home, folder), folder)
    config = env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    for folder in CONFIG:
        yield from _skill_folders(os.path.join(config, folder), f".config/{folder}")
    if crush := env.get("CRUSH_SKILLS_DIR"):
        yield crush


def _project_folders(project: str, cwd: str) -> Iterator[str]:
    """Yield folders from the working directory up to the project's root: the nearest is the most specific."""
    if not project:
        return
    at = os.path.normpath(cwd or project)
    inside = at == project or at.startswith(project.rstrip(os.sep) + os.sep)
    while inside and at != project:
        yield from (folder for name in PROJECT for folder in _skill_folders(os.path.join(at, name), name))
        at = os.path.dirname(at)
    yield from (folder for name in PROJECT for folder in _skill_folders(os.path.join(project, name), name))


def _skill_folders(base: str, name: str) -> Iterator[str]:
    yield os.path.join(base, "skills")
    also = ALSO.get(name, "")
    if also.endswith("*"):
        yield from (os.path.join(base, each) for each in _entries(base) if each.startswith(also[:-1]))
    elif also:
        yield os.path.join(base, also)


def _entries(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
