"""Find directives: files with rules for agents, from a directory up to the root of its project."""

import os
from collections.abc import Iterable, Sequence

from snell.system.files import names_in
from snell.work.projects import path_and_parents
from snell.work.rows import Record

ALWAYS = ("AGENTS", "INVARIANTS", "ARCHITECTURE", "COMMANDS")
WHEN_ASKED = ("TESTING", "PITFALLS", "CONTRIBUTING", "TEMPLATE", "CHECKLIST")
MOST_COMMANDS = 100


def discover(folders: Iterable[str], root: str, extra: Sequence[str] = ()) -> list[Record]:
    """Return the directives of these folders and of their parents up to the root, each file once."""
    names = [*ALWAYS, *(name for name in extra if name in WHEN_ASKED)]
    found: dict[str, Record] = {}
    for folder in folders:
        for place in _up_to(os.path.normpath(folder), os.path.normpath(root)):
            for path in (*_rules_in(place, names), *_commands_in(place)):
                found.setdefault(os.path.realpath(path), {"path": path, "type": "soft", "source": place})
    return list(found.values())


def resolve(name: str, folder: str, root: str) -> str | None:
    """Return the nearest file of a name such as `AGENTS` or `CMD_DEPLOY`, with or without `.md`."""
    wanted = name if name.endswith(".md") else f"{name}.md"
    if os.sep in wanted:
        return None
    inside = ((".directives",), (".directives", "commands"), ())
    places = _up_to(os.path.normpath(folder), os.path.normpath(root))
    tried = (os.path.join(place, *folders, wanted) for place in places for folders in inside)
    return next(filter(os.path.isfile, tried), None)


def dereference(references: Iterable[str], folder: str, root: str) -> list[Record]:
    """Return each reference with its file; null if there is none."""
    return [{"reference": each, "path": resolve(each.lstrip("@§"), folder, root)} for each in references]


def _up_to(folder: str, root: str) -> list[str]:
    """Return the folder and its parents up to the root; nothing for a folder outside of the root."""
    places = path_and_parents(folder)
    return places[: places.index(root) + 1] if root in places else []


def _rules_in(place: str, names: Sequence[str]) -> list[str]:
    """Return the files of these names in `.directives/`, then in the folder itself."""
    tried = [os.path.join(place, *inside, f"{name}.md") for inside in ((".directives",), ()) for name in names]
    return [path for path in tried if os.path.isfile(path)]


def _commands_in(place: str) -> list[str]:
    folder = os.path.join(place, ".directives", "commands")
    names = sorted(names_in(folder))[:MOST_COMMANDS]
    return [os.path.join(folder, name) for name in names if name.startswith("CMD_") and name.endswith(".md")]
