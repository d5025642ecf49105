"""Look through memories in a terminal: type a question, read, type the next one."""

import time
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from snell.cli.colours import Colours
from snell.cli.commands.memory import render_memory
from snell.model.errors import SnellError

HELP = "a question, a number to read one, nothing for the newest, `q` to leave"

PAGE = 3_000  # characters


def browse(ask: Callable[[str], Mapping[str, Any]], source: TextIO, out: TextIO) -> int:
    """Until there is no more input or the person leaves."""
    paint = Colours(out.isatty())
    last: list[Mapping[str, Any]] = []
    out.write(f"{HELP}\n")
    while True:
        out.write("memory> ")
        out.flush()
        line = source.readline()
        word = line.strip()
        if not line or word in ("q", "quit", "exit"):
            return 0
        if word.isdigit() and 1 <= int(word) <= len(last):
            _read(last[int(word) - 1], source, out)
            continue
        last = _answered(ask, word, out)
        out.writelines(
            f"{number:3}  {render_memory(memory, paint, time.time())}\n" for number, memory in enumerate(last, 1)
        )


def _read(memory: Mapping[str, Any], source: TextIO, out: TextIO) -> None:
    """A page at a time: a memory may be longer than anybody wants to scroll back."""
    rest = _printable(str(memory["content"]))
    while len(rest) > PAGE:
        cut = rest.rfind("\n", PAGE // 2, PAGE) + 1 or PAGE
        out.write(f"{rest[:cut].rstrip()}\n-- {len(rest) - cut:,} more characters; return for more, `q` for no more: ")
        rest = rest[cut:]
        out.flush()
        line = source.readline()
        if not line or line.strip():
            out.write("" if line else "\n")
            return
    out.write(f"{rest}\n")


def _answered(ask: Callable[[str], Mapping[str, Any]], word: str, out: TextIO) -> list[Mapping[str, Any]]:
    try:
        found: list[Mapping[str, Any]] = list(ask(word)["memories"])
    except SnellError as error:
        out.write(f"{error}\n")
        return []
    if not found:
        out.write("nothing is known about that here\n")
    return found


def _printable(text: str) -> str:
    """What a memory holds must not steer the terminal."""
    return "".join(each if each.isprintable() or each == "\n" else "?" for each in text)
