"""
Check the tool calls of an effort.

Why      An agent that writes nothing down loses everything with its context.
What     Calls are counted; `snell effort log` or a new phase resets the count, and the tenth call without either is
         refused. The agent is told when 80 % of the context are used, and urged to write a summary at 90 %. Guard rules
         of the effort add notes or refuse. Sub-agents get notes and are never refused.
Instead  `heartbeat`, `notice`, `warn`, `block`, `read_throttle` in `[pack.sessions]`; `blockAfter` of the effort.
"""

from typing import Any

from snell.model.context import Context
from snell.model.effects import Deny, Note
from snell.model.events import Event
from snell.model.protocols import Transaction
from snell.packs.sessions.caller import Caller, answer, heartbeat_limit, is_idle
from snell.packs.sessions.skill_efforts import create_by_phase, run_effort_skill
from snell.sdk.decorators import judges
from snell.work import dehydration, effort_guards, sessions
from snell.work.effort_guards import ActiveRule, Facts
from snell.work.lookup import Lookup, look_up, look_up_known_window
from snell.work.rows import Record, now_ms, union, update
from snell.work.snell_commands import is_snell_command, writes_log_entry

NOT_COUNTED = frozenset({"Task", "Agent", "TaskOutput"})
UNCOUNTED_STATES = frozenset({"loading", "completed", "idle", "restarting", "resuming", "overflowed", "dehydrating"})


@judges("PreToolUse")
def check_heartbeat(event: Event, context: Context) -> Deny | list[Note] | None:
    """Count the call; refuse it when the agent has to write its log."""
    if event.kind == "skill" and context.database is not None and (reply := run_effort_skill(event, context)):
        return reply
    result = None if (idle := is_idle(context, event)) else answer(context, event, pre_tool_use)
    if idle and event.kind == "shell":
        create_by_phase(event, context)
    if result is None:
        return None
    if not result["allow"]:
        log = "write a log entry with `snell effort log TEXT`, then go on"
        return Deny(result["reason"], instead=log if result["reasonCode"] == "heartbeat-block" else "")
    if result["heartbeatCount"] is None and event.kind == "shell":
        create_by_phase(event, context)
    return [Note(text) for text in result["notes"]] or None


def pre_tool_use(tx: Transaction, event: Event, caller: Caller) -> Record:
    """Count a tool call and return whether it is allowed, with notes for the agent."""
    found = look_up_known_window(tx, event.session_id, event.agent_id)
    found = found or look_up(tx, event.cwd, caller.agent_id, event.session_id, event.agent_id)
    found = _with_subagent(tx, found, event)
    effort, session = found.effort, found.session
    if effort is None or session is None or _is_not_counted(effort):
        return _reply(session=session and sessions.get(tx, session["id"]))
    command = event.tool_input.get("command") if event.tool == "Bash" else None
    if isinstance(command, str) and is_snell_command(command):
        if writes_log_entry(command):
            tx.do("UPDATE sessions SET heartbeat_counter = 0, last_edit = '' WHERE id = ?", session["id"])
        return _reply(session=sessions.get(tx, session["id"]))
    session = _count_call(tx, session, event, caller)
    limit, given = heartbeat_limit(effort, caller), effort["metadata"].get("guards")
    facts = _facts(event, caller, effort, session) if given else Facts()
    rules = effort_guards.active_rules(given, facts) if given else []
    reply = _reply(session, firedRules=[{"ruleId": each.rule_id, "payload": each.payload} for each in rules])
    reply["overflowWarning"] = _reaches(session["contextUsage"], caller.limits.warn)
    refusal = _refusal(event, caller, session, limit, effort_guards.blocking(rules, facts))
    notes, note_names = _notes(caller, session, limit)
    if refusal and session["subagentId"]:
        notes, refusal = [*notes, f"{refusal[1]} (only a note, because this is a sub-agent)"], None
    reply["pendingPreloads"] = [path for each in rules if each.mode == "preload" for path in each.files]
    _store_delivered(tx, session, [each for each in rules if each.urgency == "allow"], note_names)
    if refusal:
        return {**reply, "allow": False, "reason": refusal[1], "reasonCode": refusal[0], "notes": notes}
    return {**reply, "notes": notes}


def _reply(session: Record | None = None, **changes: Any) -> Record:
    """Return the answer that allows a call, with changes to it."""
    known = session or {}
    return {
        "allow": True,
        "heartbeatCount": known.get("heartbeatCounter"),
        "contextUsage": known.get("contextUsage"),
        "overflowWarning": False,
        "pendingPreloads": [],
        "firedRules": [],
        "notes": [],
        **changes,
    }


def _with_subagent(tx: Transaction, found: Lookup, event: Event) -> Lookup:
    """Return the session of a sub-agent: a caller that writes another transcript than the session's first."""
    id_ = event.agent_id
    session = found.session
    if session and not id_ and session["transcriptPath"] and event.transcript_path:
        id_ = event.transcript_path if session["transcriptPath"] != event.transcript_path else ""
    if not id_ or (session and session["subagentId"]):
        return found
    parent = session or sessions.find_open(tx, event.session_id)
    if parent is None or found.effort is None:
        return found
    return Lookup(found.project_id, found.effort, sessions.start_for_subagent(tx, parent, id_, event.transcript_path))


def _is_not_counted(effort: Record) -> bool:
    metadata = effort["metadata"]
    return (
        effort["lifecycle"] == "finished"
        or bool(metadata.get("loading") or metadata.get("dehydrating"))
        or str(metadata.get("state")) in UNCOUNTED_STATES
    )


def _count_call(tx: Transaction, session: Record, event: Event, caller: Caller) -> Record:
    """Count this call in its session and return the session. Consecutive edits of one file count once."""
    edited = str(event.tool_input.get("file_path") or "") if event.tool in ("Edit", "MultiEdit") else ""
    more = 0 if event.tool in NOT_COUNTED else 1
    ((count, usage),) = tx.rows(
        "UPDATE sessions SET heartbeat_counter = heartbeat_counter"
        " + CASE WHEN ? <> '' AND last_edit = ? THEN 0 ELSE ? END,"
        " last_edit = ?, last_heartbeat = ?, context_usage = COALESCE(?, context_usage) WHERE id = ?"
        " RETURNING heartbeat_counter, context_usage",
        *(edited, edited, more, edited, now_ms(), caller.usage, session["id"]),
    )
    return {**session, "heartbeatCounter": count, "contextUsage": usage}


def _refusal(
    event: Event, caller: Caller, session: Record, limit: int, blocks: list[ActiveRule]
) -> tuple[str, str] | None:
    """Return code and reason of a refusal, or None. A full context comes first."""
    usage, count, limits = session["contextUsage"], session["heartbeatCounter"], caller.limits
    if _reaches(usage, limits.block):
        return "overflow-block", f"the context is {usage:.0%} full. {dehydration.INSTRUCTION}"
    if blocks and blocks[0].is_overflow:
        return blocks[0].rule_id, blocks[0].text
    if event.tool == "Read" and _reaches(usage, limits.read_throttle):
        return "read-throttle", f"the context is {usage:.0%} full, so `Read` is refused. {dehydration.INSTRUCTION}"
    if blocks:
        return blocks[0].rule_id, "\n".join(dict.fromkeys(each.text for each in blocks))
    if count >= limit and event.tool not in NOT_COUNTED:
        return "heartbeat-block", f"{count}/{limit} tool calls without logging"
    return None


def _notes(caller: Caller, session: Record, limit: int) -> tuple[list[str], list[str]]:
    """Return notes for the agent, and the names under which they are not repeated."""
    usage, count, limits = session["contextUsage"], session["heartbeatCounter"], caller.limits
    note = name = ""
    if _reaches(usage, limits.warn):
        name, note = f"overflow {int(usage * 100)}", f"{usage:.0%} of the context is used. {dehydration.INSTRUCTION}"
    elif _reaches(usage, limits.notice):
        name = "overflow notice"
        note = f"{usage:.0%} of the context is used: begin no long documents and no new skill."
    notes, names = ([note], [name]) if name and name not in session["told"] else ([], [])
    if count == limits.heartbeat_warning and count < limit:
        notes.append(f"{count}/{limit} tool calls without a log entry; `snell effort log` writes one.")
    return notes, names


def _facts(event: Event, caller: Caller, effort: Record, session: Record) -> Facts:
    return Facts(
        heartbeat_counter=session["heartbeatCounter"],
        context_usage=session["contextUsage"],
        lifecycle=effort["metadata"].get("state") or effort["lifecycle"],
        phase=effort["currentPhase"] or "",
        tool=event.tool,
        tool_input=event.tool_input,
        discovered=tuple(map(str, session["discoveredDirectives"])),
        told=tuple(session["told"]),
        overflow_at=caller.limits.block or caller.limits.warn,
    )


def _store_delivered(tx: Transaction, session: Record, rules: list[ActiveRule], names: list[str]) -> None:
    """Queue the texts of rules that allow the call, and record the names of notes that are not repeated."""
    once = [each.rule_id for each in rules if each.once]
    stash = [_injection(each) for each in rules if each.text or each.files]
    if names or once:
        update(tx, "sessions", "id", session["id"], {"told": union(session["told"], [*names, *once])})
    if stash:
        waiting = union(session["pendingInjections"], stash)
        update(tx, "sessions", "id", session["id"], {"pending_injections": waiting})


def _injection(rule: ActiveRule) -> Record:
    listed = f"Read these files: {', '.join(rule.files)}." if rule.files else ""
    content, path = " ".join(filter(None, (rule.text, listed))), rule.files[0] if rule.files else None
    return {"ruleId": rule.rule_id, "content": content, "mode": rule.mode, "path": path}


def _reaches(usage: Any, mark: float) -> bool:
    return mark > 0 and isinstance(usage, int | float) and usage >= mark
