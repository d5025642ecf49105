"""Find and parse `SKILL.md` files: phases, templates and directives of a skill."""

import os
import re
from typing import Any

import msgspec

from snell.work.rows import Record

FOLDERS = (".snell/skills", ".claude/skills", "skills")
MOST = 500
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_JSON = re.compile(r"```json\s*\n(.*?)\n```", re.DOTALL)
_HEADING = re.compile(r"^#{2,3}\s+(?:Phase\s+)?(\d+(?:\.\w+)?)[.:)]?\s+(.+)$", re.MULTILINE)


def parse_skill(text: str, path: str = "") -> Record:
    """Return name, description and version of the front matter, and the declarations of the text."""
    front = _front(text)
    block = _block(text)
    headings = [{"label": label, "name": name.strip()} for label, name in _HEADING.findall(text)]
    return {
        "name": front.get("name") or block.get("name") or os.path.basename(os.path.dirname(path)),
        "description": front.get("description") or "",
        "version": front.get("version") or None,
        "phases": block.get("phases") or headings,
        **{name: block.get(name) for name in ("modes", "templates", "cmdDependencies", "nextSkills", "directives")},
        "path": path,
    }


def list_skills(project: str) -> list[Record]:
    """Return name and path of each skill of a project."""
    found: dict[str, Record] = {}
    for folder in FOLDERS:
        place = os.path.join(project, folder)
        for name in sorted(os.listdir(place))[:MOST] if os.path.isdir(place) else ():
            path = os.path.join(place, name, "SKILL.md")
            if os.path.isfile(path):
                found.setdefault(name, {"name": name, "path": path})
    return list(found.values())


def _front(text: str) -> dict[str, str]:
    """Return the plain `name: value` lines of the front matter, without nested ones."""
    found = _FRONT.match(text)
    pairs = (line.partition(":") for line in found[1].split("\n")) if found else ()
    return {
        name.strip(): value.strip().strip("'\"") for name, colon, value in pairs if colon and not name.startswith(" ")
    }


def _block(text: str) -> dict[str, Any]:
    """Return the first JSON block with declarations."""
    for found in _JSON.findall(text):
        try:
            value = msgspec.json.decode(found)
        except (msgspec.DecodeError, RecursionError):
            continue
        if isinstance(value, dict) and value.keys() & {"phases", "templates", "modes", "directives"}:
            return value
    return {}
