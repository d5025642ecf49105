"""
Rewrite a command line to use the project's own commands.

Only the words that name the runner change: arguments, selections, environment, `cd x &&`, pipes and everything else
stay. If they could not stay, nothing changes.
"""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.packs.toolchain.command_intent import CommandIntent, command_intent, may_have_tool
from snell.packs.toolchain.projects import Lookups, Project, folders_above, is_repository
from snell.packs.toolchain.runner_words import Replacement, from_folder, replacement_for
from snell.packs.toolchain.toolchains import (
    PYTHON_JOBS,
    ProjectCommand,
    Toolchain,
    command_for_job,
    table,
    toolchains_from,
)
from snell.shell.build_targets import MAKEFILES
from snell.shell.reader import LONGEST_LINE, Command, CommandLine, is_escaped, read, without_escape
from snell.shell.working_folders import with_folders


class Redirection(Struct, frozen=True):
    """The result for a line; `command` is None when it stays as it is."""

    command: str | None
    why: str


class Part(Struct, frozen=True):
    """New text for a part of a line."""

    start: int
    end: int
    text: str
    why: str


def redirect_command(options: Mapping[str, Any], line: str, cwd: str, ceiling: str = "") -> Redirection:
    """Return the line as this project would run it, by the options of the pack."""
    if options.get("mode") != "seed":
        more = toolchains_from(written) if (written := options.get("toolchains")) else ()
        return redirect_line(line, cwd, ceiling, more) if more or ceiling else _remembered_redirection(line, cwd)
    action = action_of(line)
    command = project_command(action, Project(cwd)) if action else ""
    changes = command not in ("", line)
    return Redirection(command, f"Redirected: {action}") if changes else Redirection(None, "passed through")


NOTHING = "it has no test, build or lint command"
UNCHANGED = Redirection(None, NOTHING)

MOST_REMEMBERED, LONGEST_REMEMBERED = 256, 2_000  # lines, and characters of one
_remembered: dict[tuple[str, str], tuple[Lookups, Redirection]] = {}


def _remembered_redirection(line: str, cwd: str) -> Redirection:
    """Return what `redirect_line` returns; agents run the same lines again and again, in the same project."""
    known = _remembered.get((line, cwd))
    if known and known[0].are_current():
        return known[1]
    is_short = len(line) <= LONGEST_REMEMBERED
    if is_short and not known and not may_have_tool(line) and "!" not in line and line.strip():
        return UNCHANGED  # most lines
    lookups = Lookups()
    result = redirect_line(line, cwd, lookups=lookups)
    if is_short and lookups.has_any:
        if len(_remembered) >= MOST_REMEMBERED:
            _remembered.clear()
        _remembered[line, cwd] = lookups, result
    return result


def redirect_line(
    line: str, cwd: str, ceiling: str = "", more: tuple[Toolchain, ...] = (), lookups: Lookups | None = None
) -> Redirection:
    """Return the line as this project would run it; `lookups` notes what was read on the disk."""
    if "!" in line and is_escaped(line):
        return Redirection(without_escape(line), "`!` asks to run it as typed")
    if len(line) > LONGEST_LINE:
        return Redirection(None, f"the line is longer than {LONGEST_LINE // 1024} KB")
    if not line.strip():
        return Redirection(None, "the line is empty")
    if not may_have_tool(line):
        return UNCHANGED
    parsed = read(line)
    if not parsed.understood:
        return Redirection(None, "the line cannot be parsed with certainty")
    parts, reasons = _parts(parsed, Search(cwd, ceiling, more, lookups or Lookups()))
    if not parts:
        return Redirection(None, reasons[0] if reasons else NOTHING)
    for part in reversed(parts):
        line = line[: part.start] + part.text + line[part.end :]
    return Redirection(line, "; ".join(part.why for part in parts))


class Search(Struct, frozen=True):
    """Where to look for a project's own commands, and what was looked at."""

    cwd: str
    ceiling: str
    more: tuple[Toolchain, ...]
    lookups: Lookups


def _parts(line: CommandLine, search: Search) -> tuple[list[Part], list[str]]:
    parts: list[Part] = []
    reasons: list[str] = []
    for command, folder in with_folders(line, search.cwd):
        if folder is None:
            continue
        result = _part(command, folder, search)
        if isinstance(result, Part):
            parts.append(result)
        elif result:
            reasons.append(result)
    return parts, reasons


def _part(command: Command, folder: str, search: Search) -> Part | str:
    """Return new text for one command, or why there is none."""
    inner = command.inner_command
    intent = _intent(command, inner)
    if not intent:
        return ""
    project, found = _find_command(intent, folder, search)
    if intent.job:
        job = replace(intent, action=intent.job, arguments=())
        of_job = _find_command(job, folder, search)
        if of_job[1] and of_job[1].toolchain.runs_targets and not of_job[1].is_foreign:
            intent, (project, found) = job, of_job
    unread = f" ({'; '.join(project.unread)})" if project.unread else ""
    is_part = folder not in (search.cwd, project.folder)
    replacement = _replacement(intent, inner, found, project, is_part=is_part)
    if isinstance(replacement, str) or not found:
        return f"{replacement}{unread}"
    text = from_folder(folder, replacement.text, found.toolchain, project)
    start, end = inner.spans[0][0], inner.spans[replacement.words - 1][1]
    if inner.text[start:end].split() == text.split():
        return f"`{inner.text[start:end]}` is already the project's command{unread}"
    if not _is_one_piece(inner, replacement.words):
        return f"`{inner.text[:80]}` has a redirection between the words that would change"
    return Part(inner.start + start, inner.start + end, text, f"{intent.action}: {found.toolchain.name}{unread}")


def _replacement(
    intent: CommandIntent, inner: Command, found: ProjectCommand | None, project: Project, *, is_part: bool
) -> Replacement | str:
    """Return the project's words for a command, or why there are none."""
    if not found:
        return f"there is no project here that defines how to {intent.action}"
    name, typed = found.toolchain.name, inner.text[:80]
    if found.is_foreign:
        return f"`{typed}` is for {intent.family}, and `{found.command or name}` is for another language"
    if is_part and found.toolchain.family != intent.family:
        return f"it runs in a part of the project, and `{found.command or name}` is for all of it"
    replacement = replacement_for(intent, inner, found, project)
    if replacement is None:
        return f"`{typed}` selects something, which `{found.command or name}` cannot do"
    return replacement if replacement.text else f"{name} has no command to {intent.action}"


def _intent(command: Command, inner: Command) -> CommandIntent | None:
    """Return what a command asks for, if it may be replaced."""
    if not command.replaceable or command.negated or not inner.words:
        return None
    # A word that is only known at run time is a selection, and so is what `xargs` adds.
    words = [word if sure else "$" for word, sure in zip(inner.words, inner.literal, strict=True)]
    programs = [layer.program for layer in command.layers][:-1]
    return command_intent([*words, "$"] if "xargs" in programs else words)


def _find_command(intent: CommandIntent, folder: str, search: Search) -> tuple[Project, ProjectCommand | None]:
    """Return the nearest project with a toolchain, and its command; parent folders are other projects."""
    ceiling, lookups = search.ceiling, search.lookups
    folders = folders_above(folder, ceiling, lookups)
    unread: list[str] = []
    project, found = Project(folder), None
    for index, each in enumerate(folders):
        project = Project(each, tuple(folders[index + 1 :]), lookups)
        found = command_for_job(intent.action, intent.family, project, search.more, is_whole=intent.is_whole)
        unread += project.unread
        if found or project.has(*MAKEFILES):
            break
    if not found and not ceiling and not lookups.ask(is_repository, folders[-1]):
        unread.append(f"no git repository: searched up to `{folders[-1]}`")
    project.unread = unread
    return project, found


def _is_one_piece(command: Command, last: int) -> bool:
    """Whether only blanks separate the words that are replaced: no redirection would be lost."""
    pairs = zip(command.spans[: last - 1], command.spans[1:last], strict=True)
    return all(not command.text[end:start].strip() for (_, end), (start, _) in pairs)


# The mode `seed` is that of the program which this pack replaces: it replaces the complete command of a job.


def action_of(command: str) -> str:
    """Return the job of the first detector that matches; a leading `!` means none."""
    text = command.strip()
    if text.startswith("!"):
        return ""
    detectors = table().seed.items()
    return next((action for pattern, action in detectors if re.match(pattern, text, re.IGNORECASE | re.DOTALL)), "")


def project_command(action: str, project: Project) -> str:
    """Return the command of the first toolchain that exists; only a Makefile without the target is skipped."""
    makefile = project.text("Makefile") if project.has("Makefile") else ""
    if f"{action}:" in makefile or (".PHONY:" in makefile and action in makefile):
        return f"make {action}"
    for row in table().toolchain:
        if row.name in ("cargo", "go") and project.has(*row.files):
            return row.commands.get(action, "")
    if manager := _package_manager(project):
        return f"{manager} test" if action == "test" else f"{manager} run {action}"
    if project.has("pyproject.toml") and action in PYTHON_JOBS:
        return f"{'uv run' if project.has('uv.lock') else 'python -m'} {PYTHON_JOBS[action]}"
    return ""


def _package_manager(project: Project) -> str:
    locks = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "package-lock.json": "npm", "package.json": "pnpm"}
    return next((manager for lock, manager in locks.items() if project.has(lock)), "")
