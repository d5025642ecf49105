"""The targets of a project's Makefile, justfile or Taskfile."""

from snell.packs.toolchain.projects import Project
from snell.shell.build_targets import (
    JUSTFILES,
    MAKEFILES,
    TASKFILES,
    Targets,
    read_justfile,
    read_makefile,
    read_taskfile,
)

MOST_INCLUDES = 20


def make_targets(project: Project) -> Targets:
    """Return the targets of the Makefile that make would read, and of the files that it includes."""
    name = next((each for each in MAKEFILES if each in project.names), "")
    found: Targets = {}
    to_read, seen = [name] if name else [], 0
    while to_read and seen < MOST_INCLUDES:
        seen += 1
        for included in read_makefile(project.text(to_read.pop(0)), found):
            to_read += project.matching(included) if any(mark in included for mark in "*?[") else [included]
    return found


def just_recipes(project: Project) -> Targets:
    name = next((each for each in JUSTFILES if each in project.names), "")
    return read_justfile(project.text(name)) if name else {}


def task_names(project: Project) -> Targets:
    name = next((each for each in TASKFILES if each in project.names), "")
    return read_taskfile(project.text(name)) if name else {}
