"""Compare the verdict of a replay with the recorded one."""

import re

from snell.engine.explain import shorten
from snell.model.decision import Decision
from snell.redact import redact
from snell.replay.recorded_event import RecordedEvent, Replayed

UNCHANGED, DENIED, ASKED = "unchanged", "newly_denied", "newly_asked"
NO_LONGER_DENIED, NO_LONGER_ASKED, UNKNOWN = "no_longer_denied", "no_longer_asked", "cannot_be_replayed"
RESULTS = {
    UNCHANGED: "unchanged",
    DENIED: "newly denied",
    ASKED: "newly asked",
    NO_LONGER_DENIED: "no longer denied",
    NO_LONGER_ASKED: "no longer asked",
    UNKNOWN: "cannot be replayed",
}
_LEVELS = {"no_opinion": 0, "allow": 0, "ask": 1, "defer": 1, "deny": 2}
_QUOTED = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"|\d+")
LONGEST_CAUSE = 100


def change_of(before: str, decision: Decision) -> int:
    """Return by how much the verdict is stricter than it was; less than 0 if it is less strict."""
    return _LEVELS[decision.verdict.name.lower()] - _LEVELS.get(before, 0)


def compare(recorded: RecordedEvent, decision: Decision | None, unknown: str) -> Replayed:
    """Return what became of an event; `unknown` is why it cannot be known."""
    after = decision.verdict.name.lower() if decision is not None and not unknown else ""
    result = UNKNOWN if unknown else _result(_LEVELS.get(recorded.verdict, 0), _LEVELS[after])
    is_shown = result != UNCHANGED or _LEVELS[after] > 0
    reason = decision.reasons[0] if decision is not None and decision.reasons and _LEVELS.get(after, 0) else None
    why = unknown or (decision.reason if decision is not None and reason else "")
    return Replayed(
        session=recorded.session,
        client=recorded.client,
        name=recorded.name,
        tool=recorded.tool_name or recorded.tool,
        at=recorded.at,
        id=recorded.id,
        number=recorded.number,
        before=recorded.verdict,
        after=after,
        result=result,
        given=_short(recorded) if is_shown else "",
        hook=reason.hook if reason else ", ".join(recorded.hooks) if is_shown else "",
        cause=cause_of(why) if is_shown else "",
        why=redact(why) if is_shown else "",
    )


def _result(before: int, after: int) -> str:
    if after == before:
        return UNCHANGED
    if after > before:
        return DENIED if after == 2 else ASKED
    return NO_LONGER_DENIED if before == 2 else NO_LONGER_ASKED


def cause_of(reason: str) -> str:
    """Return a reason without what is special to one call: names, quoted texts and numbers."""
    text = _QUOTED.sub("...", reason.partition("\n")[0].partition(". Instead:")[0].partition("; instead:")[0])
    return shorten(text, LONGEST_CAUSE)


def _short(recorded: RecordedEvent) -> str:
    given = recorded.payload.get("tool_input") or recorded.payload.get("prompt") or ""
    if isinstance(given, dict):
        named = (given.get(key) for key in ("command", "file_path", "path", "url", "query", "pattern"))
        given = next((each for each in named if isinstance(each, str) and each), given)
    return shorten(redact(str(given)[:4_000]), 120)
