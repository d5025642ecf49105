"""Where the shell reader stands in one text, and what it has found there so far."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct, field

from snell.system.lazy_regex import lazy_regex

LONGEST_LINE = 64 * 1024
DEEPEST_NESTING = 64
MOST_COMMANDS = 2_000
# Strings handed to shells are read again, and may hold such strings themselves; this bounds the sum of them.
MOST_REREADING = 4 * LONGEST_LINE

_MARKS = ("*", "?", "=~", ":~")
_BLANKS = lazy_regex(r"(?:[ \t]|\\\n)*")
_NOT_NEWLINE = lazy_regex(r"[^\n]*")


class UnreadableError(Exception):
    """The text cannot be read on with certainty."""


class Findings(Struct):
    """What holds for a whole line, shared by the cursors over its parts."""

    doubtful: bool = False
    dynamic: bool = False
    substitutes: bool = False
    commands: int = 0
    reread: int = 0


class Word(Struct):
    """
    One word with its quotes resolved.

    `bare` is as long as `text` and holds NUL where a character was quoted or is part of an expansion: what is left
    is what the shell itself would act on.
    """

    text: str
    bare: str
    start: int
    end: int
    literal: bool = True  # nothing in it is left for run time: no expansion, pattern, brace list or home folder
    quoted: bool = False
    may_assign: bool = True  # no empty quotes stand in what would be the name of an assignment
    expands: bool = False
    splits: bool = False  # may become several words, or none
    holes: tuple[tuple[int, int], ...] = ()

    @property
    def opaque(self) -> str:
        """The text with every substitution emptied, so that reading it again does not find those commands twice."""
        parts, done = [], 0
        for start, end in self.holes:
            parts += [self.text[done:start], "$()"]
            done = end
        return "".join([*parts, self.text[done:]])


class Parts:
    """A word while it is being put together."""

    __slots__ = ("bare", "expands", "has_equals", "holes", "length", "may_assign", "quoted", "splits", "text")

    def __init__(self) -> None:
        self.text: list[str] = []
        self.bare: list[str] = []
        self.holes: list[tuple[int, int]] = []
        self.length = 0
        self.quoted = False
        self.may_assign = True
        self.has_equals = False
        self.expands = False
        self.splits = False

    def add(self, text: str) -> None:
        self.has_equals = self.has_equals or "=" in text
        self.text.append(text)
        self.bare.append(text)
        self.length += len(text)

    def add_quoted(self, text: str) -> None:
        self.text.append(text)
        self.bare.append("\0" * len(text))
        self.length += len(text)
        self.quoted = True
        self.may_assign = self.may_assign and (bool(text) or self.has_equals)

    def add_expansion(self, source: str, *, in_text: bool = False) -> None:
        self.expands = True
        self.splits = self.splits or not in_text or "@" in source
        if "(" in source or "`" in source:
            self.holes.append((self.length, self.length + len(source)))
        self.add_quoted(source)

    def word(self, start: int, end: int) -> Word:
        text, bare = "".join(self.text), "".join(self.bare)
        return Word(
            text,
            bare,
            start,
            end,
            literal=not self.expands and _stands_for_itself(bare),
            quoted=self.quoted,
            may_assign=self.may_assign,
            expands=self.expands,
            splits=self.splits,
            holes=tuple(self.holes),
        )


class RedirectDraft(Struct):
    operator: str
    target: Word
    fd: int | None
    body: Word | None = None


class Draft(Struct):
    """A simple command while it is being read; what is there when reading fails is kept."""

    start: int
    depth: int
    negated: bool = False
    end: int = -1
    words: list[Word] = field(default_factory=list)
    assignments: list[tuple[str, str]] = field(default_factory=list)
    redirects: list[RedirectDraft] = field(default_factory=list)


class Passage(Struct):
    """Shell text that had to be decoded before it could be read, and the place that holds it."""

    text: str
    start: int
    end: int
    depth: int


class Cursor:
    """A position in a text. `end` moves in while a part is read on its own."""

    __slots__ = ("depth", "end", "findings", "found", "heredocs", "position", "read_commands", "text")

    def __init__(
        self,
        text: str,
        findings: Findings,
        read_commands: Callable[[Cursor, frozenset[str]], str],
        depth: int = 0,
    ) -> None:
        self.text = text
        self.position = 0
        self.end = len(text)
        self.depth = depth
        self.findings = findings
        self.found: list[Draft | Passage] = []
        self.heredocs: list[RedirectDraft] = []
        self.read_commands = read_commands

    def peek(self, ahead: int = 0) -> str:
        """The character there; empty past the end."""
        at = self.position + ahead
        return self.text[at] if at < self.end else ""

    def sees(self, text: str) -> bool:
        return self.text.startswith(text, self.position, self.end)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match a pattern here and step over it."""
        found = pattern.match(self.text, self.position, self.end)
        if found:
            self.position = found.end()
        return found

    def expect(self, text: str) -> None:
        if not self.sees(text):
            raise UnreadableError(f"`{text}` is missing")
        self.position += len(text)

    def skip_blanks(self) -> None:
        self.take(_BLANKS)

    def skip_comment(self) -> None:
        self.take(_NOT_NEWLINE)

    def go_deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST_NESTING:
            raise UnreadableError("nested too deeply")

    def add(self, draft: Draft) -> Draft:
        self.findings.commands += 1
        if self.findings.commands > MOST_COMMANDS:
            raise UnreadableError("too many commands")
        self.found.append(draft)
        return draft

    def doubt(self) -> None:
        """Read on, but never claim to have understood the line."""
        self.findings.doubtful = True


def _stands_for_itself(bare: str) -> bool:
    if bare.startswith("~") or any(mark in bare for mark in _MARKS) or _within(bare, "[", "]"):
        return False
    listed = _within(bare, "{", "}")
    return "," not in listed and ".." not in listed


def _within(text: str, opening: str, closing: str) -> str:
    """What stands between the first opening and the last closing mark, both included."""
    start, end = text.find(opening), text.rfind(closing)
    return text[start : end + 1] if 0 <= start < end else ""
