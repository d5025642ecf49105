"""
Load the hooks of a skill or an agent when it starts; those of a project only if the user approved them.

The hooks are in the front matter: YAML between two lines of `---` at the top of the file.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from snell.model.hooks import Hook, Scope
from snell.settings.file_digests import FileDigests
from snell.settings.locate import Project, home_of, project_at
from snell.settings.parse import bytes_of, parse_tree, without_hooks
from snell.settings.parse_types import Parsed, ParseState
from snell.settings.pins import pins_of, read_pins
from snell.settings.project_trust import RUN_TRUST, Item, ItemReader, hook_with_trust, why_not
from snell.settings.read_yaml import read_yaml
from snell.settings.skill_files import documents_in, usual_name
from snell.settings.skill_folders import KINDS, is_users_own, project_folders, project_with
from snell.settings.value_tree import InvalidValueError, Node, Problem, text_of
from snell.system.paths import Places

LONGEST = 256 * 1024
_OPENING = re.compile(r"---[ \t]*\r?\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)


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
    is_own = path.is_relative_to(os.path.realpath(places.config)) or is_users_own(path, str(home_of(env)), env)
    root = None if is_own else project_at(project_with(path))
    if root is None:
        parsed = read_front_matter(path, is_agent=is_agent, extra_events=extra_events)
        return SkillHooks(tuple(each.hook for each in parsed.declared), parsed.problems)
    reader = ItemReader(Project(root.root, identity=root.identity), digests or FileDigests(), env)
    pins, problem = read_pins(places)
    approved = pins_of(pins, root.root, root.identity)
    if approved is None:
        message = "this project is not approved, so hooks in this file have no effect"
        hint = Problem(str(path), 1, message, RUN_TRUST, "hint")
        return SkillHooks(problems=(hint, problem) if problem else (hint,))
    items, problems = skill_items(reader, path, is_agent=is_agent, extra_events=extra_events)
    hooks = [
        hook_with_trust(item.hook, item, why_not(item, approved, root.root, cwd), root.root)
        for item in items
        if item.hook
    ]
    return SkillHooks(tuple(hooks), problems)


def skill_items(
    reader: ItemReader, path: Path, *, is_agent: bool, extra_events: frozenset[str] = frozenset()
) -> tuple[list[Item], tuple[Problem, ...]]:
    """Return the hooks in the front matter of one file as items for approval."""
    parsed = read_front_matter(path, is_agent=is_agent, extra_events=extra_events)
    name = os.path.relpath(path, reader.root)
    return [reader.hook_item(each, name) for each in parsed.declared], parsed.problems


def skill_files(root: Path) -> list[tuple[Path, bool]]:
    """Return the files of skills and agents where clients look for them in a project, and whether each is an agent."""
    return [
        (Path(path), kind == "agents")
        for kind in KINDS
        for folder in project_folders(str(root), kind)
        for path in documents_in(folder, kind)
    ]


def read_front_matter(path: Path, *, is_agent: bool, extra_events: frozenset[str]) -> Parsed:
    """Read the hooks of a SKILL.md or an agent's file; a file without front matter has none."""
    state = ParseState(str(path))
    data = bytes_of(path, state)
    if not isinstance(data, bytes):
        return without_hooks(state, data)
    return parse_front_matter(data, path, is_agent=is_agent, extra_events=extra_events)


def parse_front_matter(
    data: bytes, path: Path, *, is_agent: bool = False, extra_events: frozenset[str] = frozenset()
) -> Parsed:
    """Parse the hooks of a file whose bytes were read already."""
    state = ParseState(
        str(path),
        scope=Scope.SKILL,
        folder=str(path.parent),
        plugin_root=str(path.parent),
        extra_events=extra_events,
        is_foreign=True,
    )
    parsed = parse_tree(lambda: _hooks_in(data, path, state, is_agent), state)
    return _as_sub_agent(parsed) if is_agent else parsed


def _hooks_in(data: bytes, path: Path, state: ParseState, is_agent: bool) -> Node | None:
    text = _front(text_of(data))
    root = read_yaml(text, first_line=2) if text.strip() else None
    state.layer = f"{'agent' if is_agent else 'skill'}:{_name(root, path)}"
    if root is None or not root.is_table or "hooks" not in root.value:
        return None
    return Node({"hooks": root.value["hooks"]}, root.line)


def _front(text: str) -> str:
    opening = _OPENING.match(text)
    if not opening:
        return ""
    closing = _CLOSING.search(text, opening.end())
    if not closing:
        raise InvalidValueError("the front matter is not closed", 1, "end it with a line of `---`")
    if closing.start() - opening.end() > LONGEST:
        raise InvalidValueError(f"the front matter has more than {LONGEST // 1024} KB", 1, "shorten it")
    return text[opening.end() : closing.start()]


def _name(root: Node | None, path: Path) -> str:
    node = root.value.get("name") if root and root.is_table else None
    given = node.value.strip() if node and isinstance(node.value, str) else ""
    return given if given and given.isprintable() and len(given) <= 100 else usual_name(str(path))


def _as_sub_agent(parsed: Parsed) -> Parsed:
    """Change `Stop` to `SubagentStop`: to the session that started it, an agent is a subagent."""
    changed = tuple(
        replace(each, hook=replace(each.hook, event="SubagentStop")) if each.hook.event == "Stop" else each
        for each in parsed.declared
    )
    return replace(parsed, declared=changed)
