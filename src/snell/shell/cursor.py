"""Where the shell reader stands in a text, what went wrong on the way, and how much may still be read."""

import re
import time
from collections.abc import Callable

from snell.shell.tree import Node, Redirect
from snell.system.lazy_regex import lazy_regex

LONGEST_TEXT = 262_144
DEEPEST_NESTING = 64
MOST_COMMANDS = 6_000
MOST_TROUBLES = 8
TOO_MANY = "it holds too many commands"
LONGEST_READING = 1.0  # seconds of processor time

_BLANKS = lazy_regex(r"(?:[ \t\r]|\\\r?\n)+")
_COMMENT = lazy_regex(r"[^\n]*")

# Reads the commands up to a closing mark, and steps over that; with an empty mark, all that is left.
BodyReader = Callable[["Cursor", str], Node]


class TooMuchError(Exception):
    """There is more to follow than may be followed."""


class Budget:
    """
    What all texts of one command line share: what went wrong, and its limits.

    `troubles` say what no shell would read, or what is too much to read. `doubtful` is also True where the text is
    read in one of the ways in which shells read it.
    """

    __slots__ = ("_until", "commands", "depth", "doubtful", "most_commands", "troubles")

    def __init__(self, most_commands: int = MOST_COMMANDS) -> None:
        self.troubles: list[str] = []
        self.doubtful = False
        self.commands = 0
        self.depth = 0
        self.most_commands = most_commands
        self._until = 0.0

    def trouble(self, text: str) -> None:
        self.doubtful = True
        if text not in self.troubles and len(self.troubles) < MOST_TROUBLES:
            self.troubles.append(text)

    def has_time(self) -> bool:
        """Return whether the first call was under a second ago, by processor time: other programs must not decide."""
        now = time.thread_time()
        self._until = self._until or now + LONGEST_READING
        return now <= self._until

    @property
    def is_spent(self) -> bool:
        return self.commands > self.most_commands


class Cursor:
    """A position in a text. `end` moves in while a part is read on its own."""

    __slots__ = ("at", "budget", "end", "has_open_group", "heredocs", "read_body", "text")

    def __init__(self, text: str, budget: Budget, read_body: BodyReader) -> None:
        self.text = text
        self.budget = budget
        self.at = 0
        self.end = len(text)
        self.heredocs: list[Redirect] = []
        self.has_open_group = False  # a pattern group that is not closed was met: look for no more of them
        self.read_body = read_body
        if "\0" in text:
            budget.doubtful = True

    @property
    def ended(self) -> bool:
        return self.at >= self.end

    def peek(self, ahead: int = 0) -> str:
        """Return the character there; empty past the end."""
        at = self.at + ahead
        return self.text[at] if at < self.end else ""

    def sees(self, text: str) -> bool:
        return self.text.startswith(text, self.at, self.end)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match a pattern here and step over it."""
        found = pattern.match(self.text, self.at, self.end)
        if found:
            self.at = found.end()
        return found

    def take_rest(self) -> str:
        """Step over all that is left, and return it."""
        rest = self.text[self.at : self.end]
        self.at = self.end
        return rest

    def skip_blanks(self) -> None:
        found = _BLANKS.match(self.text, self.at, self.end)
        if found:
            self.at = found.end()
            if "\r" in found[0]:
                # Shells take it for an ordinary character; a client that mends line endings first would not.
                self.budget.doubtful = True

    def skip_comment(self) -> None:
        self.take(_COMMENT)

    def doubt(self) -> None:
        """Read on, but never claim to have understood the line."""
        self.budget.doubtful = True

    def count_command(self) -> None:
        self.budget.commands += 1
        if self.budget.is_spent:
            self._stop(TOO_MANY)

    def go_deeper(self) -> None:
        self.budget.depth += 1
        if self.budget.depth > DEEPEST_NESTING:
            self._stop("it is nested too deeply")

    def _stop(self, why: str) -> None:
        """Note why, and leave the rest of the text unread."""
        self.budget.trouble(why)
        self.at = self.end
