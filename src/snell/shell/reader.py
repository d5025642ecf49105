"""
Read a command line the way a POSIX shell or bash would, without running it.

The reader is conservative. What it lists is there; when it cannot be sure that it lists everything, it says so:
`understood` is False when the text could not be read with certainty, `dynamic` is True when something that is run is
known at run time only. Text that is data (quoted arguments, here-documents, comments) is never listed as a command.

`ssh`, `docker exec`, `watch` and other programs that run commands elsewhere or in their own way are not looked into.
"""

from collections.abc import Iterator

from snell.shell.command_line import Command, CommandLine, Redirect
from snell.shell.cursor import (
    DEEPEST_NESTING,
    LONGEST_LINE,
    MOST_COMMANDS,
    MOST_REREADING,
    Cursor,
    Draft,
    Findings,
    Passage,
    RedirectDraft,
    UnreadableError,
    Word,
)
from snell.shell.grammar import AT_END, read_commands
from snell.shell.inner_scripts import executed_by_find, handed_to_shells, look_through
from snell.system.lazy_regex import lazy_regex

__all__ = ["Command", "CommandLine", "Redirect", "is_escaped", "read", "without_escape"]

_ESCAPED = lazy_regex(r"([ \t\n]*)!(?![\s!()|&;<>=]|\Z)")
_NO_MARKS: frozenset[str] = frozenset()


def read(line: str) -> CommandLine:
    """Every command that the line shows, and how far it could be understood. Never raises, whatever the text."""
    if len(line) > LONGEST_LINE:
        return CommandLine(line, understood=False)
    findings = Findings()
    commands = tuple(_commands_in(Passage(line, 0, len(line), 0), findings, embedded=False))
    return CommandLine(
        line,
        commands,
        understood=not findings.doubtful,
        dynamic=findings.dynamic,
        substitutes=findings.substitutes,
    )


def is_escaped(line: str) -> bool:
    """The line starts with `!word`, by which a person asks to run it as it is. `! word` is the shell's negation."""
    return _ESCAPED.match(line) is not None


def without_escape(line: str) -> str:
    """The line without its leading `!`, where that is an escape."""
    return _ESCAPED.sub(r"\1", line, count=1) if is_escaped(line) else line


def _commands_in(passage: Passage, findings: Findings, *, embedded: bool) -> Iterator[Command]:
    cursor = Cursor(passage.text, findings, read_commands, passage.depth)
    try:
        read_commands(cursor, AT_END)
        findings.doubtful |= bool(cursor.heredocs)
    except (UnreadableError, RecursionError):
        findings.doubtful = True
    for item in cursor.found:
        if isinstance(item, Passage):
            yield from _reread(_outer_passage(item, passage, embedded=embedded), findings)
        elif item.end >= 0:
            yield from _with_inner(item, passage, findings, _NO_MARKS, embedded=embedded)


def _reread(passage: Passage, findings: Findings) -> Iterator[Command]:
    """Read a text that was decoded first, within what is left of the limits."""
    if _affordable(findings, len(passage.text), passage.depth):
        yield from _commands_in(passage, findings, embedded=True)


def _affordable(findings: Findings, length: int, depth: int) -> bool:
    """Count a part that is read once more; past the limits, doubt takes its place."""
    findings.reread += length
    findings.commands += 1
    if findings.reread <= MOST_REREADING and findings.commands <= MOST_COMMANDS and depth <= DEEPEST_NESTING:
        return True
    findings.doubtful = True
    return False


def _with_inner(
    draft: Draft, passage: Passage, findings: Findings, marks: frozenset[str], *, embedded: bool
) -> Iterator[Command]:
    """The command, and those that it hands to a shell or has `find` run."""
    command = _make_command(draft, passage, embedded=embedded)
    yield command
    inner = look_through(draft.words, marks, findings)
    for code in handed_to_shells(draft, inner, findings):
        yield from _reread(Passage(code, command.start, command.end, draft.depth + 1), findings)
    for words in executed_by_find(inner.words):
        part = Draft(words[0].start, draft.depth + 1, end=words[-1].end, words=list(words))
        if not _affordable(findings, part.end - part.start, part.depth):
            return
        yield from _with_inner(part, passage, findings, frozenset(("{}",)), embedded=embedded)


def _outer_passage(inner: Passage, outer: Passage, *, embedded: bool) -> Passage:
    """Offsets are those of the line; inside a decoded text they are of what holds it."""
    return Passage(inner.text, outer.start, outer.end, inner.depth) if embedded else inner


def _make_command(draft: Draft, passage: Passage, *, embedded: bool) -> Command:
    return Command(
        words=tuple(word.text for word in draft.words),
        literal=tuple(word.literal for word in draft.words),
        spans=tuple((word.start - draft.start, word.end - draft.start) for word in draft.words),
        assignments=tuple(draft.assignments),
        redirects=tuple(_redirect(redirect) for redirect in draft.redirects),
        text=passage.text[draft.start : draft.end],
        start=passage.start if embedded else draft.start,
        end=passage.end if embedded else draft.end,
        depth=draft.depth,
        negated=draft.negated,
        embedded=embedded,
    )


def _redirect(draft: RedirectDraft) -> Redirect:
    return Redirect(draft.operator, draft.target.text, draft.fd, draft.target.literal, _body(draft.body))


def _body(body: Word | None) -> str | None:
    return None if body is None else body.text
