"""
Check the tool calls of an effort.

Why      An agent that writes nothing down loses everything with its context.
What     Calls are counted; `snell effort log` or a new phase resets the count, and the tenth call without either is
         refused. The agent is told when 80 % of the context are used, and urged to write a summary at 90 %. Guard rules
         of the effort add notes or refuse. Sub-agents get notes and are never refused.
Instead  `heartbeat`, `notice`, `warn`, `block`, `read_throttle` in `[pack.sessions]`; `blockAfter` of the effort.
"""

from threading import Thread

from snell.model.context import Context
from snell.model.effects import Deny, Note
from snell.model.events import Event
from snell.packs.sessions.caller import USAGE, caller_of, common, in_transaction, is_idle
from snell.packs.sessions.hook_output import directives_text, injection_texts
from snell.packs.sessions.skill_efforts import create_by_phase, run_effort_skill
from snell.redact import redact_data
from snell.sdk.decorators import informs, judges
from snell.system.transcripts import tail_of
from snell.work import after_tool_call, before_tool_call, hook_arguments, transcript_import
from snell.work.transcript_end import find_context_size, find_token_count

LOOK_EVERY = 5  # calls between two reads of a transcript whose client has no status line


@judges("PreToolUse")
def heartbeat(event: Event, context: Context) -> Deny | list[Note] | None:
    """Count the call; refuse it when the agent has to write its log."""
    if event.kind == "skill" and context.database is not None and (answer := run_effort_skill(event, context)):
        return answer
    if is_idle(context, event):
        if event.kind == "shell":
            create_by_phase(event, context)
        return None
    call = hook_arguments.PreToolUse(
        **common(event),
        tool_name=event.tool,
        tool_input=event.tool_input,
        tool_use_id=event.tool_use_id,
        agent_id=event.agent_id,
    )
    result = in_transaction(context, lambda tx: before_tool_call.pre_tool_use(tx, call, caller_of(event, context)))
    if result is None:
        return None
    if not result["allow"]:
        log = "write a log entry with `snell effort log TEXT`, then go on"
        return Deny(result["reason"], instead=log if result["reasonCode"] == "heartbeat-block" else "")
    if result["heartbeatCount"] is None and event.kind == "shell":
        create_by_phase(event, context)
    return [Note(text) for text in result["notes"]] or None


@informs("PostToolUse")
def deliver(event: Event, context: Context) -> list[Note] | None:
    """Deliver pending injections; store questions and answers; name the rules of new directories."""
    if is_idle(context, event):
        return None
    asks = event.tool == "AskUserQuestion"
    call = hook_arguments.PostToolUse(
        **common(event),
        tool_name=event.tool,
        tool_input=redact_data(event.tool_input) if asks else event.tool_input,
        tool_use_id=event.tool_use_id,
        agent_id=event.agent_id,
        tool_response=redact_data(event.tool_response) if asks else None,
    )
    result = in_transaction(context, lambda tx: after_tool_call.post_tool_use(tx, call, caller_of(event, context)))
    if result is None or result["heartbeatCount"] is None:
        return None
    if result["heartbeatCount"] % LOOK_EVERY == 1:
        Thread(target=read_transcript, args=(event, context), daemon=True).start()
    rules = directives_text(result["discovered"]) if context.is_trusted else ""
    return [Note(text) for text in (*injection_texts(result["pendingInjections"]), *([rules] if rules else []))] or None


@informs("PostToolUseFailure")
def failed(event: Event, context: Context) -> None:
    """Store a failed call as a message of the session."""
    if is_idle(context, event):
        return
    error = event.payload.get("error")
    call = hook_arguments.PostToolUseFailure(
        **common(event),
        tool_name=event.tool,
        tool_input={},
        tool_use_id=event.tool_use_id,
        agent_id=event.agent_id,
        error=str(redact_data(error))[:4_000] if isinstance(error, str) else "",
        is_interrupt=event.payload.get("is_interrupt") is True,
    )
    in_transaction(context, lambda tx: after_tool_call.post_tool_use_failure(tx, call, caller_of(event, context)))


def read_transcript(event: Event, context: Context) -> None:
    """Read the context usage, for clients without a status line; and the messages, if `ingest` is set."""
    scope = f"session:{event.session_id}"
    known = context.marks.get(scope, USAGE)
    if not isinstance(known, dict) or known.get("from") == "transcript":
        lines = tail_of(event.transcript_path)
        tokens, window = find_token_count(lines), find_context_size(lines)
        if tokens is not None:
            size = {"window": window} if window else {}
            context.marks.put(scope, USAGE, {"tokens": tokens, "from": "transcript", **size})
    if context.options.get("ingest") and context.database is not None:
        session = in_transaction(context, lambda tx: tx.rows(_OPEN, event.session_id))
        if session:
            transcript_import.ingest(context.database, session[0][0], event.transcript_path, redact_data)


_OPEN = "SELECT id FROM sessions WHERE client_session_id = ? AND subagent_id = '' AND ended_at IS NULL ORDER BY id DESC"
