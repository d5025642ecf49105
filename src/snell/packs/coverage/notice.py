"""
Say what `snell coverage` last found.

Why      A client that does not call its hooks looks like one whose hooks have nothing to say.
What     One line for the user at the start of a session, if the last comparison found calls without hooks.
Instead  Correct what `snell coverage` names and run it again, or disable `coverage`.
"""

from msgspec import Struct

from snell.model.context import Context
from snell.model.effects import Tell
from snell.sdk.decorators import informs
from snell.system.files import struct_or_none
from snell.system.wall_clock import now_ms

DAY_MS = 86_400_000
LARGEST = 1_000_000


class Found(Struct, frozen=True):
    at: int = 0
    holes: int = 0
    text: str = ""


@informs("SessionStart", matcher="startup|resume", timeout=3)
def say_holes(context: Context) -> Tell | None:
    """Tell the user that calls ran without hooks."""
    found = struct_or_none(context.state / "coverage.json", Found, LARGEST) if context.state else None
    days = context.options.get("days")
    if not found or not found.holes or not isinstance(days, int) or now_ms() - found.at > days * DAY_MS:
        return None
    return Tell(f"{found.text}; `snell coverage` lists them")
