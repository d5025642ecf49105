"""Read hooks from the front matter of a skill or an agent: YAML between two lines of `---` at the top of the file."""

import re
from pathlib import Path

from msgspec.structs import replace

from snell.model.hooks import Scope
from snell.settings.parse import parse_tree
from snell.settings.parse_types import Parsed, ParseState
from snell.settings.problems import InvalidValueError
from snell.settings.read_file import bytes_of
from snell.settings.read_yaml import read_yaml
from snell.settings.value_tree import Node, text_of

LONGEST = 256 * 1024
_OPENING = re.compile(r"---[ \t]*\r?\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)


def read_front_matter(path: Path, *, is_agent: bool = False, extra_events: frozenset[str] = frozenset()) -> Parsed:
    """Read the hooks of a SKILL.md or an agent's file; a file without front matter has none."""
    state = ParseState(str(path))
    data = bytes_of(path, state)
    if not isinstance(data, bytes):
        return Parsed(problems=tuple(state.problems), faults=(data,) if data else ())
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
    state.layer = f"{'agent' if is_agent else 'skill'}:{_name(root, path, is_agent)}"
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


def _name(root: Node | None, path: Path, is_agent: bool) -> str:
    node = root.value.get("name") if root and root.is_table else None
    given = node.value.strip() if node and isinstance(node.value, str) else ""
    usual = path.stem if is_agent or path.name.lower() != "skill.md" else path.parent.name
    return given if given and given.isprintable() and len(given) <= 100 else usual


def _as_sub_agent(parsed: Parsed) -> Parsed:
    """Change `Stop` to `SubagentStop`: to the session that started it, an agent is a subagent."""
    changed = tuple(
        replace(each, hook=replace(each.hook, event="SubagentStop")) if each.hook.event == "Stop" else each
        for each in parsed.declared
    )
    return replace(parsed, declared=changed)
