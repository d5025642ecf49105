"""Read SKILL.md files. A file with mistakes is read as far as possible."""

import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from snell.system.files import FileError, read_capped
from snell.system.lazy_regex import lazy_regex

LARGEST = 200_000
MOST_SKILLS = 500
DEEPEST = 3  # some users group skills: `skills/office/pdf/SKILL.md`
_NAMES = ("SKILL.md", "skill.md")
_KEY = lazy_regex(r"([A-Za-z][\w-]*)\s*:\s*(.*)")
_ITEM = lazy_regex(r"\s*-\s+(.*)")


class Skill(Struct, frozen=True):
    name: str
    description: str
    triggers: tuple[str, ...]
    path: str
    text: str  # the document, without its front matter
    is_by_name: bool = False  # its front matter disables invocation by the model


def skills_in(folders: list[str]) -> list[Skill]:
    """Return the skills of these folders; the first of a name is used."""
    found: dict[str, Skill] = {}
    for folder in dict.fromkeys(folders):
        for path in _documents(folder):
            skill = _skill(path)
            if skill and len(found) < MOST_SKILLS:
                found.setdefault(skill.name.lower(), skill)
    return list(found.values())


def _documents(folder: str, deep: int = 1) -> Iterator[str]:
    try:
        names = sorted(os.listdir(folder))[:MOST_SKILLS]
    except OSError:
        return
    for name in names:
        inside = os.path.join(folder, name)
        found = next((path for each in _NAMES if os.path.isfile(path := os.path.join(inside, each))), "")
        if found:
            yield found
        elif deep < DEEPEST and name not in ("node_modules", ".git") and not os.path.islink(inside):
            yield from _documents(inside, deep + 1)


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
    head, body = _split(text)
    fields = front_matter(head)
    name = _text(fields, "name") or os.path.basename(os.path.dirname(path))
    triggers = fields.get("triggers") or fields.get("keywords") or []
    listed = triggers if isinstance(triggers, list) else re.split(r"[,;，；、]", str(triggers))
    cleaned = tuple(each.strip().lower() for each in listed if each.strip())
    by_name = _text(fields, "disable-model-invocation").lower() in ("true", "yes")
    return Skill(name[:100], _text(fields, "description")[:2_000], cleaned, path, body.strip(), by_name)


def _split(text: str) -> tuple[str, str]:
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
            fields[key] = _inline_list(value) if value.startswith("[") else "" if value in _BLOCKS else value
        elif key and (item := _ITEM.match(line)):
            fields[key] = [*(fields[key] if isinstance(fields[key], list) else []), _unquote(item[1])]
        elif key and line.strip() and isinstance(fields[key], str):
            fields[key] = f"{fields[key]} {line.strip()}".strip()
    return fields


_BLOCKS = ("|", ">", "|-", ">-", "|+", ">+")


def _inline_list(value: str) -> list[str]:
    return [_unquote(each.strip()) for each in value.strip("[]").split(",") if each.strip()]


def _unquote(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
