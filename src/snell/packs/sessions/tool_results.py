"""
Deliver what waits after a tool call.

Why      A refusal stops the work, and a note before a call is lost when the call fails.
What     After each call the agent gets the texts that wait for it and the names of rules in directories that are new to
         it. Files that it read, questions that it asked and calls that failed are recorded with the session.
Instead  `enabled = false` in `[pack.sessions]`; `ingest` stores the whole transcript.
"""

import os
from threading import Thread
from typing import Any

from snell.model.context import Context
from snell.model.effects import Note
from snell.model.events import Event, as_table, as_tables, text_in
from snell.model.protocols import Transaction
from snell.packs.sessions.caller import USAGE, Caller, answer
from snell.packs.sessions.hook_output import directives_text, injection_texts
from snell.redact import redact, redact_data
from snell.sdk.decorators import informs
from snell.sdk.subjects import usage_of
from snell.work import directives, messages, sessions
from snell.work.errors import run_or_none
from snell.work.lookup import look_up
from snell.work.rows import Record, json_of, read, union, update

LOOK_EVERY = 5  # calls between two reads of a transcript whose client has no status line
LONGEST_ERROR = 4_000  # characters
READS = ("Read", "NotebookRead")
TOUCHES = (*READS, "Edit", "MultiEdit", "Write", "NotebookEdit")


@informs("PostToolUse")
def deliver_injections(event: Event, context: Context) -> list[Note] | None:
    """Deliver pending injections; store questions and answers; name the rules of new directories."""
    result = answer(context, event, post_tool_use)
    if result is None or result["heartbeatCount"] is None:
        return None
    if result["heartbeatCount"] % LOOK_EVERY == 1:
        Thread(target=read_transcript, args=(event, context), daemon=True).start()
    rules = directives_text(result["discovered"]) if context.is_trusted else ""
    return [Note(text) for text in (*injection_texts(result["pendingInjections"]), *([rules] if rules else []))] or None


@informs("PostToolUseFailure")
def store_failed_call(event: Event, context: Context) -> None:
    """Store a failed call as a message of the session."""
    answer(context, event, post_tool_use_failure)


def read_transcript(event: Event, context: Context) -> None:
    """Read the context usage, for clients without a status line; and the messages, if `ingest` is set."""
    scope = f"session:{event.session_id}"
    known = context.marks.get(scope, USAGE)
    if not isinstance(known, dict) or known.get("from") == "transcript":
        usage = usage_of(event)
        if usage and usage.context_tokens:
            size = {"window": usage.context_window} if usage.context_window else {}
            context.marks.put(scope, USAGE, {"tokens": usage.context_tokens, "from": "transcript", **size})
    if context.options.get("ingest") and context.database is not None:
        session = run_or_none(context.database, lambda tx: sessions.find_open(tx, event.session_id))
        if session:
            messages.ingest(context.database, session["id"], event.transcript_path, redact_data)


def post_tool_use(tx: Transaction, event: Event, caller: Caller) -> Record:
    """Record a tool call and return the pending texts and newly found directives."""
    found = look_up(tx, event.cwd, caller.agent_id, event.session_id, event.agent_id)
    effort, session = found.effort, found.session
    asks = event.tool == "AskUserQuestion"
    entry = dialogue_entry(redact_data(event.tool_input), redact_data(event.tool_response)) if asks else None
    if effort is None or session is None:
        return {"heartbeatCount": None, "pendingInjections": [], "dialogueEntry": entry, "discovered": []}
    if entry and caller.limits.keeps_dialogue:
        content = json_of({"source": "hook", **entry}) or ""
        messages.append(tx, session["id"], "dialogue", content, "AskUserQuestion")
    discovered = _record_files(tx, event, effort, session)
    return {
        "heartbeatCount": session["heartbeatCounter"],
        "pendingInjections": _take_pending(tx, effort, session),
        "dialogueEntry": entry,
        "discovered": discovered,
    }


def post_tool_use_failure(tx: Transaction, event: Event, caller: Caller) -> Record:
    """Store a failed call as a message of the session."""
    session = look_up(tx, event.cwd, caller.agent_id, event.session_id, event.agent_id).session
    if session is None:
        return {"logged": False, "sessionId": None}
    message = {
        "event": "PostToolUseFailure",
        "tool": event.tool,
        "error": redact(text_in(event.payload, "error"))[:LONGEST_ERROR],
        "interrupt": event.payload.get("is_interrupt") is True,
    }
    messages.append(tx, session["id"], "system", json_of(message) or "", event.tool)
    return {"logged": True, "sessionId": session["id"]}


def dialogue_entry(given: Any, response: Any) -> Record:
    """Return the questions with the labels of their options, and the answers that match them."""
    asked, answers = as_table(given), as_table(as_table(response).get("answers"))
    questions = [_question(each, answers) for each in as_tables(asked.get("questions"))]
    return {"preamble": text_in(asked, "preamble"), "questions": questions}


def _question(asked: Record, answers: Record) -> Record:
    text, header = str(asked.get("question") or ""), str(asked.get("header") or "")
    found = next((answers[key] for key in (text, header) if key in answers), "")
    return {
        "question": text,
        "options": [str(each.get("label") or "") for each in as_tables(asked.get("options"))],
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


def _record_files(tx: Transaction, event: Event, effort: Record, session: Record) -> list[str]:
    """Record files that were read, and return new directives of the folders of touched files."""
    path = event.tool_input.get("file_path") or event.tool_input.get("notebook_path")
    if event.tool not in TOUCHES or not isinstance(path, str) or "\0" in path:
        return []
    path = os.path.normpath(os.path.join(event.cwd, path))
    if event.tool in READS and path not in session["loadedFiles"]:
        update(tx, "sessions", "id", session["id"], {"loaded_files": [*session["loadedFiles"], path]})
    folder = os.path.dirname(path)
    if folder in session["discoveredDirectories"]:
        return []
    known = session["discoveredDirectives"]
    new = [each["path"] for each in directives.discover([folder], event.cwd) if each["path"] not in known]
    _store_discovered(tx, effort, session, folder, new)
    return new


def _store_discovered(tx: Transaction, effort: Record, session: Record, folder: str, new: list[str]) -> None:
    for table, owner in (("sessions", session), ("efforts", effort)):
        changes = {
            "discovered_directories": union(owner["discoveredDirectories"], [folder]),
            "discovered_directives": union(owner["discoveredDirectives"], new),
        }
        update(tx, table, "id", owner["id"], changes)
