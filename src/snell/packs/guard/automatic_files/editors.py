"""What editors and development containers run when a folder is opened."""

import re
from collections.abc import Iterator
from typing import Any

from snell.packs.guard.automatic_files.entries import (
    ELSEWHERE,
    Entry,
    command_line,
    member,
    members_of_part,
    objects,
    read_json,
)
from snell.system.lazy_regex import lazy_regex

_OPENED = "when the folder is opened in the editor"
_STARTED = "when the task is started in the editor"
_ON_OPEN = lazy_regex(r'"runOn"\s*:\s*"folderOpen"', re.IGNORECASE)


def read_tasks(text: str) -> Iterator[Entry]:
    """Yield the tasks of an editor; those that start when the folder is opened are asked about."""
    value = read_json(text)
    tasks = member(value, "tasks")
    tasks = member(tasks, "tasks") if isinstance(tasks, dict) else tasks  # of a `.code-workspace`
    if isinstance(tasks, list):
        for task in tasks:
            yield from _task(task)
    elif value is None:
        opens = _ON_OPEN.search(text) is not None
        lines = [line for name, line in members_of_part(text) if name in ("command", "script")]
        for line in lines or (["a task"] if opens else []):
            yield Entry(line, _OPENED if opens else _STARTED, asks=opens)
    yield from read_editor_settings(text)


def _task(task: Any) -> Iterator[Entry]:
    opens = str(member(task, "runOptions", "runOn")).lower() == "folderopen"
    systems = [task, *(member(task, system) for system in ("linux", "osx", "windows"))]
    lines = [command_line(member(each, "command"), member(each, "args")) for each in systems]
    script = member(task, "script")
    lines += [f"npm run {script}"] if isinstance(script, str) else []
    for line in filter(None, lines):
        yield Entry(line, _OPENED if opens else _STARTED, asks=opens)


# Settings of editors that name a program, where its value is a file of the project or of all users.
_PROGRAM_SETTING = lazy_regex(
    r"(?:git\.path|.*(?:executable|executablepath|interpreterpath|serverpath|binarypath|binpath|shellpath|runtimepath"
    r"|nodepath|terminal\.integrated\.(?:shell|automationshell)\.\w+|tsdk|toolspath))",
    re.IGNORECASE,
)
_UNASKED = lazy_regex(r".*(?:auto-?approve|skip-?permissions|bypass-?permissions|yolo).*", re.IGNORECASE)
_TRUST = "security.workspace.trust.enabled"
_PLANTED = lazy_regex(r"\.{1,2}/|\$\{workspaceFolder\}|/tmp/|/var/tmp/|/dev/shm/", re.IGNORECASE)
_USUAL = lazy_regex(r"(?:^|/)\.?v?env\w*(?:/|$)|/node_modules/|/\.(?:tox|nox|pixi|conda|yarn)/")
_LOADER = lazy_regex(
    r"LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|BASH_ENV|PROMPT_COMMAND|NODE_OPTIONS|PYTHONSTARTUP|PATH"
)


def read_editor_settings(text: str) -> Iterator[Entry]:
    """Yield the settings by which a folder makes the editor run its own programs."""
    value = read_json(text)
    settings = member(value, "settings") if isinstance(member(value, "settings"), dict) else value
    pairs = list(settings.items()) if isinstance(settings, dict) else members_of_part(text)
    for name, given in pairs:
        if name == "task.allowAutomaticTasks" and given in ("on", True):
            yield Entry(f"{name}: on", "for every task that starts when a folder is opened", asks=True)
        elif _lifts_questions(name, given):
            yield Entry(f"{name}: {given}", "in the editor, without asking you", asks=True)
        elif isinstance(given, str) and _PROGRAM_SETTING.fullmatch(name):
            if _PLANTED.match(given) and not _USUAL.search(given):
                yield Entry(given, f"as `{name}`, when the editor uses it", asks=True)
        else:
            yield from _terminal_settings(name, given)


def _lifts_questions(name: str, given: Any) -> bool:
    return given is False if name == _TRUST else bool(given) and given != "off" and _UNASKED.fullmatch(name) is not None


def _terminal_settings(name: str, given: Any) -> Iterator[Entry]:
    if name.startswith("terminal.integrated.env.") and isinstance(given, dict):
        for variable in filter(_LOADER.fullmatch, given):
            yield Entry(f"{variable}={given[variable]}", "in every terminal of the editor", asks=True)
    elif name.startswith(("terminal.integrated.profiles.", "terminal.integrated.automationProfile.")):
        yield from _profiles(given)


def _profiles(given: Any) -> Iterator[Entry]:
    for profile in (given, *objects(given).values()):
        line = command_line(member(profile, "path"), member(profile, "args"))
        if line and (_PLANTED.match(line) or member(profile, "args")):
            yield Entry(line, "in every terminal of the editor", asks=bool(_PLANTED.match(line)))


_LIFECYCLE = {
    "initializeCommand": "on this machine, before the development container is made",
    "onCreateCommand": "when the development container is made",
    "updateContentCommand": "when the development container is made",
    "postCreateCommand": "when the development container is made",
    "postStartCommand": "whenever the development container starts",
    "postAttachCommand": "whenever an editor opens the development container",
}
_HOST_FOLDER = lazy_regex(
    r"\$\{localEnv:(?:HOME|USERPROFILE)\}(?:[,\"/]?(?=,|$)|/\.(?:ssh|aws|gnupg|kube|docker|config|netrc|npmrc))"
    r"|docker\.sock|source=/(?:,|etc|root|home)|--privileged|--pid=host|--network=host|--cap-add=(?:ALL|SYS_ADMIN)"
)


def read_devcontainer(text: str) -> Iterator[Entry]:
    """Yield the commands of a development container, and what it gets of this machine."""
    value = read_json(text)
    pairs = list(value.items()) if isinstance(value, dict) else members_of_part(text)
    for name, given in pairs:
        for line in _lifecycle_lines(given) if name in _LIFECYCLE else ():
            is_here = name == "initializeCommand"
            yield Entry(line, _LIFECYCLE[name], asks=is_here, where="here" if is_here else ELSEWHERE)
        if name == "privileged" and given is True:
            yield Entry("--privileged", "with the rights of this machine", asks=True, where=ELSEWHERE)
        if name in ("mounts", "runArgs", "workspaceMount") and (found := _HOST_FOLDER.search(str(given))):
            yield Entry(found[0], "with files or rights of this machine in the container", asks=True, where=ELSEWHERE)


def _lifecycle_lines(given: Any) -> list[str]:
    if isinstance(given, dict):  # commands by name, which run side by side
        return [command_line(each) for each in given.values()]
    return [command_line(given)]
