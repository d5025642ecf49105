"""Start, show and stop the promise loop of a session."""

from typing import Annotated

from msgspec import to_builtins

from snell.model.errors import SnellError
from snell.operations.declaration import Answer, Call, about, operation

Session = Annotated[str, about("the session's id (default: the one that was active last)")]


@operation("loop.start", verb=True, permission="writes", person=True)
def start(
    call: Call,
    promise: Annotated[str, about("the words in the agent's last message that end the loop")],
    max_: Annotated[int, about("the maximum number of rounds", ge=1, le=1000)] = 10,
    objective: Annotated[str, about("the goal that the agent is reminded of")] = "",
    session: Session = "",
) -> Answer:
    """Send the agent back to work until its last message contains these words."""
    from snell.packs.harness.promise import Loop, save_loop

    if not promise.strip():
        raise SnellError("`promise` is missing: the words that end the loop")
    named = session or _last_session(call)
    loop = Loop(promise, objective, max_)
    save_loop(named, loop, call.runtime.store)
    return {"session": named, **to_builtins(loop), "problem": getattr(call.runtime.store, "problem", "")}


@operation("loop.status", verb=True)
def status(call: Call, session: Session = "") -> Answer:
    """Show the loop of a session."""
    from snell.packs.harness.promise import loop_of

    named = session or _last_session(call)
    loop = loop_of(named, call.runtime.store)
    return {"session": named, **(to_builtins(loop) if loop else {})}


@operation("loop.stop", verb=True, permission="writes", person=True)
def stop(call: Call, session: Session = "") -> Answer:
    """Stop the loop of a session."""
    from snell.packs.harness.promise import end_loop, loop_of

    named = session or _last_session(call)
    was_running = loop_of(named, call.runtime.store) is not None
    end_loop(named, call.runtime.store)
    return {"session": named, "stopped": was_running}


def _last_session(call: Call) -> str:
    """Return the session with the last decision. Raises SnellError."""
    from snell.runtime.database_journal import StoreJournal

    rows = StoreJournal(call.database).recent(limit=1) if call.runtime.database else []
    if not rows or not rows[0].session_id:
        raise SnellError("no session yet", advice="start the agent first, or name a session with --session")
    return rows[0].session_id
