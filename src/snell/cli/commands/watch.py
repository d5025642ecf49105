"""
What happens, as it happens: one row for each decision, with the hooks that ran.

Rows are read from the store, so decisions that were made without a daemon show too, and a slow terminal holds up
nobody.
"""

import argparse
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import msgspec

from snell.cli.colours import Colours, visible
from snell.cli.follow_decisions import Follower, Seen
from snell.model.errors import SnellError
from snell.runtime.app import database_of
from snell.settings.pause import current_pause
from snell.system.paths import places

if TYPE_CHECKING:
    from rich.table import Table

EXAMPLE = "snell watch --session 4f2a"

EVERY = 0.1  # seconds between two looks
MOST = 1_000


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--last", type=int, default=10, help="begin with this many earlier ones (default: 10)")
    parser.add_argument("--session", default="", help="only of the session whose id begins like this")
    parser.add_argument("--json", action="store_true", help="print a JSON object for each")
    parser.add_argument("--plain", action="store_true", help="print lines, also where a table could be shown")


def run(args: argparse.Namespace) -> int:
    if not 0 <= args.last <= MOST:
        raise SnellError(f"`{args.last}` is not a number of decisions", advice=f"ask for 0 to {MOST:,}")
    database = database_of(places(os.environ))
    try:
        _shown_by(args)(_seen(Follower(database, args.session), args.last))
    except KeyboardInterrupt:
        return 0  # that is how one stops watching
    finally:
        database.close()
    return 0


Show = Callable[[Iterator[list[Seen]]], None]


def _seen(follower: Follower, last: int) -> Iterator[list[Seen]]:
    """What came since the last look; empty lists too, so that a table can be drawn anew."""
    yield follower.earlier(last)
    while True:
        yield follower.new()
        time.sleep(EVERY)


def _shown_by(args: argparse.Namespace) -> Show:
    if args.json:
        return _as_json
    if args.plain or not sys.stdout.isatty():
        return _as_lines
    try:
        import rich  # noqa: F401 - whether it is there
    except ImportError:
        return _as_lines
    return _as_table


def _as_json(batches: Iterator[list[Seen]]) -> None:
    for batch in batches:
        for seen in batch:
            print(msgspec.json.encode(seen).decode(), flush=True)


def _as_lines(batches: Iterator[list[Seen]]) -> None:
    paint = Colours.for_stdout()
    for batch in batches:
        for seen in batch:
            print(_line(seen, paint), flush=True)


def _line(seen: Seen, paint: Colours) -> str:
    when, what, tool, verdict, ms, session, hooks = _cells(seen)
    colour = {"deny": paint.red, "ask": paint.yellow, "allow": paint.green}.get(seen.verdict, paint.dim)
    return f"{when}  {colour(f'{verdict:<10}')} {what:<18} {tool:<14} {ms:>8}  {session:<8}  {hooks}".rstrip()


def _as_table(batches: Iterator[list[Seen]]) -> None:
    from rich.console import Console
    from rich.live import Live

    console = Console()
    rows: deque[Seen] = deque(maxlen=MOST)
    with Live(console=console, screen=True, auto_refresh=False) as live:
        shown: object = None
        for batch in batches:
            rows.extend(batch)
            state = (len(batch), console.size, current_pause(places(os.environ)))
            if batch or state != shown:  # drawn only when something changed
                live.update(_table(list(rows), console.size.height - 4), refresh=True)
            shown = (0, *state[1:])


def _table(rows: list[Seen], height: int) -> "Table":
    from rich.table import Table
    from rich.text import Text

    pause = current_pause(places(os.environ))
    caption = f"{pause}: only policy hooks run" if pause else "Ctrl-C ends this; `snell why ID` tells more"
    table = Table(expand=True, title="snell watch", caption=caption)
    for name, width in (("time", 8), ("event", 12), ("tool", 4), ("verdict", 7), ("ms", 5), ("session", 8)):
        table.add_column(name, justify="right" if name == "ms" else "left", no_wrap=True, min_width=width)
    table.add_column("hooks", overflow="ellipsis", no_wrap=True, ratio=1)
    for seen in rows[-max(height, 1) :]:
        style = {"deny": "red", "ask": "yellow", "allow": "green"}.get(seen.verdict, "dim")
        table.add_row(*(Text(cell, style=style if place == 3 else "") for place, cell in enumerate(_cells(seen))))
    return table


def _cells(seen: Seen) -> tuple[str, ...]:
    when = time.strftime("%H:%M:%S", time.localtime(seen.at / 1000))
    hooks = _hooks(seen)
    verdict = f"{seen.verdict}*" if seen.rewritten else seen.verdict
    return when, seen.event, seen.tool, verdict, f"{seen.ms:.1f}", seen.session_id[:8], visible(hooks)


def _hooks(seen: Seen) -> str:
    """Those that spoke or failed by name, whoever decided first, the others by number."""
    loud = sorted((run for run in seen.hooks if run.said or run.failed), key=lambda run: run.said != seen.verdict)
    told = [f"{run.hook}: {run.said or 'failed'} {run.ms:.1f} ms" for run in loud]
    silent = len(seen.hooks) - len(loud)
    return ", ".join([*told, *([f"{silent} without opinion"] if silent else [])])
