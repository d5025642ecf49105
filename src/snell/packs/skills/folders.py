"""Where skills live, and what their SKILL.md says. A file that is not quite right is read as far as it is."""

import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from snell.kit.late_pattern import late
from snell.machine.files import FileError, read_capped

LARGEST = 200_000
MOST_SKILLS = 500
# In the home folder and in a project alike.
FOLDERS = (
    ".claude/skills",
    ".agents/skills",
    ".codex/skills",
    ".gemini/skills",
    ".cursor/skills",
    ".copilot/skills",
    ".github/skills",
    ".qwen/skills",
    ".factory/skills",
    ".config/opencode/skills",
    ".opencode/skills",
    ".config/goose/skills",
)
_KEY = late(r"([A-Za-z][\w-]*)\s*:\s*(.*)")
_ITEM = late(r"\s*-\s+(.*)")


class Skill(Struct, frozen=True):
    name: str
    description: str
    triggers: tuple[str, ...]
    path: str
    text: str  # the document, without its front matter


def skills_in(folders: list[str]) -> list[Skill]:
    """The skills of these folders; the first of a name counts."""
    found: dict[str, Skill] = {}
    for folder in dict.fromkeys(folders):
        for path in _documents(folder):
            skill = _skill(path)
            if skill and len(found) < MOST_SKILLS:
                found.setdefault(skill.name.lower(), skill)
    return list(found.values())


def folders_for(home: str, project: str, more: Any) -> list[str]:
    """All folders to look at: those that were named, the user's, then the project's, if there is one to trust."""
    named = [os.path.expanduser(str(each)) for each in more] if isinstance(more, list) else []
    roots = [root for root in (home, project) if root]
    return [*named, *(os.path.join(root, folder) for root in roots for folder in FOLDERS)]


def _documents(folder: str) -> Iterator[str]:
    try:
        names = sorted(os.listdir(folder))[:MOST_SKILLS]
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name, "SKILL.md")
        if os.path.isfile(path):
            yield path


def _skill(path: str) -> Skill | None:
    try:
        return _read(path, os.stat(path).st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=2 * MOST_SKILLS)
def _read(path: str, _changed: int) -> Skill | None:
    try:
        text = read_capped(Path(path), LARGEST).decode("utf-8", "replace").lstrip("\ufeff").replace("\r\n", "\n")
    except (OSError, FileError):
        return None
    head, body = _divided(text)
    fields = front_matter(head)
    name = _text(fields, "name") or os.path.basename(os.path.dirname(path))
    triggers = fields.get("triggers") or fields.get("keywords") or []
    listed = triggers if isinstance(triggers, list) else re.split(r"[,;]", str(triggers))
    cleaned = tuple(each.strip().lower() for each in listed if each.strip())
    return Skill(name[:100], _text(fields, "description")[:2_000], cleaned, path, body.strip())


def _divided(text: str) -> tuple[str, str]:
    if not text.startswith("---\n"):
        return "", text
    head, mark, body = text[4:].partition("\n---")
    return (head, body.partition("\n")[2]) if mark else ("", text)


def front_matter(head: str) -> dict[str, Any]:
    """
    Keys of the first level, with their text or list.

    Written for what people write: `description: use when: x` is not valid YAML, and is understood all the same.
    """
    fields: dict[str, Any] = {}
    key = ""
    for line in head.splitlines():
        found = _KEY.match(line)
        if found and not line[0].isspace():
            key, value = found[1].lower(), _unquoted(found[2])
            fields[key] = _inline_list(value) if value.startswith("[") else "" if value in _BLOCKS else value
        elif key and (item := _ITEM.match(line)):
            fields[key] = [*(fields[key] if isinstance(fields[key], list) else []), _unquoted(item[1])]
        elif key and line.strip() and isinstance(fields[key], str):
            fields[key] = f"{fields[key]} {line.strip()}".strip()
    return fields


_BLOCKS = ("|", ">", "|-", ">-", "|+", ">+")


def _inline_list(value: str) -> list[str]:
    return [_unquoted(each.strip()) for each in value.strip("[]").split(",") if each.strip()]


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
