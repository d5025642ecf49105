"""Marks by which hooks tell the supervisor of `snell run` its current window, and that it should restart."""

from collections.abc import Mapping

from snell.model.events import Event, persistent_scope
from snell.model.protocols import Store

SUPERVISOR = "SNELL_SUPERVISOR"  # the variable of a supervised agent with the run's id


def begin_supervision(event: Event, marks: Store, run: str) -> None:
    """Record the current window of a run, and drop the restart request of an earlier one."""
    marks.drop(f"supervisor:{run}", "restart")
    marks.put(f"session:{event.session_id}", "supervisor", run)
    marks.put(f"supervisor:{run}", "session", {"id": event.session_id, "transcript": event.transcript_path})


def ask_for_restart(event: Event, marks: Store, env: Mapping[str, str], reason: str, prompt: str) -> None:
    """Request a restart. Later requests, and those of windows that were replaced, are ignored."""
    scope = f"supervisor:{env.get(SUPERVISOR, '')}"
    current = marks.get(scope, "session")
    is_another = isinstance(current, dict) and current.get("id") != event.session_id
    is_replaced = marks.get(scope, "replaced") == event.session_id
    if not is_another and not is_replaced and not marks.get(scope, "restart"):
        marks.put(scope, "restart", {"reason": reason, "prompt": prompt})


def take_over(event: Event, marks: Store, env: Mapping[str, str], mark: str) -> bool:
    """Move a persistent mark from the replaced window to this one; returns whether there was one."""
    before = marks.get(f"supervisor:{env.get(SUPERVISOR, '')}", "replaced") if env.get(SUPERVISOR) else None
    value = (
        marks.get(persistent_scope(before), mark) if isinstance(before, str) and before != event.session_id else None
    )
    if value is None:
        return False
    marks.put(persistent_scope(event.session_id), mark, value)
    marks.drop(persistent_scope(str(before)), mark)
    return True
