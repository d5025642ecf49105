"""Browse memories in a terminal: type a query, read the results, type the next one."""

import time
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from snell.cli.colours import Colours
from snell.cli.memory_view import render_memory
from snell.model.errors import SnellError

HELP = "type a query to search, a number to read a memory, Enter for the newest, `q` to quit"

PAGE = 3_000  # characters


def browse(ask: Callable[[str], Mapping[str, Any]], source: TextIO, out: TextIO) -> int:
    """Read queries and print results until the input ends or the user quits."""
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
            _show_pages(last[int(word) - 1], source, out)
            continue
        last = _search(ask, word, out)
        out.writelines(
            f"{number:3}  {render_memory(memory, paint, time.time())}\n" for number, memory in enumerate(last, 1)
        )


def _show_pages(memory: Mapping[str, Any], source: TextIO, out: TextIO) -> None:
    """Print a memory page by page."""
    rest = _printable(str(memory["content"]))
    while len(rest) > PAGE:
        cut = rest.rfind("\n", PAGE // 2, PAGE) + 1 or PAGE
        out.write(f"{rest[:cut].rstrip()}\n-- {len(rest) - cut:,} more characters; Enter for more, `q` to stop: ")
        rest = rest[cut:]
        out.flush()
        line = source.readline()
        if not line or line.strip():
            out.write("" if line else "\n")
            return
    out.write(f"{rest}\n")


def _search(ask: Callable[[str], Mapping[str, Any]], word: str, out: TextIO) -> list[Mapping[str, Any]]:
    try:
        found: list[Mapping[str, Any]] = list(ask(word)["memories"])
    except SnellError as error:
        out.write(f"{error}\n")
        return []
    if not found:
        out.write("no memory found\n")
    return found


def _printable(text: str) -> str:
    """Replace control characters, so that a memory cannot steer the terminal."""
    return "".join(each if each.isprintable() or each == "\n" else "?" for each in text)
