"""
Limits how often hooks may keep the agent from stopping: 3 times a turn and 10 times a session, whatever the client's
own flag says: the flag gets lost, and a client's own limit starts anew with every tool call.
"""

from msgspec.structs import replace

from snell.model.catalogue import TURN_ENDS
from snell.model.decision import Decision, Reason
from snell.model.effects import Verdict
from snell.model.events import Event, persistent_scope, text_in
from snell.model.protocols import Store

PER_TURN = 3
PER_SESSION = 10
LOOP_HOOK, LOOP_MARK = "harness/promise", "harness/loop"  # the promise loop that a user started


def limit_stops(decision: Decision, marks: Store) -> Decision:
    """Return the decision, with a block of Stop lifted once it has been given too often."""
    event = decision.event
    if event.name == "UserPromptSubmit":
        _begin_turn(event, marks)
    if event.name not in TURN_ENDS or decision.verdict is not Verdict.DENY:
        return decision
    if _is_users_loop(decision, marks):
        return decision  # it has a limit of its own, which a user set
    turn, in_turn, in_session = _count(event, marks)
    limit = _limit_reached(in_turn, in_session)
    if not limit:
        marks.put(_scope(event), _mark(event), [turn, in_turn + 1, in_session + 1])
        return decision
    notice = Reason("snell", f"the turn ends although {_names(decision)} asked to go on: {limit}")
    return replace(
        decision,
        verdict=Verdict.NO_OPINION,
        reasons=(),
        tells=(*decision.tells, notice),
        merge=(*decision.merge, f"the block is lifted: {limit}"),
    )


def _is_users_loop(decision: Decision, marks: Store) -> bool:
    asked = any(reason.hook == LOOP_HOOK for reason in decision.reasons)
    return asked and bool(marks.get(persistent_scope(decision.event.session_id), LOOP_MARK))


def _limit_reached(in_turn: int, in_session: int) -> str:
    if in_turn >= PER_TURN:
        return f"hooks have kept the agent from stopping {PER_TURN} times in this turn"
    if in_session >= PER_SESSION:
        return f"hooks have kept the agent from stopping {PER_SESSION} times in this session"
    return ""


def _count(event: Event, marks: Store) -> tuple[str, int, int]:
    turn = text_in(event.payload, "prompt_id") or str(marks.get(_scope(event), "turn") or 0)
    seen = marks.get(_scope(event), _mark(event)) or ["", 0, 0]
    return turn, seen[1] if seen[0] == turn else 0, seen[2]


def _begin_turn(event: Event, marks: Store) -> None:
    marks.put(_scope(event), "turn", (marks.get(_scope(event), "turn") or 0) + 1)


def _scope(event: Event) -> str:
    return f"session:{event.session_id}"


def _mark(event: Event) -> str:
    return f"stop_blocks:{event.agent_id}"


def _names(decision: Decision) -> str:
    return ", ".join(f"`{reason.hook}`" for reason in decision.reasons) or "a hook"
