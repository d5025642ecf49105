"""Which targets a Makefile, justfile or Taskfile has: read as rules, not as text in which a word occurs."""

import re

from snell.kit.late_pattern import late
from snell.packs.toolchain.projects import Project

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # in the order in which make looks for them
JUSTFILES = ("justfile", ".justfile", "Justfile", "JUSTFILE")
TASKFILES = tuple(f"{name}.{end}" for name in ("Taskfile", "taskfile", "Taskfile.dist") for end in ("yml", "yaml"))
MOST_INCLUDES = 20

_RULE = late(r"(?!\t)\s*([^\s#:=][^#:=]*?)\s*::?(?![:=])(.*)")
_INCLUDE = late(r"\s*(?:-|s)?include\s+(.+)")
_DEFINE = late(r"\s*(?:override\s+|export\s+)*define\b")
_ENDEF = late(r"\s*endef\b")
_RECIPE = late(r"@?([A-Za-z_][\w-]*)(?:\s+[^:]*)?:(?!=)")
_ALIAS = late(r"alias\s+([A-Za-z_][\w-]*)\s*:=")
_TASK = late(r"(\s+)(['\"]?)([\w:.-]+)\2\s*:(?:\s|$)")


def make_targets(project: Project) -> frozenset[str]:
    """The targets of the Makefile that make would read."""
    name = next((each for each in MAKEFILES if each in project.names), "")
    found: set[str] = set()
    to_read, seen = [name] if name else [], 0
    while to_read and seen < MOST_INCLUDES:
        seen += 1
        for included in _read_makefile(project.text(to_read.pop(0)), found):
            to_read += project.matching(included) if any(mark in included for mark in "*?[") else [included]
    return frozenset(found)


def _read_makefile(text: str, found: set[str]) -> list[str]:
    """Collect the targets of one file; returns the files that it includes."""
    included: list[str] = []
    in_define = False
    for line in _logical_lines(text):
        if in_define or _DEFINE.match(line):
            in_define = not _ENDEF.match(line)
        elif line.startswith("\t"):
            continue
        elif include := _INCLUDE.match(line):
            included += [each for each in include[1].split("#")[0].split() if "$" not in each]
        elif rule := _RULE.match(line):
            names = rule[2] if rule[1] == ".PHONY" else rule[1]
            found.update(each for each in names.split("#")[0].split() if "$" not in each and "%" not in each)
    return included


def _logical_lines(text: str) -> list[str]:
    return re.sub(r"\\\r?\n", " ", text).splitlines()


def just_recipes(project: Project) -> frozenset[str]:
    """The recipes of a justfile, and their aliases."""
    name = next((each for each in JUSTFILES if each in project.names), "")
    found = (_ALIAS.match(line) or _RECIPE.match(line) for line in project.text(name).splitlines()) if name else ()
    return frozenset(each[1] for each in found if each)


def task_names(project: Project) -> frozenset[str]:
    """The tasks of a Taskfile: the keys directly under `tasks`."""
    name = next((each for each in TASKFILES if each in project.names), "")
    names: set[str] = set()
    indent, inside = "", False
    for line in project.text(name).splitlines() if name else ():
        if line[:1] not in ("", " ", "\t", "#"):
            inside, indent = line.startswith("tasks:"), ""
        elif inside and (key := _TASK.match(line)):
            indent = indent or key[1]
            if key[1] == indent:
                names.add(key[3])
    return frozenset(names)
