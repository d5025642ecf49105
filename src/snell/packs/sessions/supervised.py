"""What hooks tell the supervisor of `snell run`: which window is its own, and that the next one is wanted."""

from snell.kit.here import Here
from snell.model.events import Event

SUPERVISOR = "SNELL_SUPERVISOR"  # in the environment of an agent that has one


def begin_supervised(here: Here, event: Event, run: str) -> None:
    """A window begins. What an earlier one still asked for on its way out is over with it."""
    here.marks.drop(f"supervisor:{run}", "restart")
    here.marks.put(f"session:{event.session_id}", "supervisor", run)
    here.marks.put(f"supervisor:{run}", "session", {"id": event.session_id, "transcript": event.transcript_path})


def ask_for_restart(here: Here, event: Event, reason: str, prompt: str) -> None:
    """The first reason counts: a window that is being replaced may find others, and so may one that is gone."""
    scope = f"supervisor:{here.env.get(SUPERVISOR, '')}"
    current = here.marks.get(scope, "session")
    is_another = isinstance(current, dict) and current.get("id") != event.session_id
    is_replaced = here.marks.get(scope, "replaced") == event.session_id
    if not is_another and not is_replaced and not here.marks.get(scope, "restart"):
        here.marks.put(scope, "restart", {"reason": reason, "prompt": prompt})
