"""
Handle the event before a tool call: count it, and refuse it by the heartbeat, the context size or the guard rules.

The heartbeat is the number of calls since the agent last wrote into its log. Without an effort the call is allowed.
"""

from typing import Any

from snell.model.protocols import Transaction
from snell.work import dehydration, effort_guards, sessions
from snell.work.effort_guards import ActiveRule, Facts
from snell.work.hook_arguments import Caller, PreToolUse
from snell.work.lookup import Lookup, look_up, look_up_known_window
from snell.work.rows import Record, json_of, now_ms, union
from snell.work.session_events import heartbeat_limit
from snell.work.snell_commands import is_snell_command, writes_log_entry

NOT_COUNTED = frozenset({"Task", "Agent", "TaskOutput"})
UNCOUNTED_STATES = frozenset({"loading", "completed", "idle", "restarting", "resuming", "overflowed", "dehydrating"})


def pre_tool_use(tx: Transaction, call: PreToolUse, caller: Caller) -> Record:
    """Count a tool call and return whether it is allowed, with notes for the agent."""
    found = look_up_known_window(tx, call.session_id, call.agent_id)
    found = found or look_up(tx, call.cwd, caller.agent_id, call.session_id, call.agent_id)
    found = _with_subagent(tx, found, call, caller)
    effort, session = found.effort, found.session
    if effort is None or session is None or _is_not_counted(effort):
        return answer(session=session)
    command = call.tool_input.get("command") if call.tool_name == "Bash" else None
    if isinstance(command, str) and is_snell_command(command):
        if writes_log_entry(command):
            tx.do("UPDATE sessions SET heartbeat_counter = 0, last_edit = '' WHERE id = ?", session["id"])
            session = {**session, "heartbeatCounter": 0}
        return answer(session=session)
    return _decide(tx, call, caller, effort, _count_call(tx, session, call, caller))


def answer(session: Record | None = None, **changes: Any) -> Record:
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


def _with_subagent(tx: Transaction, found: Lookup, call: PreToolUse, caller: Caller) -> Lookup:
    """Return the session of a sub-agent: a caller that writes another transcript than the session's first."""
    id_ = call.agent_id
    session = found.session
    if session and not id_ and session["transcriptPath"] and call.transcript_path:
        id_ = call.transcript_path if session["transcriptPath"] != call.transcript_path else ""
    if not id_ or (session and session["subagentId"]):
        return found
    parent = session or sessions.find_open(tx, call.session_id)
    if parent is None or found.effort is None:
        return found
    return Lookup(found.project_id, found.effort, sessions.start_for_subagent(tx, parent, id_, call.transcript_path))


def _is_not_counted(effort: Record) -> bool:
    metadata = effort["metadata"]
    return (
        effort["lifecycle"] == "finished"
        or bool(metadata.get("loading") or metadata.get("dehydrating"))
        or str(metadata.get("state")) in UNCOUNTED_STATES
    )


def _count_call(tx: Transaction, session: Record, call: PreToolUse, caller: Caller) -> Record:
    """Count this call in its session and return the session. Consecutive edits of one file count once."""
    edited = str(call.tool_input.get("file_path") or "") if call.tool_name in ("Edit", "MultiEdit") else ""
    more = 0 if call.tool_name in NOT_COUNTED else 1
    ((count, usage),) = tx.rows(
        "UPDATE sessions SET heartbeat_counter = heartbeat_counter"
        " + CASE WHEN ? <> '' AND last_edit = ? THEN 0 ELSE ? END,"
        " last_edit = ?, last_heartbeat = ?, context_usage = COALESCE(?, context_usage) WHERE id = ?"
        " RETURNING heartbeat_counter, context_usage",
        *(edited, edited, more, edited, now_ms(), caller.usage, session["id"]),
    )
    return {**session, "heartbeatCounter": count, "contextUsage": usage}


def _decide(tx: Transaction, call: PreToolUse, caller: Caller, effort: Record, session: Record) -> Record:
    count, limit = session["heartbeatCounter"], heartbeat_limit(effort, caller)
    is_subagent = bool(session["subagentId"])
    given = effort["metadata"].get("guards")
    facts = _facts(call, caller, effort, session) if given else Facts()
    rules = effort_guards.active_rules(given, facts) if given else []
    reply = answer(session, firedRules=[{"ruleId": each.rule_id, "payload": each.payload} for each in rules])
    reply["overflowWarning"] = _reaches(session["contextUsage"], caller.limits.warn)
    refusal = _refusal(call, caller, session, count, limit, effort_guards.blocking(rules, facts))
    notes, note_names = _notes(caller, session, count, limit, rules)
    if refusal and is_subagent:
        notes, refusal = [*notes, f"{refusal[1]} (only a note, because this is a sub-agent)"], None
    reply["pendingPreloads"] = [path for each in rules if each.mode == "preload" for path in each.files]
    _store_delivered(tx, session, [each for each in rules if each.urgency == "allow"], note_names)
    if refusal:
        return {**reply, "allow": False, "reason": refusal[1], "reasonCode": refusal[0], "notes": notes}
    return {**reply, "notes": notes}


def _refusal(
    call: PreToolUse, caller: Caller, session: Record, count: int, limit: int, blocks: list[ActiveRule]
) -> tuple[str, str] | None:
    """Return code and reason of a refusal, or None. A full context comes first."""
    usage, limits = session["contextUsage"], caller.limits
    if _reaches(usage, limits.block):
        return "overflow-block", f"the context is {usage:.0%} full. {dehydration.INSTRUCTION}"
    if blocks and blocks[0].is_overflow:
        return blocks[0].rule_id, blocks[0].text
    if call.tool_name == "Read" and _reaches(usage, limits.read_throttle):
        return "read-throttle", f"the context is {usage:.0%} full, so `Read` is refused. {dehydration.INSTRUCTION}"
    if blocks:
        return blocks[0].rule_id, "\n".join(dict.fromkeys(each.text for each in blocks))
    if count >= limit and call.tool_name not in NOT_COUNTED:
        return "heartbeat-block", f"{count}/{limit} tool calls without logging"
    return None


def _notes(
    caller: Caller, session: Record, count: int, limit: int, rules: list[ActiveRule]
) -> tuple[list[str], list[str]]:
    """Return notes for the agent, and the names under which they are not repeated."""
    notes: list[str] = []
    names: list[str] = []
    usage, limits = session["contextUsage"], caller.limits
    if _reaches(usage, limits.warn):
        if (name := f"overflow {int(usage * 100)}") not in session["told"]:
            notes, names = [f"{usage:.0%} of the context is used. {dehydration.INSTRUCTION}"], [name]
    elif _reaches(usage, limits.notice) and "overflow notice" not in session["told"]:
        notes, names = (
            [f"{usage:.0%} of the context is used: begin no long documents and no new skill."],
            ["overflow notice"],
        )
    if count == limits.heartbeat_warning and count < limit:
        notes.append(f"{count}/{limit} tool calls without a log entry; `snell effort log` writes one.")
    return notes, names


def _facts(call: PreToolUse, caller: Caller, effort: Record, session: Record) -> Facts:
    return Facts(
        heartbeat_counter=session["heartbeatCounter"],
        context_usage=session["contextUsage"],
        lifecycle=effort["metadata"].get("state") or effort["lifecycle"],
        phase=effort["currentPhase"] or "",
        tool=call.tool_name,
        tool_input=call.tool_input,
        discovered=tuple(map(str, session["discoveredDirectives"])),
        told=tuple(session["told"]),
        overflow_at=caller.limits.block or caller.limits.warn,
    )


def _store_delivered(tx: Transaction, session: Record, rules: list[ActiveRule], names: list[str]) -> None:
    """Queue the texts of rules that allow the call, and record the names of notes that are not repeated."""
    once = [each.rule_id for each in rules if each.once]
    stash = [_injection(each) for each in rules if each.text or each.files]
    if names or once:
        told = json_of(union(session["told"], [*names, *once]))
        tx.do("UPDATE sessions SET told = ? WHERE id = ?", told, session["id"])
    if stash:
        waiting = json_of(union(session["pendingInjections"], stash))
        tx.do("UPDATE sessions SET pending_injections = ? WHERE id = ?", waiting, session["id"])


def _injection(rule: ActiveRule) -> Record:
    listed = f"Read these files: {', '.join(rule.files)}." if rule.files else ""
    return {"ruleId": rule.rule_id, "content": " ".join(filter(None, (rule.text, listed))), "mode": rule.mode}


def _reaches(usage: Any, mark: float) -> bool:
    return mark > 0 and isinstance(usage, int | float) and usage >= mark
