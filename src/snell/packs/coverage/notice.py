"""
Say what `snell coverage` last found, and compare again once a day.

Why      A client that does not call its hooks looks like one whose hooks have nothing to say.
What     One line for the user at the start of a session, if the last comparison found calls without hooks. When a
         session begins or ends whose client keeps a transcript, and the last comparison is a day old, `snell coverage`
         runs in the background.
Instead  Correct what `snell coverage` names, or disable `coverage`; `every_hours = 0` never compares by itself.
"""

import os
import sys
from pathlib import Path

from msgspec import Struct

from snell.model.context import Context
from snell.model.effects import Tell
from snell.model.events import Event
from snell.sdk.decorators import informs, watches
from snell.system.files import struct_or_none
from snell.system.run_program import environment, run
from snell.system.transcripts import is_readable
from snell.system.wall_clock import now_ms

HOUR_MS, DAYS = 3_600_000, 7
LARGEST = 1_000_000
LONGEST_SECONDS = 120.0


class Comparison(Struct, frozen=True):
    at: int = 0
    holes: int = 0
    text: str = ""


@informs("SessionStart", matcher="startup|resume", timeout=3)
def say_holes(context: Context) -> Tell | None:
    """Tell the user that calls ran without hooks."""
    days = context.options.get("days")
    text = last_holes(context.state, days if isinstance(days, int) else DAYS) if context.state else ""
    return Tell(f"{text}; `snell coverage` lists them") if text else None


@watches("SessionStart", "SessionEnd", timeout=LONGEST_SECONDS, waits=True)
def compare(event: Event, context: Context) -> None:
    """Run `snell coverage` if the last comparison is old."""
    hours = context.options.get("every_hours")
    if context.state is None or not isinstance(hours, int) or hours < 1 or not is_readable(event.transcript_path):
        return
    if now_ms() - _last(context.state).at >= hours * HOUR_MS:
        words = ["nice", "-n", "15", sys.executable, "-I", "-m", "snell", "coverage", "--json"]
        run(words, stdin=b"", cwd="/", env=environment({**os.environ, **context.env}, {}), timeout=LONGEST_SECONDS)


def last_holes(state: Path, days: int = DAYS) -> str:
    """Return in one line which calls the last comparison found without hooks; empty if none, or long ago."""
    found = _last(state)
    return found.text if found.holes and now_ms() - found.at <= days * 24 * HOUR_MS else ""


def last_comparison(state: Path) -> str:
    """Return what the last comparison found, and how long ago it was; empty if there was none."""
    found = _last(state)
    hours = max(0, now_ms() - found.at) // HOUR_MS
    ago = "in the last hour" if hours < 1 else f"{hours} hours ago" if hours < 48 else f"{hours // 24} days ago"
    return f"{found.text} (compared {ago})" if found.text else ""


def _last(state: Path) -> Comparison:
    return struct_or_none(state / "coverage.json", Comparison, LARGEST) or Comparison()
