"""Marks by which hooks tell the supervisor of `snell run` its current window, and that it should restart."""

from collections.abc import Mapping

from snell.model.events import Event, persistent_scope
from snell.model.protocols import Store
from snell.work.rows import Record

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


def restart_prompt(effort: Record | None) -> str:
    """Return the first prompt of a window that replaces a full one."""
    what = f"`{effort['skill']}` in {effort['taskId']}" if effort else "your work"
    return f"Your context was full, and this is a new window. Continue with {what} as the recovery block says."


def take_over(event: Event, marks: Store, env: Mapping[str, str], mark: str) -> bool:
    """Move a persistent mark from the replaced window to this one; returns whether there was one."""
    before = marks.get(f"supervisor:{env[SUPERVISOR]}", "replaced") if env.get(SUPERVISOR) else None
    if not isinstance(before, str) or before == event.session_id:
        return False
    value = marks.get(persistent_scope(before), mark)
    if value is not None:
        marks.put(persistent_scope(event.session_id), mark, value)
        marks.drop(persistent_scope(before), mark)
    return value is not None
