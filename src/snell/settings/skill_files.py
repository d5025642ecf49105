"""Find and read SKILL.md files, and the files of agents. A file with mistakes is read as far as possible."""

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from snell.model.context import Context
from snell.model.events import text_in
from snell.settings.skill_folders import Kind, folders_for
from snell.system.files import bytes_or_none, names_in, stat_or_none
from snell.system.lazy_regex import lazy_regex

LARGEST = 200_000
MOST_SKILLS = 500
DEEPEST = 3  # some users group skills: `skills/office/pdf/SKILL.md`
DOCUMENT = "SKILL.md"
_NAMES = (DOCUMENT, "skill.md")
_KEY = lazy_regex(r"([A-Za-z][\w-]*)\s*:\s*(.*)")
_ITEM = lazy_regex(r"\s*-\s+(.*)")


class Skill(Struct, frozen=True):
    name: str
    description: str
    triggers: tuple[str, ...]
    path: str
    text: str  # the document, without its front matter
    is_by_name: bool = False  # its front matter disables invocation by the model


def known_skills(context: Context, cwd: str, kind: Kind = "skills", more: Any = ()) -> list[Skill]:
    """Return the user's skills or agents, those in further folders, and the project's if it is trusted."""
    home = context.env.get("HOME") or os.path.expanduser("~")
    project = context.project_dir if context.is_trusted else ""
    return skills_in(folders_for(home, project, more, context.env, cwd, kind), kind)


def skills_in(folders: list[str], kind: Kind = "skills") -> list[Skill]:
    """Return the skills or agents of these folders; the first of a name is used."""
    found: dict[str, Skill] = {}
    for folder in dict.fromkeys(folders):
        for path in documents_in(folder, kind):
            status = stat_or_none(path)
            skill = _read(path, status.st_mtime_ns) if status else None
            if skill and len(found) < MOST_SKILLS:
                found.setdefault(skill.name.lower(), skill)
    return list(found.values())


def skill_named(name: str, skills: Iterable[Skill]) -> Skill | None:
    """Return the skill with this name, folder or path; the name of a plugin before it is ignored."""
    if os.path.isabs(name):
        return next((each for each in skills if os.path.realpath(each.path) == os.path.realpath(name)), None)
    wanted = name.rpartition(":")[2].strip().lower()
    named = (each for each in skills if wanted in (each.name.lower(), usual_name(each.path).lower()))
    return next(named, None) if wanted else None


def usual_name(path: str) -> str:
    """Return the name of a skill or an agent whose file gives none: that of its folder, or of its file."""
    folder, name = os.path.split(path)
    return os.path.basename(folder) if name in _NAMES else name.removesuffix(".md").removesuffix(".agent")


def documents_in(folder: str, kind: Kind = "skills", deep: int = 1) -> Iterator[str]:
    """Yield the paths of the skills or agents in a folder; the files are not opened."""
    for name in sorted(names_in(folder))[:MOST_SKILLS]:
        inside = os.path.join(folder, name)
        if kind == "agents":
            yield from [inside] if name.endswith(".md") and os.path.isfile(inside) else []
            continue
        found = next((path for each in _NAMES if os.path.isfile(path := os.path.join(inside, each))), "")
        if found:
            yield found
        elif deep < DEEPEST and name not in ("node_modules", ".git") and not os.path.islink(inside):
            yield from documents_in(inside, kind, deep + 1)


@lru_cache(maxsize=2 * MOST_SKILLS)
def _read(path: str, _changed: int) -> Skill | None:
    data = bytes_or_none(Path(path), LARGEST)
    if data is None:
        return None
    head, body = split_front_matter(data.decode("utf-8", "replace").lstrip("\ufeff").replace("\r\n", "\n"))
    fields = front_matter(head)
    name = text_in(fields, "name") or usual_name(path)
    triggers = fields.get("triggers") or fields.get("keywords") or []
    listed = triggers if isinstance(triggers, list) else re.split(r"[,;，；、]", str(triggers))
    cleaned = tuple(each.strip().lower() for each in listed if each.strip())
    by_name = text_in(fields, "disable-model-invocation").lower() in ("true", "yes")
    return Skill(name[:100], text_in(fields, "description")[:2_000], cleaned, path, body.strip(), by_name)


def split_front_matter(text: str) -> tuple[str, str]:
    """Return the front matter of a file, and the text after it."""
    if not text.startswith("---\n"):
        return "", text
    head, mark, body = text[4:].partition("\n---")
    return (head, body.partition("\n")[2]) if mark else ("", text)


def front_matter(head: str) -> dict[str, Any]:
    """
    Return the keys of the first level, with their text or list.

    Tolerant of common mistakes: `description: use when: x` is not valid YAML, and is understood all the same.
    """
    fields: dict[str, Any] = {}
    key = ""
    for line in head.splitlines():
        found = _KEY.match(line)
        if found and not line[0].isspace():
            key, value = found[1].lower(), _unquote(found[2])
            items = [_unquote(each) for each in value.strip("[]").split(",") if each.strip()]
            fields[key] = items if value.startswith("[") else "" if value in _BLOCKS else value
        elif key and (item := _ITEM.match(line)):
            fields[key] = [*(fields[key] if isinstance(fields[key], list) else []), _unquote(item[1])]
        elif key and line.strip() and isinstance(fields[key], str):
            fields[key] = f"{fields[key]} {line.strip()}".strip()
    return fields


_BLOCKS = ("|", ">", "|-", ">-", "|+", ">+")


def _unquote(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
