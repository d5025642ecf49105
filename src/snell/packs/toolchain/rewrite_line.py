"""
A command line with the project's own commands in it.

Only the words that name the runner change: arguments, selections, environment, `cd x &&`, pipes and everything else
stay. Where they could not stay, nothing changes.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from snell.packs.toolchain.command_intent import TOOLS, CommandIntent, command_intent
from snell.packs.toolchain.projects import Project, folders_above, is_repository
from snell.packs.toolchain.runner_words import command_for, seen_from
from snell.packs.toolchain.targets import MAKEFILES
from snell.packs.toolchain.toolchains import Answer, Toolchain, answer_for, toolchains_from
from snell.packs.toolchain.whole_command import action_of, project_command
from snell.packs.toolchain.working_folders import with_folders
from snell.shell.reader import Command, CommandLine, is_escaped, read, without_escape


class Redirected(Struct, frozen=True):
    """What becomes of a line; `command` is None when it stays as it is."""

    command: str | None
    why: str


class Part(Struct, frozen=True):
    """New text for a part of a line."""

    start: int
    end: int
    text: str
    why: str


def redirect_command(options: Mapping[str, Any], line: str, cwd: str, ceiling: str = "") -> Redirected:
    """The line as this project would have it run, by the options of the pack."""
    if options.get("mode") != "seed":
        return redirect_line(line, cwd, ceiling, toolchains_from(options.get("toolchains", {})))
    action = action_of(line)
    command = project_command(action, Project(cwd)) if action else ""
    changes = command not in ("", line)
    return Redirected(command, f"Redirected: {action}") if changes else Redirected(None, "passed through")


def redirect_line(line: str, cwd: str, ceiling: str = "", more: tuple[Toolchain, ...] = ()) -> Redirected:
    """The line as this project would have it run."""
    if "!" in line and is_escaped(line):
        return Redirected(without_escape(line), "`!` asks to run it as typed")
    if not line.strip():
        return Redirected(None, "there is nothing to run")
    if not TOOLS.search(line):
        return Redirected(None, NOTHING)
    parsed = read(line)
    if not parsed.understood:
        return Redirected(None, "the line cannot be read with certainty")
    parts, reasons = _parts(parsed, cwd, ceiling, more)
    if not parts:
        return Redirected(None, reasons[0] if reasons else NOTHING)
    for part in reversed(parts):
        line = line[: part.start] + part.text + line[part.end :]
    return Redirected(line, "; ".join(part.why for part in parts))


NOTHING = "no test, build or lint command in it"


def _parts(line: CommandLine, cwd: str, ceiling: str, more: tuple[Toolchain, ...]) -> tuple[list[Part], list[str]]:
    parts: list[Part] = []
    reasons: list[str] = []
    for command, folder in with_folders(line, cwd):
        if folder is None:
            continue
        came = _part(command, folder, ceiling, more, has_moved=folder != cwd)
        if isinstance(came, Part):
            parts.append(came)
        elif came:
            reasons.append(came)
    return parts, reasons


def _part(command: Command, folder: str, ceiling: str, more: tuple[Toolchain, ...], *, has_moved: bool) -> Part | str:
    """New text for one command, or why there is none."""
    inner = command.inner_command
    asked = _asked(command, inner)
    if not asked:
        return ""
    project, answer = _answer(asked, folder, ceiling, more)
    unread = f" ({'; '.join(project.unread)})" if project.unread else ""
    if not answer:
        return f"there is no project here that says how to {asked.action}{unread}"
    name, shown = answer.toolchain.name, inner.text[:80]
    if answer.is_foreign:
        return f"`{shown}` is for {asked.family}, and `{answer.command or name}` is for something else{unread}"
    if has_moved and project.folder != folder and answer.toolchain.family != asked.family:
        return f"it runs in a part of the project, and `{answer.command or name}` is for all of it{unread}"
    made = command_for(asked, inner, answer, project)
    if made is None:
        return f"`{shown}` asks for something in particular, which `{answer.command or name}` could not do{unread}"
    if not made.text:
        return f"{name} has no command to {asked.action}{unread}"
    text = seen_from(folder, made.text, answer.toolchain, project)
    start, end = inner.spans[0][0], inner.spans[made.words - 1][1]
    if inner.text[start:end].split() == text.split():
        return f"`{inner.text[start:end]}` is right as it is{unread}"
    if not _is_one_piece(inner, made.words):
        return f"`{shown}` is too entangled to change"
    return Part(inner.start + start, inner.start + end, text, f"{asked.action}: {name}{unread}")


def _asked(command: Command, inner: Command) -> CommandIntent | None:
    """What a command asks for, if other text may take its place."""
    if not command.replaceable or command.negated or not inner.words:
        return None
    # What run time decides is a selection, whatever it looks like; so is what `xargs` adds.
    words = [word if sure else "$" for word, sure in zip(inner.words, inner.literal, strict=True)]
    programs = [layer.program for layer in command.layers][:-1]
    return command_intent([*words, "$"] if "xargs" in programs else words)


def _answer(
    asked: CommandIntent, folder: str, ceiling: str, more: tuple[Toolchain, ...]
) -> tuple[Project, Answer | None]:
    """The nearest folder with a toolchain answers; those above it are other projects."""
    folders = folders_above(folder, ceiling)
    unread: list[str] = []
    project, answer = Project(folder), None
    for index, each in enumerate(folders):
        project = Project(each, tuple(folders[index + 1 :]))
        answer = answer_for(asked.action, asked.family, project, more, is_whole=asked.is_whole)
        unread += project.unread
        if answer or project.has(*MAKEFILES):
            break
    if not answer and not ceiling and not is_repository(folders[-1]):
        unread.append(f"no git repository: looked no further than `{folders[-1]}`")
    project.unread = unread
    return project, answer


def _is_one_piece(command: Command, last: int) -> bool:
    """Nothing but blanks between the words that are replaced: no redirection that would be lost."""
    pairs = zip(command.spans[: last - 1], command.spans[1:last], strict=True)
    return all(not command.text[end:start].strip() for (_, end), (start, _) in pairs)
