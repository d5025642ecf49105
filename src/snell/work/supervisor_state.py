"""What hooks tell the supervisor of `snell run`: which window is its own, and that the next one is wanted."""

from collections.abc import Mapping

from snell.model.events import Event, persistent_scope
from snell.model.protocols import Store

SUPERVISOR = "SNELL_SUPERVISOR"  # in the environment of an agent that has one


def begin_supervision(event: Event, marks: Store, run: str) -> None:
    """A window begins. What an earlier one still asked for on its way out is over with it."""
    marks.drop(f"supervisor:{run}", "restart")
    marks.put(f"session:{event.session_id}", "supervisor", run)
    marks.put(f"supervisor:{run}", "session", {"id": event.session_id, "transcript": event.transcript_path})


def ask_for_restart(event: Event, marks: Store, env: Mapping[str, str], reason: str, prompt: str) -> None:
    """The first reason counts: a window that is being replaced may find others, and so may one that is gone."""
    scope = f"supervisor:{env.get(SUPERVISOR, '')}"
    current = marks.get(scope, "session")
    is_another = isinstance(current, dict) and current.get("id") != event.session_id
    is_replaced = marks.get(scope, "replaced") == event.session_id
    if not is_another and not is_replaced and not marks.get(scope, "restart"):
        marks.put(scope, "restart", {"reason": reason, "prompt": prompt})


def take_over(event: Event, marks: Store, env: Mapping[str, str], mark: str) -> bool:
    """Let a lasting mark of the window that this one replaces count for this one; returns whether there was one."""
    before = marks.get(f"supervisor:{env.get(SUPERVISOR, '')}", "replaced") if env.get(SUPERVISOR) else None
    value = (
        marks.get(persistent_scope(before), mark) if isinstance(before, str) and before != event.session_id else None
    )
    if value is None:
        return False
    marks.put(persistent_scope(event.session_id), mark, value)
    marks.drop(persistent_scope(str(before)), mark)
    return True
