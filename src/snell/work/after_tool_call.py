"""Handle the events after a tool call: deliver pending texts, store dialogues, record files and directives."""

import os
from typing import Any

from snell.model.protocols import Transaction
from snell.work import directives, messages
from snell.work.hook_arguments import Caller, PostToolUse, PostToolUseFailure
from snell.work.lookup import look_up
from snell.work.rows import Record, json_of, read, union, update

READS = ("Read", "NotebookRead")
TOUCHES = (*READS, "Edit", "MultiEdit", "Write", "NotebookEdit")


def post_tool_use(tx: Transaction, call: PostToolUse, caller: Caller) -> Record:
    """Record a tool call and return the pending texts and newly found directives."""
    found = look_up(tx, call.cwd, caller.agent_id, call.session_id, call.agent_id)
    effort, session = found.effort, found.session
    entry = dialogue_entry(call.tool_input, call.tool_response) if call.tool_name == "AskUserQuestion" else None
    if effort is None or session is None:
        return {"heartbeatCount": None, "pendingInjections": [], "dialogueEntry": entry, "discovered": []}
    if entry and caller.limits.keeps_dialogue:
        content = json_of({"source": "hook", **entry}) or ""
        messages.append(tx, session["id"], "dialogue", content, "AskUserQuestion")
    discovered = _record_files(tx, call, effort, session)
    return {
        "heartbeatCount": session["heartbeatCounter"],
        "pendingInjections": _take_pending(tx, effort, session),
        "dialogueEntry": entry,
        "discovered": discovered,
    }


def post_tool_use_failure(tx: Transaction, call: PostToolUseFailure, caller: Caller) -> Record:
    """Store a failed call as a message of the session."""
    session = look_up(tx, call.cwd, caller.agent_id, call.session_id, call.agent_id).session
    if session is None:
        return {"logged": False, "sessionId": None}
    message = {
        "event": "PostToolUseFailure",
        "tool": call.tool_name,
        "error": call.error,
        "interrupt": call.is_interrupt,
    }
    messages.append(tx, session["id"], "system", json_of(message) or "", call.tool_name)
    return {"logged": True, "sessionId": session["id"]}


def dialogue_entry(given: Any, response: Any) -> Record:
    """Return the questions with the labels of their options, and the answers that match them."""
    asked = given.get("questions") if isinstance(given, dict) else None
    questions = [each for each in asked if isinstance(each, dict)] if isinstance(asked, list) else []
    preamble = given.get("preamble") if isinstance(given, dict) else None
    answers = response.get("answers") if isinstance(response, dict) else None
    return {
        "preamble": preamble if isinstance(preamble, str) else "",
        "questions": [_question(each, answers if isinstance(answers, dict) else {}) for each in questions],
    }


def _question(asked: Record, answers: Record) -> Record:
    text, header = str(asked.get("question") or ""), str(asked.get("header") or "")
    options = asked.get("options") if isinstance(asked.get("options"), list) else []
    found = next((answers[key] for key in (text, header) if key in answers), "")
    return {
        "question": text,
        "options": [str(each.get("label") or "") for each in options or () if isinstance(each, dict)],
        "answer": ", ".join(map(str, found)) if isinstance(found, list) else str(found),
    }


def _take_pending(tx: Transaction, effort: Record, session: Record) -> list[Any]:
    """Return the pending texts of the session and its effort and clear them, so that each is delivered once."""
    if not effort["metadata"].get("pendingInjections") and not session["pendingInjections"]:
        return []
    # Lock the rows before reading them again: another daemon may take them from a shared server at the same time.
    tx.do("UPDATE efforts SET metadata = metadata WHERE id = ?", effort["id"])
    ((metadata,),) = tx.rows("SELECT metadata FROM efforts WHERE id = ?", effort["id"])
    ((own,),) = tx.rows("SELECT pending_injections FROM sessions WHERE id = ?", session["id"])
    known = read("metadata", metadata)
    waiting = union(known.pop("pendingInjections", None), read("pending_injections", own))
    update(tx, "efforts", "id", effort["id"], {"metadata": known})
    update(tx, "sessions", "id", session["id"], {"pending_injections": []})
    return waiting


def _record_files(tx: Transaction, call: PostToolUse, effort: Record, session: Record) -> list[str]:
    """Record files that were read, and return new directives of the folders of touched files."""
    path = call.tool_input.get("file_path")
    if call.tool_name not in TOUCHES or not isinstance(path, str) or "\0" in path:
        return []
    path = os.path.normpath(os.path.join(call.cwd, path))
    if call.tool_name in READS and path not in session["loadedFiles"]:
        update(tx, "sessions", "id", session["id"], {"loaded_files": [*session["loadedFiles"], path]})
    folder = os.path.dirname(path)
    if folder in session["discoveredDirectories"]:
        return []
    known = session["discoveredDirectives"]
    new = [each["path"] for each in directives.discover([folder], call.cwd) if each["path"] not in known]
    _store_discovered(tx, effort, session, folder, new)
    return new


def _store_discovered(tx: Transaction, effort: Record, session: Record, folder: str, new: list[str]) -> None:
    for table, owner in (("sessions", session), ("efforts", effort)):
        changes = {
            "discovered_directories": union(owner["discoveredDirectories"], [folder]),
            "discovered_directives": union(owner["discoveredDirectives"], new),
        }
        update(tx, table, "id", owner["id"], changes)
