"""Turns a decision into plain data: what `why` reads, `--json` prints and the journal keeps."""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import asdict

from snell.model.decision import QUIET, Decision, Outcome, Reason, Round, Skipped
from snell.model.effects import Effect, Note, Rewrite, Tell
from snell.model.events import text_in
from snell.model.hooks import Hook


def record_of(decision: Decision, not_run: Iterable[Skipped] = (), problems: Iterable[str] = ()) -> dict[str, Any]:
    """Return everything about a decision; empty fields are left out."""
    event = decision.event
    full = {
        "id": decision.id,
        "client": event.client,
        "event": event.name,
        "session_id": event.session_id,
        "agent_id": event.agent_id,
        "agent_type": text_in(event.payload, "agent_type"),
        "cwd": event.cwd,
        "tool": event.tool,
        "tool_name": event.tool_name if event.tool_name != event.tool else "",
        "kind": event.kind,
        "flags": list(event.flags),
        "value": event.rewritable if event.row.rewrites else None,
        "error": _error_in(event.payload.get("error")),
        "verdict": str(decision.verdict),
        "reason": decision.reason,
        **{name: [_reason(each) for each in given] for name in _REASONS if (given := getattr(decision, name))},
        "stop": _reason(decision.stop) if decision.stop else None,
        "changes": [asdict(change) for change in decision.changes] if decision.changes else None,
        "env": decision.env,
        "extras": decision.extras,
        "merge": list(decision.merge),
        "rounds": [_round(each) for each in decision.rounds],
        "not_run": [asdict(each) for each in (*decision.skipped, *not_run)],
        "problems": list(problems),
    }
    return {name: value for name, value in full.items() if value or value not in (None, "", [], {})}


_REASONS = ("reasons", "notes", "tells", "failures")


def late_run(hook: Hook, outcome: Outcome) -> dict[str, Any]:
    """Return the run of a hook that ended after the reply."""
    ignored = [effect for effect in outcome.effects if not isinstance(effect, Note | Tell) or hook.role == "watches"]
    run = _run_fields(hook, outcome)
    if ignored:
        words = ", ".join(type(effect).__name__.lower() for effect in ignored)
        run["remarks"] = [*run.get("remarks", ()), f"{words} came too late to count"]
    return run


def effect_in_words(effect: Effect) -> str:
    """Return an effect as text: `deny: force-push overwrites work`."""
    name = type(effect).__name__.lower()
    if isinstance(effect, Rewrite):
        return f"rewrite: {effect.because}" if effect.because else "rewrite"
    text = next((str(value) for value in asdict(effect).values() if value), "")
    return f"{name}: {text}" if text else name


def _error_in(said: Any) -> str:
    """Return the error that a tool or client reports; some put it into an object."""
    if isinstance(said, dict):
        said = said.get("message")
    return said if isinstance(said, str) else ""


def _reason(reason: Reason) -> dict[str, str]:
    return {name: value for name, value in asdict(reason).items() if value}


def _round(each: Round) -> dict[str, Any]:
    """Return a round. INVARIANT: callers do not change it, since a round without effects is always the same object."""
    if each.outcomes.count(QUIET) < len(each.outcomes):
        return _round_fields(each)
    return _from_cache((each.name, id(each.hooks)), each.hooks, lambda: _round_fields(each))


def _round_fields(each: Round) -> dict[str, Any]:
    return {"pass": each.name, "runs": [_run(h, o) for h, o in zip(each.hooks, each.outcomes, strict=True)]}


def _run(hook: Hook, outcome: Outcome) -> dict[str, Any]:
    """Return a run. INVARIANT: callers do not change it, since a run without effects is always the same object."""
    if outcome.effects or outcome.failure or outcome.remarks:
        return _run_fields(hook, outcome)
    quiet = _from_cache(("", id(hook)), hook, lambda: _run_fields(hook, QUIET))
    return quiet if outcome is QUIET else {**quiet, "ms": round(outcome.seconds * 1000, 3)}


def _from_cache(key: tuple[str, int], about: object, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    known = _quiet.get(key)
    if known is None or known[0] is not about:  # an id belongs to another object when its own is gone
        if len(_quiet) >= CACHED:
            _quiet.clear()
        known = _quiet[key] = (about, make())
    return known[1]


CACHED = 512  # each keeps its hooks alive, also those of settings that have changed
_quiet: dict[tuple[str, int], tuple[object, dict[str, Any]]] = {}


def _run_fields(hook: Hook, outcome: Outcome) -> dict[str, Any]:
    full = {
        "hook": hook.id,
        "role": hook.role or "undeclared",
        "scope": hook.scope.name.lower(),
        "layer": hook.source.layer,
        "handler": hook.handler.kind,
        "source": str(hook.source),
        "status": outcome.status,
        "ms": round(outcome.seconds * 1000, 3),
        "effects": [effect_in_words(effect) for effect in outcome.effects],
        "failure": asdict(outcome.failure) if outcome.failure else None,
        "on_failure": hook.failure_policy if outcome.failure else "",
        "remarks": list(outcome.remarks),
    }
    return {name: value for name, value in full.items() if value not in (None, "", [], {})}
