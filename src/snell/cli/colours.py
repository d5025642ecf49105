"""Colours: on a terminal only, and not where `NO_COLOR` is set."""

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

Colour = Callable[[str], str]

_OF_VERDICT = {"deny": "red", "ask": "yellow", "defer": "yellow", "allow": "green"}


class Colours:
    def __init__(self, on: bool) -> None:
        self.bold, self.dim, self.red, self.green, self.yellow = map(self._with(on), (1, 2, 31, 32, 33))

    @classmethod
    def for_stdout(cls) -> "Colours":
        return cls(sys.stdout.isatty() and "NO_COLOR" not in os.environ)

    def of(self, record: Mapping[str, Any]) -> Colour:
        """The colour of a decision: red stops it, yellow changes it or asks, green lets it through."""
        usual = "yellow" if record.get("changes") else ""
        name = _OF_VERDICT.get(record["verdict"], usual)
        if name == "green" and usual:
            name = usual
        colour: Colour = getattr(self, name) if name else _unchanged
        return colour

    def _with(self, on: bool) -> Callable[[int], Colour]:
        return lambda code: lambda text: f"\x1b[{code}m{text}\x1b[0m" if on else text


def _unchanged(text: str) -> str:
    return text


def visible_lines(text: object) -> str:
    """The same for a text of several lines; bytes that are no text are left to the stream, which spells them out."""
    kept = ("\n", "\t")
    return "".join(
        char if char.isprintable() or char in kept or "\ud800" <= char <= "\udfff" else "\ufffd" for char in str(text)
    )


def visible(text: object) -> str:
    """What somebody else wrote, so that it tells the terminal nothing."""
    return "".join(char if char.isprintable() else "\ufffd" for char in str(text))
