"""
Warn the user of hooks that failed and were ignored: in the client, once per hook and session. A hook that failed in
each of the last sessions is named when the next one starts.
"""

from typing import Any

from msgspec.structs import replace

from snell.engine.deferred_notes import hold
from snell.engine.limit_effects import judgement_for
from snell.model.context import Context
from snell.model.decision import Decision, Failure, Reason
from snell.model.effects import Ask, Deny
from snell.model.events import Event, session_scope
from snell.model.hooks import Hook
from snell.model.protocols import Store

SESSIONS = 3  # in a row, in the same project, after which a hook is named


def add_warnings(decision: Decision, context: Context) -> Decision:
    """Add a message to the user for each hook that failed open for the first time in this session."""
    from snell.redact import redact  # what a program said when it failed may be anything, and failures are rare

    reasons, failed = (
        tuple(replace(each, text=redact(each.text)) for each in texts)
        for texts in (decision.reasons, decision.failures)
    )
    decision = replace(decision, reasons=reasons, failures=failed)
    last = {hook: outcome for _, hook, outcome in decision.runs()}
    for hook, outcome in last.items():
        is_shown = any(isinstance(effect, Ask | Deny) for effect in outcome.effects)
        if outcome.failure and not is_shown and judgement_for(hook, decision.event, outcome.failure) is None:
            warning = first_warning(hook, decision.event, outcome.failure, context.marks, context.project_dir)
            if warning and "tell" in decision.event.row.can:
                decision = replace(decision, tells=(*decision.tells, warning))
            elif warning:
                hold(decision.event, [warning], context.marks, until="user")
    return decision


def first_warning(hook: Hook, event: Event, failure: Failure, marks: Store, project: str) -> Reason | None:
    """Return the warning for a failed hook, and remember it; None if this session has had it."""
    scope, name = session_scope(event), f"warned:{hook.id}"
    if failure.kind == "cancelled" or (event.session_id and marks.get(scope, name)):
        return None
    marks.put(scope, name, True)
    from snell.redact import redact

    message = redact(failure.message)

    def with_failure(sessions: list[list[Any]] | None) -> list[list[Any]]:
        before = [each for each in sessions or [] if each[0] != event.session_id]
        failed: dict[str, str] = next((each[1] for each in sessions or [] if each[0] == event.session_id), {})
        return [*before, [event.session_id, {**failed, hook.id: message}]][-SESSIONS:]

    marks.change("hooks", _failed_mark(project), with_failure)
    text = f"snell: hook `{hook.id}` ({hook.source}) failed and was ignored: {message}"
    return Reason("snell", f"{text}; `snell why` shows the run")


def failing_hooks(event: Event, context: Context) -> list[str]:
    """Return a text for each hook that failed in all of the last sessions; `event` starts another one."""
    mark = _failed_mark(context.project_dir)
    sessions: list[list[Any]] = context.marks.get("hooks", mark) or []
    if not sessions or any(each[0] == event.session_id for each in sessions):
        return []
    later = [*sessions, [event.session_id, {}]][-SESSIONS:]
    if any(failed for _, failed in later):
        context.marks.put("hooks", mark, later)
    else:
        context.marks.drop("hooks", mark)
    active = {hook.id: hook for hook in context.registry.hooks()} if len(sessions) == SESSIONS else {}
    always = [hook for hook in active.values() if all(hook.id in failed for _, failed in sessions)]
    last = sessions[-1][1]
    advice = "repair it, or disable it with `enabled = false`"
    return [
        f"hook `{hook.id}` ({hook.source}) failed in each of the last {SESSIONS} sessions: {last[hook.id]}; {advice}"
        for hook in always
    ]


def _failed_mark(project: str) -> str:
    return f"failed:{project}"
