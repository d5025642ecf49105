"""Terminal colours (only on a terminal, and not if `NO_COLOR` is set), and text made safe to print."""

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
        """Return the colour of a decision: red for deny, yellow for a rewrite or ask, green for allow."""
        usual = "yellow" if record.get("changes") else ""
        name = _OF_VERDICT.get(record["verdict"], usual)
        if name == "green" and usual:
            name = usual
        colour: Colour = getattr(self, name) if name else _plain
        return colour

    def _with(self, on: bool) -> Callable[[int], Colour]:
        return lambda code: lambda text: f"\x1b[{code}m{text}\x1b[0m" if on else text


def _plain(text: str) -> str:
    return text


def visible_lines(text: object) -> str:
    """Replace control characters except newline and tab; surrogates stay, since the stream escapes them."""
    kept = ("\n", "\t")
    return "".join(
        char if char.isprintable() or char in kept or "\ud800" <= char <= "\udfff" else "\ufffd" for char in str(text)
    )


def visible(text: object) -> str:
    """Replace control characters, so that text from other sources cannot steer the terminal."""
    return "".join(char if char.isprintable() else "\ufffd" for char in str(text))
