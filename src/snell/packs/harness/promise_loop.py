"""The promise loop of a session, stored also beyond the session's end."""

from typing import Any

from msgspec import Struct, ValidationError, convert, to_builtins

from snell.model.events import persistent_scope
from snell.model.protocols import Store

MARK = "harness/loop"


class Loop(Struct, frozen=True):
    """A loop: the agent may stop when its last message contains the promise, or when its iterations are used up."""

    promise: str
    objective: str = ""
    most: int = 10
    iteration: int = 0
    in_a_row: int = 0  # stops that were held up since the last prompt; clients have a cap on these


def loop_of(session_id: str, marks: Store) -> Loop | None:
    """Return the loop of a session, if it has one."""
    kept: Any = marks.get(persistent_scope(session_id), MARK)
    try:
        return convert(kept, Loop) if isinstance(kept, dict) else None
    except ValidationError:
        return None


def save_loop(session_id: str, loop: Loop, marks: Store) -> None:
    marks.put(persistent_scope(session_id), MARK, to_builtins(loop))


def end_loop(session_id: str, marks: Store) -> None:
    marks.drop(persistent_scope(session_id), MARK)
