"""Parse the targets of a Makefile, justfile or Taskfile: what each runs, and which other targets it needs."""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from snell.system.lazy_regex import lazy_regex

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # in the order in which make searches for them
JUSTFILES = ("justfile", ".justfile", "Justfile", "JUSTFILE")
TASKFILES = tuple(f"{name}.{end}" for name in ("Taskfile", "taskfile", "Taskfile.dist") for end in ("yml", "yaml"))
BUILD_FILES = {"make": MAKEFILES, "gmake": MAKEFILES, "just": JUSTFILES, "task": TASKFILES, "go-task": TASKFILES}
SCRIPT_RUNNERS = ("npm", "pnpm", "yarn", "bun")  # of the scripts in package.json
MOST_NEEDED = 50
MOST_LINES = 10_000  # a longer file was generated, and a tool call waits

_RULE = lazy_regex(r"(?!\t)\s*([^\s#:=][^#:=]*?)\s*::?(?![:=])(.*)")
_INCLUDE = lazy_regex(r"\s*(?:-|s)?include\s+(.+)")
_DEFINE = lazy_regex(r"\s*(?:override\s+|export\s+)*define\b")
_ENDEF = lazy_regex(r"\s*endef\b")
_RECIPE = lazy_regex(r"@?([A-Za-z_][\w-]*)(?:\s+[^:]*)?:(?!=)(.*)")
_ALIAS = lazy_regex(r"alias\s+([A-Za-z_][\w-]*)\s*:=\s*([\w-]+)")
_TASK = lazy_regex(r"(\s+)(['\"]?)([\w:.-]+)\2\s*:(?:\s|$)")


class Target(Struct):
    """What one target runs, and which others it needs."""

    lines: list[str] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)


Targets = dict[str, Target]


def recipe_lines(names: Iterable[str], targets: Mapping[str, Target]) -> list[str]:
    """Return the recipe lines of targets and of all targets that they need."""
    to_do, seen = list(names), dict[str, None]()
    while to_do and len(seen) < MOST_NEEDED:
        each = to_do.pop(0)
        if each in targets and each not in seen:
            seen[each] = None
            to_do += targets[each].needs
    return [line for each in seen for line in targets[each].lines]


def read_targets(file: str, text: str, found: Targets) -> list[str]:
    """Collect the targets of a build file, by its name; returns the files that it includes."""
    if file not in JUSTFILES and file not in TASKFILES:
        return read_makefile(text, found)
    found.update(read_justfile(text) if file in JUSTFILES else read_taskfile(text))
    return []


def read_makefile(text: str, found: Targets) -> list[str]:
    """Collect the targets of one file; returns the files that it includes."""
    included: list[str] = []
    current: list[Target] = []
    in_define = False
    for line in re.sub(r"\\\r?\n", " ", text).splitlines()[:MOST_LINES]:
        if in_define or _DEFINE.match(line):
            in_define = not _ENDEF.match(line)
        elif line.startswith("\t"):
            _add(line, current)
        elif include := _INCLUDE.match(line):
            included += [each for each in include[1].split("#")[0].split() if "$" not in each]
        elif rule := _RULE.match(line):
            current = _rule(rule[1], rule[2].split("#")[0], found)
    return included


def _rule(names: str, rest: str, found: Targets) -> list[Target]:
    needs, _, recipe = rest.partition(";")
    if names == ".PHONY":
        _get_or_add(needs.split(), found)
        return []
    current = _get_or_add(names.split(), found)
    for target in current:
        target.needs += needs.replace("|", " ").split()
    _add(recipe, current if recipe else ())
    return current


def _get_or_add(names: Iterable[str], found: Targets) -> list[Target]:
    return [found.setdefault(each, Target()) for each in names if "$" not in each and "%" not in each]


def _add(line: str, targets: Iterable[Target]) -> None:
    for target in targets:
        target.lines.append(line)


def read_justfile(text: str) -> Targets:
    """Return the recipes of a justfile, and their aliases."""
    found: Targets = {}
    current: list[Target] = []
    for line in text.splitlines():
        if line[:1] in (" ", "\t"):
            _add(line, current)
        elif alias := _ALIAS.match(line):
            found.setdefault(alias[1], Target()).needs.append(alias[2])
        elif recipe := _RECIPE.match(line):
            current = _get_or_add([recipe[1]], found)
            current[0].needs += re.findall(r"[\w-]+", recipe[2].split("#")[0])
    return found


def read_taskfile(text: str) -> Targets:
    """Return the tasks of a Taskfile: the keys directly under `tasks`."""
    found: Targets = {}
    indent, inside = "", False
    current: list[Target] = []
    for line in text.splitlines():
        if line[:1] not in ("", " ", "\t", "#"):
            inside, indent, current = line.startswith("tasks:"), "", []
        elif inside and (key := _TASK.match(line)) and key[1] == (indent := indent or key[1]):
            current = _get_or_add([key[3]], found)
            _add(line[key.end() :], current)
        else:
            _add(line, current)
    return found
