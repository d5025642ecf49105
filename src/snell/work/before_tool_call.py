"""
Before a tool call: count it, refuse it when the agent has written nothing down for too long or its context is full,
and look at the effort's guard rules. Whatever cannot be found lets the call through.
"""

from typing import Any

from snell.model.protocols import Transaction
from snell.work import dehydration, effort_guards, sessions
from snell.work.effort_guards import ActiveRule, Facts
from snell.work.hook_arguments import Caller, PreToolUse
from snell.work.lookup import Lookup, look_up, look_up_cached
from snell.work.rows import Record, json_of, now_ms, union
from snell.work.session_events import block_after
from snell.work.snell_commands import is_ours, writes_the_log

NOT_COUNTED = frozenset({"Task", "Agent", "TaskOutput"})
UNCOUNTED_STATES = frozenset({"loading", "completed", "idle", "restarting", "resuming", "overflowed", "dehydrating"})


def pre_tool_use(tx: Transaction, call: PreToolUse, caller: Caller) -> Record:
    found = look_up_cached(tx, call.session_id, call.agent_id)
    found = found or look_up(tx, call.cwd, caller.agent_id, call.session_id, call.agent_id)
    found = _with_subagent(tx, found, call, caller)
    effort, session = found.effort, found.session
    if effort is None or session is None or _is_left_alone(effort):
        return answer(session=session)
    command = call.tool_input.get("command") if call.tool_name == "Bash" else None
    if isinstance(command, str) and is_ours(command):
        if writes_the_log(command):
            tx.do("UPDATE sessions SET heartbeat_counter = 0, last_edit = '' WHERE id = ?", session["id"])
            session = {**session, "heartbeatCounter": 0}
        return answer(session=session)
    return _judged(tx, call, caller, effort, _counted(tx, session, call, caller))


def answer(session: Record | None = None, **said: Any) -> Record:
    known = session or {}
    return {
        "allow": True,
        "heartbeatCount": known.get("heartbeatCounter"),
        "contextUsage": known.get("contextUsage"),
        "overflowWarning": False,
        "pendingPreloads": [],
        "firedRules": [],
        "notes": [],
        **said,
    }


def _with_subagent(tx: Transaction, found: Lookup, call: PreToolUse, caller: Caller) -> Lookup:
    """Whoever writes another transcript than the session's first is a sub-agent, with a session of its own."""
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


def _is_left_alone(effort: Record) -> bool:
    metadata = effort["metadata"]
    return (
        effort["lifecycle"] == "finished"
        or bool(metadata.get("loading") or metadata.get("dehydrating"))
        or str(metadata.get("state")) in UNCOUNTED_STATES
    )


def _counted(tx: Transaction, session: Record, call: PreToolUse, caller: Caller) -> Record:
    """The session with this call in it. Edits of one file in a row are one step of work."""
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


def _judged(tx: Transaction, call: PreToolUse, caller: Caller, effort: Record, session: Record) -> Record:
    count, limit = session["heartbeatCounter"], block_after(effort, caller)
    is_subagent = bool(session["subagentId"])
    given = effort["metadata"].get("guards")
    facts = _facts(call, caller, effort, session) if given else Facts()
    rules = effort_guards.active_rules(given, facts) if given else []
    said = answer(session, firedRules=[{"ruleId": each.rule_id, "payload": each.payload} for each in rules])
    said["overflowWarning"] = _reaches(session["contextUsage"], caller.limits.warn)
    refusal = _refusal(call, caller, session, count, limit, effort_guards.blocking(rules, facts))
    notes, told = _notes(caller, session, count, limit, rules)
    if refusal and is_subagent:
        notes, refusal = [*notes, f"{refusal[1]} (a sub-agent is only told)"], None
    said["pendingPreloads"] = [path for each in rules if each.mode == "preload" for path in each.files]
    _keep(tx, session, [each for each in rules if each.urgency == "allow"], told)
    if refusal:
        return {**said, "allow": False, "reason": refusal[1], "reasonCode": refusal[0], "notes": notes}
    return {**said, "notes": notes}


def _refusal(
    call: PreToolUse, caller: Caller, session: Record, count: int, limit: int, blocks: list[ActiveRule]
) -> tuple[str, str] | None:
    """Why this call is refused. A full context comes first: there nothing else matters any more."""
    usage, limits = session["contextUsage"], caller.limits
    if _reaches(usage, limits.block):
        return "overflow-block", f"the context is {usage:.0%} full. {dehydration.INSTRUCTION}"
    if blocks and blocks[0].is_overflow:
        return blocks[0].rule_id, blocks[0].text
    if call.tool_name == "Read" and _reaches(usage, limits.read_throttle):
        return "read-throttle", f"the context is {usage:.0%} full, so nothing more is read. {dehydration.INSTRUCTION}"
    if blocks:
        return blocks[0].rule_id, "\n".join(dict.fromkeys(each.text for each in blocks))
    if count >= limit and call.tool_name not in NOT_COUNTED:
        return "heartbeat-block", f"{count}/{limit} tool calls without logging"
    return None


def _notes(
    caller: Caller, session: Record, count: int, limit: int, rules: list[ActiveRule]
) -> tuple[list[str], list[str]]:
    """What the agent is told with the call, and under which names it need not be told again."""
    notes: list[str] = []
    told: list[str] = []
    usage, limits = session["contextUsage"], caller.limits
    if _reaches(usage, limits.warn):
        if (name := f"overflow {int(usage * 100)}") not in session["told"]:
            notes, told = [f"{usage:.0%} of the context is used. {dehydration.INSTRUCTION}"], [name]
    elif _reaches(usage, limits.notice) and "overflow notice" not in session["told"]:
        notes, told = (
            [f"{usage:.0%} of the context is used: begin no long documents and no new skill."],
            ["overflow notice"],
        )
    if count == limits.heartbeat_warning and count < limit:
        notes.append(f"{count}/{limit} tool calls without a word in the log; `snell effort log` writes one.")
    return notes, told


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


def _keep(tx: Transaction, session: Record, rules: list[ActiveRule], told: list[str]) -> None:
    """Rules that only speak do so after the call; those that speak once are remembered."""
    once = [each.rule_id for each in rules if each.once]
    stash = [_injection(each) for each in rules if each.text or each.files]
    if told or once:
        names = json_of(union(session["told"], [*told, *once]))
        tx.do("UPDATE sessions SET told = ? WHERE id = ?", names, session["id"])
    if stash:
        waiting = json_of(union(session["pendingInjections"], stash))
        tx.do("UPDATE sessions SET pending_injections = ? WHERE id = ?", waiting, session["id"])


def _injection(rule: ActiveRule) -> Record:
    listed = f"Read these files: {', '.join(rule.files)}." if rule.files else ""
    return {"ruleId": rule.rule_id, "content": " ".join(filter(None, (rule.text, listed))), "mode": rule.mode}


def _reaches(usage: Any, mark: float) -> bool:
    return mark > 0 and isinstance(usage, int | float) and usage >= mark
