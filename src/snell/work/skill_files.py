"""Find and parse `SKILL.md` files for efforts: phases, templates and directives of a skill."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from snell.model.context import Context
from snell.settings.locate import folder_with_texts
from snell.settings.skill_files import documents_in, front_matter, known_skills, skill_named, split_front_matter
from snell.settings.skill_files import usual_name as name_of
from snell.settings.skill_folders import project_folders
from snell.system.files import text_or_nothing
from snell.system.json_input import json_or_none
from snell.system.lazy_regex import lazy_regex
from snell.work.rows import Record

PLAIN_FOLDER = "skills"  # of a project, beside those of clients
LARGEST = 1_000_000
DECLARED = ("modes", "templates", "cmdDependencies", "nextSkills", "directives")
_TEXTS = ("name", "description", "version")
_JSON = lazy_regex(r"```json\s*\n(.*?)\n```", re.DOTALL)
_HEADING = lazy_regex(r"^#{2,3}\s+(?:Phase\s+)?(\d+(?:\.\w+)?)[.:)]?\s+(.+)$", re.MULTILINE)


class LoadedSkill(Struct, frozen=True):
    """What a skill's file declares, or why that is not used."""

    config: Record | None = None
    problem: str = ""
    is_untrusted: bool = False


ReadSkill = Callable[[str, str], LoadedSkill]  # by its name, for a working directory


def read_skill(name: str, cwd: str, context: Context) -> LoadedSkill:
    """Read a skill of the user's, or of the project if it is trusted; no file of another project is opened."""
    more = [os.path.join(context.project_dir, PLAIN_FOLDER)] if context.is_trusted and context.project_dir else []
    if found := skill_named(name, known_skills(context, cwd, more=more)):
        config = parse_skill(text_or_nothing(Path(found.path), LARGEST), found.path)
        return LoadedSkill({**config, "templates": _with_paths(config["templates"], found.path, context.project_dir)})
    root = None if context.is_trusted else folder_with_texts(Path(cwd), context.env)
    if root and any(each["name"].lower() == name.lower() for each in list_skills(str(root))):
        problem = f"the skill `{name}` of this project is not trusted, so its phases and templates are not used"
        return LoadedSkill(problem=f"{problem}; run `snell trust`", is_untrusted=True)
    return LoadedSkill(problem=f"no skill `{name[:80]}` was found, yours or the project's: phases are not checked")


def parse_skill(text: str, path: str = "") -> Record:
    """Return name, description and version of the front matter, and the declarations of front matter and text."""
    text = text.replace("\r\n", "\n")
    front = front_matter(split_front_matter(text)[0])
    name, description, version = (each if isinstance(each := front.get(key), str) else "" for key in _TEXTS)
    block = _block(text)
    headings = [{"label": label, "name": name.strip()} for label, name in _HEADING.findall(text)]
    return {
        "name": name or str(block.get("name") or name_of(path)),
        "description": description,
        "version": version or None,
        "phases": block.get("phases") or list(_phases(front.get("phases"))) or headings,
        **{key: block.get(key) or front.get(key.lower()) for key in DECLARED},
        "path": path,
    }


def list_skills(project: str) -> list[Record]:
    """Return name and path of each skill of a project; the files are not opened."""
    folders = (*project_folders(project), os.path.join(project, PLAIN_FOLDER))
    found: dict[str, Record] = {}
    for path in (path for folder in folders for path in documents_in(folder)):
        found.setdefault(name_of(path), {"name": name_of(path), "path": path})
    return list(found.values())


def _phases(listed: Any) -> Iterator[Record]:
    """Yield the phases of a list in the front matter: `1: Plan`, or only `Plan`."""
    for number, each in enumerate(listed if isinstance(listed, list) else (), start=1):
        label, colon, name = str(each).partition(":")
        yield {"label": label.strip(), "name": name.strip()} if colon else {"label": str(number), "name": label.strip()}


def _with_paths(templates: Any, path: str, project: str) -> Any:
    """Return the templates with full paths; one outside of the skill's folder and of the project is left out."""
    folder = os.path.dirname(path)

    def full(given: Any) -> str:
        at = os.path.realpath(os.path.join(folder, str(given)))
        at = at if os.path.exists(at) or not project else os.path.realpath(os.path.join(project, str(given)))
        allowed = [os.path.realpath(each) for each in (folder, project) if each]
        return at if os.path.isfile(at) and any(Path(at).is_relative_to(each) for each in allowed) else ""

    if isinstance(templates, dict):
        return {name: found for name, each in templates.items() if isinstance(each, str) and (found := full(each))}
    given = [templates] if isinstance(templates, str) else templates if isinstance(templates, list) else []
    return [found for each in given if isinstance(each, str) and (found := full(each))]


def _block(text: str) -> dict[str, Any]:
    """Return the first JSON block with declarations."""
    for found in _JSON.findall(text):
        value = json_or_none(found)
        if isinstance(value, dict) and value.keys() & {"phases", "templates", "modes", "directives"}:
            return value
    return {}
