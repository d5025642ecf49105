"""The results of the shell reader: commands, their redirections, and the line as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from snell.shell.arguments import gives
from snell.shell.wrappers import UNCLEAR, is_exact, layer_starts, program_of


class Redirect(Struct, frozen=True):
    operator: str
    target: str  # of a here-document: its delimiter
    fd: int | None = None
    literal: bool = True
    body: str | None = None  # of a here-document


class Command(Struct, frozen=True):
    """One simple command. Without words it only assigns or redirects, as the redirections of a loop or group do."""

    words: tuple[str, ...] = ()
    literal: tuple[bool, ...] = ()  # per word: False when run time decides what it becomes
    spans: tuple[tuple[int, int], ...] = ()  # per word: where it stands in `text`
    assignments: tuple[tuple[str, str], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    text: str = ""
    start: int = 0
    end: int = 0
    depth: int = 0
    negated: bool = False
    embedded: bool = False  # read out of a string; `start` and `end` are then those of what holds the string

    @property
    def program(self) -> str:
        """The program's name without its folder; empty when there are no words."""
        return program_of(self.words[0]) if self.words else ""

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.words[1:]

    @property
    def replaceable(self) -> bool:
        """Other text may take the place of `start` to `end` without harm to the rest of the line."""
        return not self.embedded and all(redirect.body is None for redirect in self.redirects)

    @property
    def inner_command(self) -> Command:
        """The command inside `sudo`, `env`, `timeout` and the like; itself when there is none."""
        start = self._starts()[-1] if is_exact(self.program) else 0
        return self._from_word(start) if start else self

    @property
    def layers(self) -> Iterator[Command]:
        """The command and every command wrapped in it, from the outside in."""
        return (self._from_word(start) if start else self for start in self._starts())

    def _starts(self) -> list[int]:
        return [start for start in layer_starts(self.words, self.literal) if start != UNCLEAR]

    def _from_word(self, index: int) -> Command:
        cut = self.spans[index][0]
        given = (word.partition("=") for word in self.words[1:index] if "=" in word[1:] and word[0] != "-")
        return replace(
            self,
            words=self.words[index:],
            literal=self.literal[index:],
            spans=tuple((start - cut, end - cut) for start, end in self.spans[index:]),
            assignments=self.assignments + tuple((name, value) for name, _, value in given),
            text=self.text[cut:],
            start=self.start if self.embedded else self.start + cut,
        )


class CommandLine(Struct, frozen=True):
    """A line as far as it can be read without running it."""

    line: str
    commands: tuple[Command, ...] = ()
    understood: bool = True  # False: there may be commands in it that are not listed
    dynamic: bool = False  # True: something that is run is known at run time only
    substitutes: bool = False  # contains `$( )` or backticks

    def runs(self, program: str, *words: str) -> bool:
        """
        Some command, wrapped or not, runs this program with these words.

        Words are its leading sub-commands, in order; words that start with `-` are options, which may stand anywhere.
        """
        return any(
            layer.words and program in (layer.program, layer.words[0]) and gives(layer.program, layer.arguments, words)
            for command in self.commands
            for layer in command.layers
        )

    def replacing(self, command: Command, text: str) -> str:
        """The line with other text in the place of one of its commands."""
        if not command.replaceable:
            raise ValueError(f"`{command.text}` cannot be replaced inside its line; change the whole line instead")
        return self.line[: command.start] + text + self.line[command.end :]
