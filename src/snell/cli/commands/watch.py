"""
Show decisions as they are made: one row each, with the hooks that ran.

Rows are read from the store, so decisions made without a daemon are shown too, and a slow terminal delays no hook.
"""

import argparse
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import msgspec

from snell.cli.follow_decisions import Follower, SeenDecision
from snell.cli.terminal import COLOURS_OF_VERDICTS, Colours, visible
from snell.model.errors import SnellError
from snell.runtime.app import database_of
from snell.settings.pause import current_pause
from snell.system.paths import places

if TYPE_CHECKING:
    from rich.table import Table

EVERY = 0.1  # seconds between two reads
MOST = 1_000
COLUMNS = ("time", "verdict", "event", "tool", "call", "hooks", "ms", "client", "project", "session", "id")
NARROW, WIDE = ("time", "verdict", "tool", "call", "hooks", "id"), 150  # characters of a terminal


def run(args: argparse.Namespace) -> int:
    if not 0 <= args.last <= MOST:
        raise SnellError(f"--last must be between 0 and {MOST:,}", where=f"`{args.last}`")
    with closing(database_of(places(os.environ))) as database, suppress(KeyboardInterrupt):  # the normal end
        _display(args)(_follow(Follower(database, args.session), args.last))
    return 0


Show = Callable[[Iterator[list[SeenDecision]]], None]


def _follow(follower: Follower, last: int) -> Iterator[list[SeenDecision]]:
    """Yield the new decisions of each read; empty lists too, so that a table can be redrawn."""
    yield follower.earlier(last)
    while True:
        yield follower.new()
        time.sleep(EVERY)


def _display(args: argparse.Namespace) -> Show:
    if args.json:
        return _as_json
    if args.plain or not sys.stdout.isatty():
        return _as_lines
    try:
        import rich  # noqa: F401 - only to see if it is installed
    except ImportError:
        return _as_lines
    return _as_table


def _as_json(batches: Iterator[list[SeenDecision]]) -> None:
    for batch in batches:
        for seen in batch:
            print(msgspec.json.encode(seen).decode(), flush=True)


def _as_lines(batches: Iterator[list[SeenDecision]]) -> None:
    paint = Colours.for_stdout()
    for batch in batches:
        for seen in batch:
            print(_line(seen, paint), flush=True)


def _line(seen: SeenDecision, paint: Colours) -> str:
    cells = _cells(seen)
    cells["verdict"] = getattr(paint, COLOURS_OF_VERDICTS.get(seen.verdict, "dim"))(f"{cells['verdict']:<10}")
    form = "{time}  {verdict} {event:<18} {tool:<8} {call:<40}  {ms:>8} ms  {client}  {project}  {session:<8}  {id}"
    return f"{form}  {{hooks}}".format_map(cells).rstrip()


def _as_table(batches: Iterator[list[SeenDecision]]) -> None:
    from rich.console import Console
    from rich.live import Live

    console = Console()
    rows: deque[SeenDecision] = deque(maxlen=MOST)
    with Live(console=console, screen=True, auto_refresh=False) as live:
        shown: object = None
        for batch in batches:
            rows.extend(batch)
            state = (len(batch), console.size, current_pause(places(os.environ)))
            if batch or state != shown:  # drawn only when something changed
                live.update(_table(list(rows), console.size.width, console.size.height - 4), refresh=True)
            shown = (0, *state[1:])


def _table(rows: list[SeenDecision], width: int, height: int) -> "Table":
    from rich.table import Table
    from rich.text import Text

    pause = current_pause(places(os.environ))
    caption = f"{pause}: only policy hooks run" if pause else "Ctrl-C to quit; `snell why ID` explains a decision"
    table = Table(expand=True, title="snell watch", caption=caption)
    columns = COLUMNS if width >= WIDE else NARROW
    for name in columns:
        share = {"call": 3, "hooks": 2}.get(name)
        table.add_column(name, justify="right" if name == "ms" else "left", no_wrap=True, ratio=share)
    for seen in rows[-max(height, 1) :]:
        style, cells = COLOURS_OF_VERDICTS.get(seen.verdict, "dim"), _cells(seen)
        cells["call"] = cells["call"] or cells["event"] * ("event" not in columns)
        table.add_row(*(Text(cells[name], style=style if name == "verdict" else "") for name in columns))
    return table


def _cells(seen: SeenDecision) -> dict[str, str]:
    with_result = [run for run in seen.hooks if run.said or run.failed]
    ordered = sorted(with_result, key=lambda run: run.said != seen.verdict)
    names = [f"{run.hook}: {run.said or 'failed'} {run.ms:.1f} ms" for run in ordered]
    others = len(seen.hooks) - len(with_result)
    return {
        **{name: visible(getattr(seen, name)) for name in ("event", "tool", "call", "client", "project", "id")},
        "time": time.strftime("%H:%M:%S", time.localtime(seen.at / 1000)),
        "verdict": f"{seen.verdict}*" if seen.rewritten else seen.verdict,
        "ms": f"{seen.ms:.1f}",
        "session": seen.session_id[:8],
        "hooks": visible(", ".join([*names, *([f"{others} without opinion"] if others else [])])),
    }
