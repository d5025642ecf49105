"""The text being read: a position in it, what went wrong on the way, and how much may still be read."""

import re
import time

from snell.packs.guard.shell.tree import Redirect
from snell.system.lazy_regex import lazy_regex

LONGEST_LINE = 262_144
DEEPEST_NESTING = 60
MOST_COMMANDS = 6_000
LONGEST_READING = 1.0  # seconds of processor time

_BLANKS = lazy_regex(r"(?:[ \t\r]|\\\r?\n)+")
_COMMENT = lazy_regex(r"#[^\n]*")


class TooMuchError(Exception):
    """The text is longer or more deeply nested than is read."""


class Budget:
    """What all texts of one command line share: its troubles and its limits."""

    def __init__(self) -> None:
        self.troubles: list[str] = []
        self.commands = 0
        self.depth = 0
        self._until = time.thread_time() + LONGEST_READING  # not by the clock: others on the machine must not decide

    def trouble(self, text: str) -> None:
        if text not in self.troubles and len(self.troubles) < 8:
            self.troubles.append(text)

    def count_command(self) -> None:
        self.commands += 1
        if self.commands > MOST_COMMANDS:
            raise TooMuchError("it holds too many commands")

    def check_time(self) -> None:
        if time.thread_time() > self._until:
            raise TooMuchError("it takes too long to follow")

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST_NESTING:
            raise TooMuchError("it is nested too deeply")


class Source:
    """A text and the place in it that is read next."""

    def __init__(self, text: str, budget: Budget) -> None:
        self.text = text
        self.budget = budget
        self.at = 0
        self.heredocs: list[Redirect] = []

    @property
    def ended(self) -> bool:
        return self.at >= len(self.text)

    def peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.text[at] if at < len(self.text) else ""

    def sees(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def skip_blanks(self) -> None:
        self.take(_BLANKS)

    def skip_comment(self) -> None:
        self.take(_COMMENT)
