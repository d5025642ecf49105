"""
Restore the effort in each context window.

Why      A window ends; the work does not. A model that does not know the state of its work asks, or guesses.
What     If an effort is active: every start of a window is a new session, linked to the one before; the model gets the
         effort, its phase, the summary of the last window, and the files to read. Each prompt adds one line, under a
         hundred tokens: session, skill, phase, heartbeat. A window that compacts by itself ends, and `snell run` starts
         the next one.
Instead  `enabled = false` in `[pack.sessions]`. Without a task nothing happens.
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

FILE_BUDGET = 4_000  # characters of files in the note; the rest is only named


@informs("SessionStart", waits=True)
def restore(event: Event, session: Session, context: Context) -> Note | None:
    """Start a session for the active effort, and tell the model its state."""
    run = context.env.get(SUPERVISOR)
    if run:
        begin_supervision(event, context.marks, run)
    if is_idle(context, event):
        return None
    from snell.memory.project_identity import shared_name  # slow to import, and most projects have no effort

    in_transaction(context, lambda tx: shared_names.adopt_checkout(tx, event.cwd, shared_name))
    call = hook_arguments.SessionStart(**common(event), source=session.source)
    result = in_transaction(context, lambda tx: session_events.session_start(tx, call, caller_of(event, context)))
    if not result or not result["found"]:
        return None
    return Note("\n\n".join(filter(None, (session_start_text(result), _contents(result, event.cwd, context)))))


@informs("UserPromptSubmit")
def context(event: Event, context: Context) -> Note | None:
    """Add one line with the state of the effort."""
    if is_idle(context, event):
        return None
    call = hook_arguments.UserPrompt(**common(event), prompt="")
    result = in_transaction(context, lambda tx: session_events.user_prompt(tx, call, caller_of(event, context)))
    return Note(result["sessionContext"]) if result and result["sessionContext"] else None


@informs("SessionEnd")
def end(event: Event, session: Session, context: Context) -> None:
    """End the session."""
    if not is_idle(context, event):
        call = hook_arguments.SessionEnd(**common(event), reason=session.reason)
        in_transaction(context, lambda tx: session_events.session_end(tx, call, caller_of(event, context)))


@judges("PreCompact", matcher="auto")
def overflow(event: Event, compaction: Compaction, context: Context) -> Deny | None:
    """End a window that is full; under a supervisor, ask for a new window instead of compacting."""
    run = context.env.get(SUPERVISOR)
    if is_idle(context, event) and not run:
        return None
    call = hook_arguments.PreCompact(**common(event), trigger=compaction.trigger or text_in(event.payload, "trigger"))
    result = in_transaction(context, lambda tx: session_events.pre_compact(tx, call, caller_of(event, context))) or {}
    if not run:
        return None
    prompt = result.get("restartPrompt") or session_events.restart_prompt(None)
    ask_for_restart(event, context.marks, context.env, "compact", prompt)
    return Deny("the context is full; a new window takes over")


def _contents(result: Record, cwd: str, context: Context) -> str:
    """Return the files themselves, as far as they fit; only if the project is trusted."""
    if not context.is_trusted:
        return ""
    left, parts = FILE_BUDGET, []
    for path in dict.fromkeys((*result["requiredFiles"], *result["filesToPreload"])):
        text = _text_at(path, (cwd, result["taskDir"]), left)
        if text and len(text) < left:
            parts.append(f"### {path}\n{text}")
            left -= len(text)
    return "\n\n".join(parts)


def _text_at(path: str, folders: tuple[str, ...], most: int) -> str:
    """Return the text of a file; a relative path is tried from the working directory and from the task."""
    places = (os.path.join(folder, path) for folder in folders)
    return next((text for place in places if (text := artefacts.read_text(place, most))), "")
