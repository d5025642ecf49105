"""Load the hooks of a skill or an agent when it starts; those of a project only if the user approved them."""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from snell.model.hooks import Hook
from snell.settings.file_digests import FileDigests
from snell.settings.front_matter import read_front_matter
from snell.settings.locate import FOLDER, Project, home_of, project_at
from snell.settings.pins import pins_of, read_pins
from snell.settings.problems import Problem
from snell.settings.project_trust import RUN_TRUST, why_not
from snell.settings.trust_items import Item, ItemReader
from snell.system.paths import Places

_HOMES = (".claude", FOLDER)


class SkillHooks(Struct, frozen=True):
    hooks: tuple[Hook, ...] = ()
    problems: tuple[Problem, ...] = ()


def skill_hooks(
    places: Places,
    path: Path,
    cwd: Path,
    env: Mapping[str, str],
    *,
    is_agent: bool = False,
    digests: FileDigests | None = None,
    extra_events: frozenset[str] = frozenset(),
) -> SkillHooks:
    """Return the hooks of a SKILL.md or an agent's file; a hook that may not run has the reason."""
    path, cwd = Path(os.path.realpath(path)), Path(os.path.realpath(cwd))
    root = _project_of(path, places, env)
    if root is None:
        parsed = read_front_matter(path, is_agent=is_agent, extra_events=extra_events)
        return SkillHooks(tuple(each.hook for each in parsed.declared), parsed.problems)
    reader = ItemReader(Project(root.root, identity=root.identity), digests or FileDigests(), env)
    pins, problem = read_pins(places)
    approved = pins_of(pins, root.root, root.identity)
    if approved is None:
        return SkillHooks(problems=(_not_approved(path), *([problem] if problem else [])))
    items, problems = skill_items(reader, path, is_agent=is_agent, extra_events=extra_events)
    hooks = [replace(item.hook, untrusted=why_not(item, approved, root.root, cwd)) for item in items if item.hook]
    return SkillHooks(tuple(hooks), problems)


def skill_items(
    reader: ItemReader, path: Path, *, is_agent: bool, extra_events: frozenset[str] = frozenset()
) -> tuple[list[Item], tuple[Problem, ...]]:
    """Return the hooks in the front matter of one file as items for approval."""
    parsed = read_front_matter(path, is_agent=is_agent, extra_events=extra_events)
    name = os.path.relpath(path, reader.root)
    return [reader.hook_item(each, name) for each in parsed.declared], parsed.problems


def skill_files(root: Path) -> list[tuple[Path, bool]]:
    """Return the files of skills and agents where clients look for them, and whether each is an agent."""
    skills = [(path, False) for home in _HOMES for path in sorted((root / home / "skills").glob("*/SKILL.md"))]
    agents = [(path, True) for home in _HOMES for path in sorted((root / home / "agents").glob("*.md"))]
    return [(path, is_agent) for path, is_agent in skills + agents if os.path.isfile(path)]


def _project_of(path: Path, places: Places, env: Mapping[str, str]) -> Project | None:
    """Return the project that contains a file; None when it is the user's own file."""
    home = Path(os.path.realpath(home_of(env)))
    own = [Path(os.path.realpath(places.config)), *(home / name for name in _HOMES)]
    if claude := env.get("CLAUDE_CONFIG_DIR"):
        own.append(Path(os.path.realpath(claude)))
    if any(path.is_relative_to(folder) for folder in own):
        return None
    holder = next((folder for folder in path.parents if folder.name in _HOMES), path.parent)
    return project_at(holder.parent)


def _not_approved(path: Path) -> Problem:
    message = "this project is not approved, so hooks in this file have no effect"
    return Problem(str(path), 1, message, RUN_TRUST, "hint")
