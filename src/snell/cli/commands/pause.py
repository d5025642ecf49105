"""Let everything but policy hooks be silent for a while: a person's way out when a guard is broken."""

import argparse
import os
import sys
import time

from snell.cli.confirmation import require_terminal
from snell.cli.pause_hooks import pause, resume
from snell.model.errors import SnellError
from snell.settings.pause import LONGEST_MINUTES, current_pause
from snell.system.paths import places

EXAMPLE = 'snell pause 15 --why "the formatter hook hangs"'


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("minutes", nargs="?", type=float, help=f"for how long, at most {LONGEST_MINUTES}")
    parser.add_argument("--why", default="", metavar="TEXT", help="kept in the journal, shown while it lasts")
    parser.add_argument("--end", action="store_true", help="let all hooks run again now")


def run(args: argparse.Namespace) -> int:
    where = places(os.environ)
    if args.end:
        held, unrecorded = resume(where)
        print("all hooks run again" if held else "nothing is paused")
        return _told(unrecorded)
    if args.minutes is None:
        print(current_pause(where) or "nothing is paused")
        return 0
    if not 0 < args.minutes <= LONGEST_MINUTES:
        raise SnellError(f"`{args.minutes:g}` minutes cannot be", advice=f"give more than 0, at most {LONGEST_MINUTES}")
    require_terminal(os.environ, "a pause")
    begun, unrecorded = pause(where, args.minutes, args.why)
    until = time.strftime("%T", time.localtime(begun.ends))
    print(f"until {until} only policy hooks run; `snell pause --end` ends that before")
    return _told(unrecorded)


def _told(unrecorded: str) -> int:
    if unrecorded:
        print(f"snell: it holds, but there is no record of it: {unrecorded}", file=sys.stderr)
    return 0
