"""Handle the start and end of context windows, compaction, and user prompts."""

import time
from typing import Any

from snell.model.protocols import Transaction
from snell.work import agents, artefacts, dehydration, project_moves, sessions, skills, tasks
from snell.work.hook_arguments import Caller, PreCompact, SessionEnd, SessionStart, UserPrompt
from snell.work.lookup import look_up
from snell.work.rows import Record, now_ms, update

FRESH = ("startup", "clear", "")  # sources of windows that start without a conversation


def session_start(tx: Transaction, call: SessionStart, caller: Caller) -> Record:
    """Start a session for the active effort and return its context; a window always gets a new session."""
    project_moves.follow_move(tx, call.cwd)
    found = look_up(tx, call.cwd, caller.agent_id, call.session_id, adopts=False)
    effort = found.effort
    if effort is None or effort["lifecycle"] == "finished":
        return dict(_NOT_FOUND)
    session = sessions.start(tx, effort["id"], call.session_id or None, transcript_path=call.transcript_path or None)
    if caller.agent_id and caller.agent_id != "default":
        agents.clear_expired_lease(tx, agents.find(tx, caller.agent_id))
        agents.register(tx, caller.agent_id, effort_id=effort["id"])
    task = tasks.get(tx, effort["taskId"])
    skill = skills.find(tx, task["projectId"], effort["skill"])
    payload, origin = _earlier_payload(tx, session, effort, task) if call.source in FRESH else (None, None)
    return {
        "found": True,
        "effortId": effort["id"],
        "sessionId": session["id"],
        "skill": effort["skill"],
        "phase": effort["currentPhase"],
        "filesToPreload": _files(skill, effort),
        "dehydratedContext": payload if origin == "payload" else None,
        "skillConfig": skill,
        "taskDir": effort["taskId"],
        "sessionContext": context_line(session, effort, caller),
        "recovery": dehydration.recovery_block(payload, session["id"], effort) if payload else "",
        "requiredFiles": list(payload.get("requiredFiles") or ()) if payload else [],
        "restoredFrom": origin,
    }


def session_end(tx: Transaction, call: SessionEnd, caller: Caller) -> Record:
    """End all open sessions of a window, including those of its sub-agents and of earlier efforts."""
    open_ = sessions.find_open(tx, call.session_id)
    if open_:
        sessions.finish(tx, open_["id"], end_reason=call.reason or "end")
    tx.do(
        "UPDATE sessions SET ended_at = ? WHERE client_session_id = ? AND ended_at IS NULL", now_ms(), call.session_id
    )
    return {"ended": open_ is not None, "sessionId": open_["id"] if open_ else None}


def pre_compact(tx: Transaction, call: PreCompact, caller: Caller) -> Record:
    """End the session of a context that overflowed; there is no room left to save its state."""
    open_ = sessions.find_open(tx, call.session_id) if call.trigger == "auto" else None
    if open_ is None:
        return {"ended": False, "sessionId": None, "restartPrompt": None}
    sessions.finish(tx, open_["id"], end_reason="compact")
    found = look_up(tx, call.cwd, caller.agent_id, call.session_id)
    return {"ended": True, "sessionId": open_["id"], "restartPrompt": restart_prompt(found.effort)}


def user_prompt(tx: Transaction, call: UserPrompt, caller: Caller) -> Record:
    """Return the state of the work in one line, and assign a free session to this window."""
    found = look_up(tx, call.cwd, caller.agent_id, call.session_id)
    effort, session = found.effort, found.session
    if effort is None or session is None or effort["lifecycle"] == "finished":
        return dict(_NO_CONTEXT)
    return {
        "sessionContext": context_line(session, effort, caller),
        "effortId": effort["id"],
        "sessionId": session["id"],
        "taskDir": effort["taskId"],
        "skill": effort["skill"],
        "phase": effort["currentPhase"],
        "heartbeat": session["heartbeatCounter"],
    }


def context_line(session: Record, effort: Record, caller: Caller) -> str:
    limit = heartbeat_limit(effort, caller)
    when = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
    phase = _short(effort["currentPhase"] or "none")
    beat = f"heartbeat {session['heartbeatCounter']}/{limit}"
    return f"[{when} UTC | session {session['id']} | skill {_short(effort['skill'])} | phase {phase} | {beat}]"


def heartbeat_limit(effort: Record, caller: Caller) -> int:
    """Return the number of calls without a log entry after which a call is refused."""
    own = effort["metadata"].get("blockAfter")
    return own if isinstance(own, int) and not isinstance(own, bool) and own >= 0 else caller.limits.heartbeat


def restart_prompt(effort: Record | None) -> str:
    what = f"`{effort['skill']}` in {effort['taskId']}" if effort else "your work"
    return f"Your context was full, and this is a new window. Continue with {what} as the recovery block says."


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


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"


_NOT_FOUND: Record = {
    "found": False,
    "effortId": None,
    "sessionId": None,
    "skill": None,
    "phase": None,
    "filesToPreload": [],
    "dehydratedContext": None,
    "skillConfig": None,
    "taskDir": None,
    "sessionContext": "",
    "recovery": "",
    "requiredFiles": [],
    "restoredFrom": None,
}
_NO_CONTEXT: Record = {
    "sessionContext": "",
    "effortId": None,
    "sessionId": None,
    "taskDir": None,
    "skill": None,
    "phase": None,
    "heartbeat": None,
}
