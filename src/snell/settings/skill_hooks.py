"""Hooks that enter when a skill or an agent starts; those of a project only if a person approved them."""

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
    """The hooks of a SKILL.md or an agent's file, ready for the book; what may not run says why."""
    path, cwd = Path(os.path.realpath(path)), Path(os.path.realpath(cwd))
    root = _project_of(path, places, env)
    if root is None:
        parsed = read_front_matter(path, is_agent=is_agent, extra_events=extra_events)
        return SkillHooks(tuple(each.hook for each in parsed.declared), parsed.complaints)
    workshop = ItemReader(Project(root.root, identity=root.identity), digests or FileDigests(), env)
    pins, problem = read_pins(places)
    approved = pins_of(pins, root.root, root.identity)
    if approved is None:
        return SkillHooks(problems=(_unapproved(path), *([problem] if problem else [])))
    items, complaints = skill_items(workshop, path, is_agent=is_agent, extra_events=extra_events)
    hooks = [replace(item.hook, untrusted=why_not(item, approved, root.root, cwd)) for item in items if item.hook]
    return SkillHooks(tuple(hooks), complaints)


def skill_items(
    workshop: ItemReader, path: Path, *, is_agent: bool, extra_events: frozenset[str] = frozenset()
) -> tuple[list[Item], tuple[Problem, ...]]:
    """What the front matter of one file brings, as things that can be approved."""
    parsed = read_front_matter(path, is_agent=is_agent, extra_events=extra_events)
    name = os.path.relpath(path, workshop.root)
    return [workshop.hook_item(each, name) for each in parsed.declared], parsed.complaints


def files_of(root: Path) -> list[tuple[Path, bool]]:
    """The skills and agents that a project keeps where clients look for them, and whether each is an agent."""
    skills = [(path, False) for home in _HOMES for path in sorted((root / home / "skills").glob("*/SKILL.md"))]
    agents = [(path, True) for home in _HOMES for path in sorted((root / home / "agents").glob("*.md"))]
    return [(path, is_agent) for path, is_agent in skills + agents if os.path.isfile(path)]


def _project_of(path: Path, places: Places, env: Mapping[str, str]) -> Project | None:
    """The project that a file belongs to; None when it is the user's own."""
    home = Path(os.path.realpath(home_of(env)))
    own = [Path(os.path.realpath(places.config)), *(home / name for name in _HOMES)]
    if claude := env.get("CLAUDE_CONFIG_DIR"):
        own.append(Path(os.path.realpath(claude)))
    if any(path.is_relative_to(folder) for folder in own):
        return None
    holder = next((folder for folder in path.parents if folder.name in _HOMES), path.parent)
    return project_at(holder.parent)


def _unapproved(path: Path) -> Problem:
    message = "nothing of this project was approved, so hooks in this file have no effect"
    return Problem(str(path), 1, message, RUN_TRUST, "hint")
