"""
A command line with the project's own commands in it.

Only the words that name the runner change: arguments, selections, environment, `cd x &&`, pipes and everything else
stay. Where they could not stay, nothing changes.
"""

import os
import shlex

from msgspec import Struct

from snell.kit.shell import Command, CommandLine, escaped, read, without_escape
from snell.packs.toolchain.chains import Answer, Toolchain, answer_for
from snell.packs.toolchain.projects import Project, folders_above
from snell.packs.toolchain.typed import MANAGERS, TOOLS, Typed, typed


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


def redirected(line: str, cwd: str, ceiling: str = "", more: tuple[Toolchain, ...] = ()) -> Redirected:
    """The line as this project would have it run."""
    if escaped(line):
        return Redirected(None, f"escaped: `{without_escape(line).strip()[:80]}` runs as typed, without the `!`")
    if not line.strip():
        return Redirected(None, "there is nothing to run")
    if not TOOLS.search(line):
        return Redirected(None, "no test, build or lint command in it")
    parsed = read(line)
    if not parsed.understood:
        return Redirected(None, "the line cannot be read with certainty")
    parts, reasons = _parts(parsed, cwd, ceiling, more)
    if not parts:
        return Redirected(None, reasons[0] if reasons else "no test, build or lint command in it")
    for part in reversed(parts):
        line = line[: part.start] + part.text + line[part.end :]
    return Redirected(line, "; ".join(part.why for part in parts))


def _parts(line: CommandLine, cwd: str, ceiling: str, more: tuple[Toolchain, ...]) -> tuple[list[Part], list[str]]:
    parts: list[Part] = []
    reasons: list[str] = []
    folder: str | None = cwd
    has_inner_moves = any(command.depth and command.program in _MOVES for command in line.commands)
    for command in line.commands:
        if command.program in _MOVES and not command.depth:
            folder = _moved(command, folder)
        elif folder is not None and not (command.depth and has_inner_moves):
            came = _part(command, folder, ceiling, more, has_moved=folder != cwd)
            if isinstance(came, Part):
                parts.append(came)
            elif came:
                reasons.append(came)
    return parts, reasons


_MOVES = ("cd", "pushd", "popd")


def _moved(command: Command, folder: str | None) -> str | None:
    """Where a `cd` leads; None when that cannot be told."""
    known = len(command.words) == 2 and all(command.literal) and command.words[1] != "-"
    if not known or folder is None or command.program != "cd":
        return None
    return os.path.normpath(os.path.join(folder, os.path.expanduser(command.words[1])))


def _part(command: Command, folder: str, ceiling: str, more: tuple[Toolchain, ...], *, has_moved: bool) -> Part | str:
    """New text for one command, or why there is none."""
    inner = command.unwrapped
    if not command.replaceable or command.negated or not inner.words or not all(inner.literal[:4]):
        return ""
    asked = typed(inner.words)
    if not asked:
        return ""
    project, answer = _answer(asked, folder, ceiling, more)
    unread = f" ({'; '.join(project.unread)})" if project and project.unread else ""
    if not project or not answer:
        return f"there is no project here that says how to {asked.action}{unread}"
    name = answer.toolchain.name
    if has_moved and project.folder != folder and answer.toolchain.family != asked.family:
        return f"it runs in a part of the project, and `{answer.command or name}` is for all of it"
    made = _made(asked, inner, answer)
    if made is None:
        return f"`{inner.text[:80]}` asks for something in particular, which `{answer.command or name}` could not do"
    text, last = made
    if not text:
        return f"{name} has no command to {asked.action}{unread}"
    if name == "make" and project.folder != os.path.normpath(folder):
        text = text.replace("make", f"make -C {shlex.quote(os.path.relpath(project.folder, folder))}", 1)
    start, end = inner.start + inner.spans[0][0], inner.start + inner.spans[last - 1][1]
    old = inner.text[inner.spans[0][0] : inner.spans[last - 1][1]]
    if old.split() == text.split():
        return f"`{old}` is this project's own command"
    if not _is_one_piece(inner, last):
        return f"`{inner.text[:80]}` is too entangled to change"
    return Part(start, end, text, f"{asked.action}: {name}{unread}")


def _answer(
    asked: Typed, folder: str, ceiling: str, more: tuple[Toolchain, ...]
) -> tuple[Project | None, Answer | None]:
    """The nearest folder with a toolchain answers; those above it are other projects."""
    unread: list[str] = []
    project = None
    folders = folders_above(folder, ceiling)
    for index, each in enumerate(folders):
        project = Project(each, tuple(folders[index + 1 :]))
        answer = answer_for(asked.action, asked.family, project, more)
        unread += project.unread
        if answer or project.has("Makefile", "makefile", "GNUmakefile"):
            return project, answer
    if project:
        project.unread = unread
    return project, None


def _made(asked: Typed, command: Command, answer: Answer) -> tuple[str, int] | None:
    """The new text and how many words it replaces; None when the arguments would be lost."""
    chain = answer.toolchain
    if chain.family == asked.family == "python" and chain.runner:
        return _python(asked, command, chain)
    if chain.family == asked.family == "node" and command.words[0].lower() in MANAGERS and chain.name in MANAGERS:
        return _node(asked, command, chain.name)
    if chain.family == asked.family and chain.family in ("rust", "go"):
        return " ".join(command.words), len(command.words)  # one tool each: what was typed is right
    if {"gradle": "gradle", "mvn": "maven"}.get(command.words[0].lower()) == chain.name:
        return " ".join((answer.command.split()[0], *command.words[1 : asked.arguments_at])), asked.arguments_at
    if chain.name == "hatch" and asked.family == "python" and asked.action == "test":
        return answer.command, asked.arguments_at
    return (answer.command, len(command.words)) if asked.is_whole else None


def _python(asked: Typed, command: Command, chain: Toolchain) -> tuple[str, int]:
    """The same tool with the same arguments, started the way this project starts its tools."""
    tool = " ".join(command.words[asked.tool_at : asked.arguments_at]).lower()
    if chain.runner == "python -m" and asked.tool_at == 0:
        return tool, asked.arguments_at  # nothing to be gained
    is_module_run = chain.runner == "python -m" and command.words[0].lower().startswith("python")
    return (
        (" ".join(command.words[: asked.arguments_at]), asked.arguments_at)
        if is_module_run
        else (f"{chain.runner} {tool}", asked.arguments_at)
    )


def _node(asked: Typed, command: Command, manager: str) -> tuple[str, int] | None:
    """The same script. Only npm wants `--` before the script's arguments, and keeps others for itself."""
    old, script = command.words[0].lower(), command.words[asked.arguments_at - 1]
    if old == manager and command.words[1] != "run":
        return " ".join(command.words[: asked.arguments_at]), asked.arguments_at
    is_short = asked.action == "test" and script in ("test", "t", "tst") and manager != "bun"
    text = f"{manager} {'test' if is_short else f'run {script}'}"
    separated = asked.arguments[:1] == ("--",)
    if not asked.arguments or old == manager:
        return text, asked.arguments_at
    if old == "npm":
        return (text, asked.arguments_at + 1) if separated else None
    return (f"{text} --", asked.arguments_at + separated) if manager == "npm" else (text, asked.arguments_at)


def _is_one_piece(command: Command, last: int) -> bool:
    """Nothing but blanks between the words that are replaced: no redirection that would be lost."""
    pairs = zip(command.spans[: last - 1], command.spans[1:last], strict=True)
    return all(not command.text[end:start].strip() for (_, end), (start, _) in pairs)
