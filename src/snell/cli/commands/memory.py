"""Store, search and maintain what agents remember: the operations, and verbs that people need at a terminal."""

import argparse
import os
import sys
import webbrowser
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

import msgspec

from snell.cli.call_operation import call_operation
from snell.cli.command_table import ROWS, add_verbs_of
from snell.cli.progress import Progress
from snell.cli.terminal import Colours, print_json, visible_lines
from snell.cli.verbs import add_verbs, answer_of
from snell.cli.views import show
from snell.model.errors import SnellError
from snell.settings.load import load
from snell.setup.status import is_memory_on
from snell.system.paths import places

_FINE = ("stored", "rejected_exact", "healthy")  # statuses of answers for which the command succeeds
_HELP = "type a query to search, a number to read a memory, Enter for the newest, `?` for help, `q` to quit"
_ALL_HELP = """\
  some words   the memories that match, best first
  3            the whole text of the third memory of the last list
  Enter        the newest memories
  q            quit; `snell memory forget ID` deletes a memory
"""
PAGE = 3_000  # characters


def arguments(parser: argparse.ArgumentParser) -> None:
    add_verbs_of(ROWS["memory"], add_verbs(parser, "memory"), {})


def run(args: argparse.Namespace) -> int:
    if own := {"drain": _drain, "map": _map, "browse": _browse}.get(args.verb):
        return own(args)
    answer = answer_of(args)
    if args.verb == "stats":
        answer = {**answer, "capturing": is_memory_on(load(places(os.environ), Path.cwd(), os.environ))}
    show(args.operation.name, answer, as_json=args.json)
    return 1 if answer.get("missing") or answer.get("status", "stored") not in _FINE else 0


def _drain(args: argparse.Namespace) -> int:
    """Process the captures in parts, so that other requests are not delayed, until none is left or none succeeds."""
    statuses: Counter[str] = Counter()
    left = -1
    with Progress("processing captures") as progress:
        while (answer := call_operation("memory.drain"))["left"] not in (0, left):
            statuses.update(answer["statuses"])
            left = answer["left"]
            progress.reach(statuses.total(), statuses.total() + left)
    statuses.update(answer["statuses"])
    show("memory.drain", {**answer, "statuses": dict(statuses)}, as_json=args.json)
    return 1 if answer["left"] else 0


def _map(args: argparse.Namespace) -> int:
    """Write a map of the memories into a file, or print it into a pipe."""
    by_name = {".json": "json", ".mmd": "mermaid", ".mermaid": "mermaid", ".md": "mermaid"}
    form = args.format or by_name.get(Path(args.file or "").suffix.lower(), "svg")
    answer = call_operation("memory.visualize", {**_where(args), "format": form})
    is_file = args.file or args.open or sys.stdout.isatty()
    if args.json or not is_file:
        print_json(answer) if args.json else show_map(answer)
        return 0
    file = Path(args.file or _own_map(form)).expanduser()
    show_map(answer, str(file))
    if args.open:
        webbrowser.open(file.absolute().as_uri())
    return 0


def _own_map(form: str) -> Path:
    """Return the file of the last map in the state folder, which the next one replaces."""
    path = places(os.environ).state / f"memory-map.{'mmd' if form == 'mermaid' else form}"
    path.unlink(missing_ok=True)
    return path


def show_map(answer: Mapping[str, Any], file: str | None = None) -> None:
    """Print a map, or write it into a new file and print its name; a remark goes to stderr."""
    drawing = str(answer.get("drawing") or f"{msgspec.json.encode(answer).decode()}\n")
    if file:
        from snell.testing.scaffold import write_new  # slow to import

        write_new({Path(file).expanduser(): drawing})
        print(Path(file).expanduser())
    else:
        print(drawing, end="")
    if answer["remark"]:
        print(answer["remark"], file=sys.stderr)  # stdout is often redirected into a file


def _browse(args: argparse.Namespace) -> int:
    def ask(query: str) -> Any:
        if query:
            return call_operation("memory.recall", {**_where(args), "query": query})
        return call_operation("memory.list", _where(args))

    return browse(ask, sys.stdin, sys.stdout)


def _where(args: argparse.Namespace) -> dict[str, str]:
    return {"project": args.project, "namespace": args.namespace}


def browse(ask: Callable[[str], Mapping[str, Any]], source: TextIO, out: TextIO) -> int:
    """Read queries and print results until the input ends or the user quits."""
    from snell.cli.memory_view import render_memory  # slow to import

    paint = Colours(out.isatty())
    last: list[Mapping[str, Any]] = []
    out.write(f"{_HELP}\n")
    while True:
        out.write("memory> ")
        out.flush()
        line = source.readline()
        word = line.strip()
        if not line or word in ("q", "quit", "exit"):
            return 0
        if word in ("?", "help"):
            out.write(_ALL_HELP)
            continue
        if word.isdigit() and 1 <= int(word) <= len(last):
            _show_pages(last[int(word) - 1], source, out)
            continue
        last = _search(ask, word, out)
        out.writelines(f"{number:3}  {render_memory(memory, paint)}\n" for number, memory in enumerate(last, 1))


def _show_pages(memory: Mapping[str, Any], source: TextIO, out: TextIO) -> None:
    rest = visible_lines(str(memory["content"]))
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
        out.write("no memory found; `snell memory remember TEXT` stores one, `--project '*'` searches all projects\n")
    return found
