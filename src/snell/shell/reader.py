"""
List the commands of a line the way a POSIX shell or bash would run them, without running it.

The reader is conservative. What it lists is there; when it cannot be sure that it lists everything, it says so:
`understood` is False when the text could not be read with certainty, `dynamic` is True when something that is run is
known at run time only. Text that is data (quoted arguments, here-documents, comments) is never listed as a command.

`ssh`, `docker exec`, `watch` and other programs that run commands elsewhere or in their own way are not looked into.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import itemgetter

from snell.shell import tree
from snell.shell.command_line import Command, CommandLine, Redirect
from snell.shell.grammar import make_tree
from snell.shell.inner_scripts import (
    MOST_COMMANDS,
    Findings,
    Streams,
    executed_by_find,
    handed_to_shells,
    look_through,
    may_run_others,
)
from snell.shell.simple_lines import LONGEST_SHARED, simple_tree
from snell.shell.tree import Node, Part, Simple, Substitution, Text, Variable, Word
from snell.shell.word_texts import WordText, assignments_of, redirects_of, words_of
from snell.system.lazy_regex import lazy_regex

__all__ = ["Command", "CommandLine", "Redirect", "is_escaped", "read", "without_escape"]

LONGEST_LINE = 64 * 1024

_ESCAPED = lazy_regex(r"([ \t\n]*)!(?![\s!()|&;<>=]|\Z)")
_FIND_MARKS = frozenset(("{}",))
_MAY_CHANGE = lazy_regex(r"[~*?\[{'\"]")
_NO_WORD = Word()


def read(line: str) -> CommandLine:
    """Return every command that the line shows, and how far it was understood. No text makes it raise an error."""
    if len(line) > LONGEST_LINE:
        return CommandLine(line, understood=False)
    return _shared_line(line) if len(line) <= LONGEST_SHARED else _read(line)


def _read(line: str) -> CommandLine:
    simple = simple_tree(line)
    if simple and len(simple[1]) <= MOST_COMMANDS:
        commands = tuple([_simple_command(each, line) for each in simple[1]])
        if not any([may_run_others(each.program) or not each.literal[0] for each in commands]):  # noqa: C419 - few
            return CommandLine(line, commands)
    findings = Findings()
    try:
        top = make_tree(line, findings.budget)
        commands = tuple(_Lister(line, findings).commands(top, 0))
    except RecursionError:
        return CommandLine(line, understood=False)
    return CommandLine(line, commands, not findings.budget.doubtful, findings.dynamic, findings.substitutes)


_shared_line = lru_cache(maxsize=256)(_read)  # several hooks read a line, before the call and after it


def is_escaped(line: str) -> bool:
    """Return whether the line starts with `!word`, a person's request to run it as it is; `! word` is a negation."""
    return _ESCAPED.match(line) is not None


def without_escape(line: str) -> str:
    """Return the line without its leading `!`, if that is an escape."""
    return _ESCAPED.sub(r"\1", line, count=1) if is_escaped(line) else line


def _simple_command(node: Simple, line: str) -> Command:
    start, end = node.start, node.end
    text = line[start:end]
    if node.redirects or _MAY_CHANGE.search(text):
        return _command(node, words_of(node, line), line)
    words = tuple([word.parts[0].text for word in node.words if type(word.parts[0]) is Text])
    spans = tuple([(word.start - start, word.end - start) for word in node.words])
    return Command(words, (True,) * len(words), spans, (), (), text, start, end)


def _command(
    node: Simple, words: Sequence[WordText], source: str, place: tuple[int, int] | None = None, depth: int = 0
) -> Command:
    start, end = node.start, node.end
    return Command(
        tuple([word.text for word in words]),
        tuple([word.literal for word in words]),
        tuple([(word.start - start, word.end - start) for word in words]),
        assignments_of(node, source) if node.assignments else (),
        redirects_of(node, source) if node.redirects else (),
        source[start:end],
        *(place or (start, end)),
        depth,
        node.negated,
        place is not None,
    )


class _Lister:
    """
    Lists the commands of one text, and of the texts in it that have to be decoded before they can be read.

    `place` is where such a text stands in the line: offsets are those of the line, or of what holds the text in it.
    """

    def __init__(self, source: str, findings: Findings, place: tuple[int, int] | None = None) -> None:
        self._source = source
        self._findings = findings
        self._place = place
        self._found: list[tuple[int, Command]] = []

    def commands(self, top: Node, depth: int) -> list[Command]:
        """Return the commands in the order of the text; those of a here-document follow the line that announces it."""
        self._list(top, depth)
        self._found.sort(key=itemgetter(0))
        return [command for _start, command in self._found]

    def _list(self, node: Node, depth: int) -> None:
        if type(node) is Simple:
            self._list_simple(node, depth)
        elif isinstance(node, Simple):  # a condition: only what is substituted in it runs
            self._look_in_words(node.words, depth)
        elif isinstance(node, tree.Pipe | tree.Chain):
            for each in node.nodes:
                self._list(each, depth)
        elif isinstance(node, tree.Function):
            self._list(node.body, depth + 1)
        else:
            self._list_compound(node, depth)

    def _list_compound(self, node: tree.Compound, depth: int) -> None:
        """List what is inside; redirections are a command without words, so that hooks see them."""
        if isinstance(node, tree.For):
            self._look_in_words(node.items or (), depth + 1)
        if isinstance(node, tree.Loop):
            self._list(node.condition, depth + 1)
        for each in node.nodes if isinstance(node, tree.Branches) else (node.body,):
            self._list(each, depth + 1)
        if node.redirects:
            span = (node.redirects[0].start, node.redirects[-1].end)
            self._list_simple(Simple((), (), node.redirects, *span), depth)

    def _list_simple(self, node: Simple, depth: int) -> None:
        if node.end == node.start:
            return
        self._add(node, words_of(node, self._source), depth, node.start)
        self._look_in_words(node.words, depth)
        for assignment in node.assignments:
            self._look_in(assignment.inside, depth)
            self._look_in_words((assignment.value, *(assignment.items or ())), depth)
        for redirect in node.redirects:
            self._look_in_words((redirect.target, redirect.body or _NO_WORD), depth)

    def _add(
        self, node: Simple, words: Sequence[WordText], depth: int, key: int, marks: frozenset[str] = frozenset()
    ) -> None:
        """Add the command, and those that it hands to a shell or has `find` run."""
        source = self._source
        command = _command(node, words, source, self._place, depth)
        self._found.append((key, command))
        if not words or (words[0].literal and not marks and not may_run_others(command.program)):
            return
        inner = look_through(words, marks, self._findings)
        for code in handed_to_shells(inner, Streams(node.redirects, source), self._findings):
            if self._findings.may_reread(len(code), depth + 1):
                top = make_tree(code, self._findings.budget)
                self._list_inside(top, code, key, (command.start, command.end), depth + 1)
        for run in executed_by_find(inner.words):
            part = Simple(start=run[0].start, end=run[-1].end)
            if not self._findings.may_reread(part.end - part.start, depth + 1):
                return
            self._add(part, run, depth + 1, key, _FIND_MARKS)

    def _list_inside(self, top: Node, source: str, key: int, place: tuple[int, int], depth: int) -> None:
        """List the commands of a text that was decoded first."""
        inner = _Lister(source, self._findings, self._place or place)
        self._found.extend([(key, command) for command in inner.commands(top, depth)])

    def _look_in_words(self, words: Iterable[Word], depth: int) -> None:
        for word in words:
            parts = word.parts
            if len(parts) != 1 or type(parts[0]) is not Text:
                self._look_in(parts, depth)

    def _look_in(self, parts: Iterable[Part], depth: int) -> None:
        """List the commands whose output these parts are made from."""
        for part in parts:
            if isinstance(part, Text):
                continue
            if isinstance(part, Substitution):
                self._findings.substitutes |= not part.process
                if part.code is None:
                    self._list(part.body, depth + 1)
                else:
                    self._list_inside(part.body, part.code, part.start, (part.start, part.end), depth + 1)
            elif isinstance(part, Variable):
                self._look_in((*part.subscript, *(part.argument.parts if part.argument else ())), depth + 1)
            else:
                self._look_in(part.inside, depth + 1)
