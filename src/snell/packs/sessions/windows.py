"""
A context window begins, is full, and ends.

Why      A window ends; the work does not.
What     Where an effort is active: every start of a window is a new session, linked to the one before; the model gets
         the effort, its phase, what the last window wrote down, and the files to read. A window that compacts by
         itself ends, and `snell run` starts the next one.
Instead  `enabled = false` in `[pack.sessions]`. Where no task was begun nothing happens.
"""

import os

from snell.model.context import Context
from snell.model.effects import Deny, Note
from snell.model.events import Event, text_in
from snell.packs.sessions.caller import caller_of, common, in_transaction, is_idle
from snell.packs.sessions.hook_output import session_start_text
from snell.sdk.decorators import informs, judges
from snell.sdk.subjects import Compaction, Session
from snell.work import artefacts, hook_arguments, session_events, shared_names
from snell.work.rows import Record
from snell.work.supervisor_state import SUPERVISOR, ask_for_restart, begin_supervision

FILE_BUDGET = 4_000  # characters of files that come with the note; the rest is named


@informs("SessionStart", waits=True)
def restore(event: Event, session: Session, context: Context) -> Note | None:
    """Begin a session for the effort that is active here, and say where it stands."""
    run = context.env.get(SUPERVISOR)
    if run:
        begin_supervision(event, context.marks, run)
    if is_idle(context, event):
        return None
    from snell.memory.project_identity import shared_name  # slow to import, and most projects have no effort

    in_transaction(context, lambda tx: shared_names.adopt_checkout(tx, event.cwd, shared_name))
    call = hook_arguments.SessionStart(**common(event), source=session.source)
    said = in_transaction(context, lambda tx: session_events.session_start(tx, call, caller_of(event, context)))
    if not said or not said["found"]:
        return None
    return Note("\n\n".join(filter(None, (session_start_text(said), _contents(said, event.cwd, context)))))


@informs("SessionEnd")
def end(event: Event, session: Session, context: Context) -> None:
    """End the session."""
    if not is_idle(context, event):
        call = hook_arguments.SessionEnd(**common(event), reason=session.reason)
        in_transaction(context, lambda tx: session_events.session_end(tx, call, caller_of(event, context)))


@judges("PreCompact", matcher="auto")
def overflow(event: Event, compaction: Compaction, context: Context) -> Deny | None:
    """End a window that is full; with a supervisor, have it start the next one instead of compacting this one."""
    run = context.env.get(SUPERVISOR)
    if is_idle(context, event) and not run:
        return None
    call = hook_arguments.PreCompact(**common(event), trigger=compaction.trigger or text_in(event.payload, "trigger"))
    said = in_transaction(context, lambda tx: session_events.pre_compact(tx, call, caller_of(event, context))) or {}
    if not run:
        return None
    prompt = said.get("restartPrompt") or session_events.restart_prompt(None)
    ask_for_restart(event, context.marks, context.env, "compact", prompt)
    return Deny("the context is full; a new window takes over")


def _contents(said: Record, cwd: str, context: Context) -> str:
    """The files themselves, as far as they fit; only where the project may speak to the model."""
    if not context.is_trusted:
        return ""
    left, parts = FILE_BUDGET, []
    for path in dict.fromkeys((*said["requiredFiles"], *said["filesToPreload"])):
        text = _text_at(path, (cwd, said["taskDir"]), left)
        if text and len(text) < left:
            parts.append(f"### {path}\n{text}")
            left -= len(text)
    return "\n\n".join(parts)


def _text_at(path: str, folders: tuple[str, ...], most: int) -> str:
    """A path that is not whole is meant from where the agent works, or from its task."""
    places = (os.path.join(folder, path) for folder in folders)
    return next((text for place in places if (text := artefacts.read_text(place, most))), "")
