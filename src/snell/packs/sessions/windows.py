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
import time
from typing import Any

from snell.llm.untrusted_text import fence_text
from snell.model.context import Context
from snell.model.effects import Deny, Note
from snell.model.events import Event, text_in
from snell.model.protocols import Transaction
from snell.packs.sessions.caller import Caller, answer, heartbeat_limit, is_idle
from snell.packs.sessions.hook_output import session_start_text
from snell.sdk.decorators import informs, judges
from snell.work import agents, artefacts, dehydration, project_moves, sessions, shared_names, skills, tasks
from snell.work.effort_commands import take_phases
from snell.work.errors import run_or_none
from snell.work.lookup import look_up
from snell.work.rows import Record, now_ms, update
from snell.work.supervisor_state import SUPERVISOR, ask_for_restart, begin_supervision, restart_prompt

FILE_BUDGET = 4_000  # characters of files in the note; the rest is only named
FRESH = ("startup", "clear", "")  # sources of windows that start without a conversation


@informs("SessionStart", waits=True)
def restore_effort(event: Event, context: Context) -> Note | None:
    """Start a session for the active effort, and tell the model its state."""
    run = context.env.get(SUPERVISOR)
    if run:
        begin_supervision(event, context.marks, run)
    if is_idle(context, event):
        return None
    from snell.memory.project_identity import shared_name  # slow to import, and most projects have no effort

    run_or_none(context.database, lambda tx: shared_names.adopt_checkout(tx, event.cwd, shared_name))
    result = answer(context, event, session_start)
    if not result or not result["found"]:
        return None
    return Note("\n\n".join(filter(None, (session_start_text(result), _contents(result, event.cwd, context)))))


@informs("UserPromptSubmit")
def add_effort_line(event: Event, context: Context) -> Note | None:
    """Add one line with the state of the effort."""
    result = answer(context, event, user_prompt)
    return Note(result["sessionContext"]) if result and result["sessionContext"] else None


@informs("SessionEnd")
def end_session(event: Event, context: Context) -> None:
    """End the session."""
    answer(context, event, session_end)


@judges("PreCompact", matcher="auto")
def end_full_window(event: Event, context: Context) -> Deny | None:
    """End a window that is full; under a supervisor, ask for a new window instead of compacting."""
    result = answer(context, event, pre_compact) or {}
    if not context.env.get(SUPERVISOR):
        return None
    prompt = result.get("restartPrompt") or restart_prompt(None)
    ask_for_restart(event, context.marks, context.env, "compact", prompt)
    return Deny("the context is full; a new window takes over")


def session_start(tx: Transaction, event: Event, caller: Caller) -> Record:
    """Start a session for the active effort and return its context; a window always gets a new session."""
    project_moves.follow_move(tx, event.cwd)
    joins = caller.limits.joins_agents
    found = look_up(tx, event.cwd, caller.agent_id, event.session_id, adopts=False, joins_agents=joins)
    effort = found.effort
    if effort is None or effort["lifecycle"] == "finished":
        return dict(_NOT_FOUND)
    session = sessions.start(tx, effort["id"], event.session_id or None, transcript_path=event.transcript_path or None)
    agents.bind(tx, caller.agent_id, effort["id"])
    task = tasks.get(tx, effort["taskId"])
    skill, problem = skills.load(tx, task["projectId"], effort["skill"], event.cwd, caller.read_skill)
    effort = take_phases(tx, effort, skill)
    is_fresh = text_in(event.payload, "source") in FRESH
    payload, origin = _earlier_payload(tx, session, effort, task) if is_fresh else (None, None)
    return {
        **_ids(effort, session, caller),
        "found": True,
        "filesToPreload": _files(skill, effort),
        "dehydratedContext": payload if origin == "payload" else None,
        "skillConfig": skill,
        "skillProblem": problem,
        "recovery": dehydration.recovery_block(payload, session["id"], effort) if payload else "",
        "requiredFiles": list(payload.get("requiredFiles") or ()) if payload else [],
        "restoredFrom": origin,
    }


def session_end(tx: Transaction, event: Event, caller: Caller) -> Record:
    """End all open sessions of a window, including those of its sub-agents and of earlier efforts."""
    open_ = sessions.find_open(tx, event.session_id)
    if open_:
        sessions.finish(tx, open_["id"], end_reason=text_in(event.payload, "reason") or "end")
    ended = "UPDATE sessions SET ended_at = ? WHERE client_session_id = ? AND ended_at IS NULL"
    tx.do(ended, now_ms(), event.session_id)
    return {"ended": open_ is not None, "sessionId": open_["id"] if open_ else None}


def pre_compact(tx: Transaction, event: Event, caller: Caller) -> Record:
    """End the session of a context that overflowed; there is no room left to save its state."""
    open_ = sessions.find_open(tx, event.session_id) if text_in(event.payload, "trigger") == "auto" else None
    if open_ is None:
        return {"ended": False, "sessionId": None, "restartPrompt": None}
    sessions.finish(tx, open_["id"], end_reason="compact")
    found = look_up(tx, event.cwd, caller.agent_id, event.session_id)
    return {"ended": True, "sessionId": open_["id"], "restartPrompt": restart_prompt(found.effort)}


def user_prompt(tx: Transaction, event: Event, caller: Caller) -> Record:
    """Return the state of the work in one line, and assign a free session to this window."""
    found = look_up(tx, event.cwd, caller.agent_id, event.session_id)
    effort, session = found.effort, found.session
    if effort is None or session is None or effort["lifecycle"] == "finished":
        return dict(_NO_CONTEXT)
    return {**_ids(effort, session, caller), "heartbeat": session["heartbeatCounter"]}


def _ids(effort: Record, session: Record, caller: Caller) -> Record:
    return {
        "sessionContext": _context_line(session, effort, caller),
        "effortId": effort["id"],
        "sessionId": session["id"],
        "taskDir": effort["taskId"],
        "skill": effort["skill"],
        "phase": effort["currentPhase"],
    }


def _context_line(session: Record, effort: Record, caller: Caller) -> str:
    limit = heartbeat_limit(effort, caller)
    when = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
    phase = _short(effort["currentPhase"] or "none")
    beat = f"heartbeat {session['heartbeatCounter']}/{limit}"
    return f"[{when} UTC | session {session['id']} | skill {_short(effort['skill'])} | phase {phase} | {beat}]"


def _earlier_payload(
    tx: Transaction, session: Record, effort: Record, task: Record
) -> tuple[dict[str, Any] | None, str | None]:
    """
    Return the payload of an earlier window if no window has worked with it since; else one from the effort's files.

    A window that ended before its first call has not worked with its payload.
    """
    earlier = sessions.chain(tx, session)
    worked: list[Record] = []
    for each in earlier:
        if isinstance(each["dehydrationPayload"], dict):
            if any(one["createdAt"] >= (each["endedAt"] or 0) for one in worked):
                break
            update(tx, "sessions", "id", each["id"], {"rehydrated_at": now_ms()})
            return each["dehydrationPayload"], "payload"
        if each["heartbeatCounter"] or (each["lastHeartbeat"] or 0) > each["createdAt"]:
            worked.append(each)
    if not any(each["clientSessionId"] for each in earlier):
        return None, None  # no window has worked on it yet
    return dehydration.from_artefacts(task, effort, artefacts.files_of_effort(effort)), "artefacts"


def _files(skill: Record | None, effort: Record) -> list[str]:
    """Return the templates of the skill and the directives that were found, each once."""
    templates = skill["templates"] if skill else None
    listed = (
        list(templates.values()) if isinstance(templates, dict) else templates if isinstance(templates, list) else []
    )
    named = [
        *listed,
        *(each.get("path") if isinstance(each, dict) else each for each in effort["discoveredDirectives"]),
    ]
    return list(dict.fromkeys(each for each in named if isinstance(each, str) and each))


def _contents(result: Record, cwd: str, context: Context) -> str:
    """Return the files themselves, as far as they fit; only if the project is trusted."""
    if not context.is_trusted:
        return ""
    left, parts = FILE_BUDGET, []
    for path in dict.fromkeys((*result["requiredFiles"], *result["filesToPreload"])):
        text = _text_at(path, (cwd, result["taskDir"]), left)
        if text and len(text) < left:
            parts.append(f"### {path}\n{fence_text(text, 'file')}")
            left -= len(text)
    return "\n\n".join(parts)


def _text_at(path: str, folders: tuple[str, ...], most: int) -> str:
    """Return the text of a file; a relative path is tried from the working directory and from the task."""
    places = (os.path.join(folder, path) for folder in folders)
    return next((text for place in places if (text := artefacts.read_text(place, most))), "")


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"


_NO_IDS = dict.fromkeys(("effortId", "sessionId", "taskDir", "skill", "phase"))
_NO_CONTEXT: Record = {"sessionContext": "", **_NO_IDS, "heartbeat": None}
_NOT_FOUND: Record = {
    "sessionContext": "",
    **_NO_IDS,
    "found": False,
    "filesToPreload": [],
    "dehydratedContext": None,
    "skillConfig": None,
    "skillProblem": None,
    "recovery": "",
    "requiredFiles": [],
    "restoredFrom": None,
}
