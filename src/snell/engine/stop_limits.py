"""
Limits how often hooks may keep the agent from stopping: 3 times a turn and 10 times a session, whatever the client's
own flag says: the flag gets lost, and a client's own limit starts anew with every tool call.
"""

from msgspec.structs import replace

from snell.model.catalogue import TURN_ENDS
from snell.model.decision import Decision, Reason
from snell.model.effects import Verdict
from snell.model.events import persistent_scope, session_scope, text_in
from snell.model.protocols import Store

PER_TURN = 3
PER_SESSION = 10
LOOP_HOOK, LOOP_MARK = "harness/require_promise", "harness/loop"  # the promise loop that a user started


def limit_stops(decision: Decision, marks: Store) -> Decision:
    """Return the decision, with a block of Stop lifted once it has been given too often."""
    event = decision.event
    if event.name == "UserPromptSubmit":
        marks.put(session_scope(event), "turn", (marks.get(session_scope(event), "turn") or 0) + 1)
    if event.name not in TURN_ENDS or decision.verdict is not Verdict.DENY:
        return decision
    is_loop = any(reason.hook == LOOP_HOOK for reason in decision.reasons)
    if is_loop and marks.get(persistent_scope(event.session_id), LOOP_MARK):
        return decision  # it has a limit of its own, which a user set
    turn = text_in(event.payload, "prompt_id") or str(marks.get(session_scope(event), "turn") or 0)
    mark = f"stop_blocks:{event.agent_id}"
    seen = marks.get(session_scope(event), mark) or ["", 0, 0]
    in_turn, in_session = seen[1] if seen[0] == turn else 0, seen[2]
    reached = f"{PER_TURN} times in this turn" if in_turn >= PER_TURN else f"{PER_SESSION} times in this session"
    if in_turn < PER_TURN and in_session < PER_SESSION:
        marks.put(session_scope(event), mark, [turn, in_turn + 1, in_session + 1])
        return decision
    limit = f"hooks have kept the agent from stopping {reached}"
    names = ", ".join(f"`{reason.hook}`" for reason in decision.reasons) or "a hook"
    notice = Reason("snell", f"the turn ends although {names} asked to go on: {limit}")
    return replace(
        decision,
        verdict=Verdict.NO_OPINION,
        reasons=(),
        tells=(*decision.tells, notice),
        merge=(*decision.merge, f"the block is lifted: {limit}"),
    )
