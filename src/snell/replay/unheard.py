"""Hooks that a replay could not hear: it did not run them, or they failed without files and connections."""

from typing import Any

import msgspec
from msgspec import Struct

from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.replay.recorded_event import RecordedEvent


class _Run(Struct):
    hook: str
    effects: tuple[str, ...] = ()
    failure: object = None


class _Round(Struct):
    runs: list[_Run] = []


_DECIDING = ("deny", "ask", "defer", "allow", "rewrite")
_decode = msgspec.json.Decoder(list[_Round]).decode


def why_unheard(recorded: RecordedEvent, decision: Decision | None, heard: Any) -> str:
    """
    Return which hook could have decided otherwise; a hook that was silent then, or failed, is taken to be again.
    `heard` is the executor, which knows of the hooks of this event which it skipped and which tried to connect.
    """
    failed = {each.hook for each in decision.failures} if decision is not None else set()
    skipped, connecting = heard.judges, heard.connecting
    if decision is None or not (skipped or failed or connecting):
        return ""
    if decision.verdict is Verdict.DENY and decision.reasons[0].hook not in failed:
        return ""  # no other hook can take a denial back
    then = {run.hook: run for part in _decode(recorded.rounds or b"[]") for run in part.runs}
    for hook in sorted(skipped):
        if hook not in then or (hook not in recorded.hooks and _has_decided(then[hook])):
            return not_run(hook, heard.kinds[hook])
    new = sorted(hook for hook in failed if hook not in then or not then[hook].failure)
    if new:
        return f"{new[0]} fails in a replay: it may need a file or a connection"
    return f"{min(connecting)} tried to open a connection, which a replay refuses" if connecting else ""


def _has_decided(run: _Run) -> bool:
    return any(each.partition(":")[0] in _DECIDING for each in run.effects)


def not_run(hook: str, kind: str) -> str:
    """Return why; without quotes, since what is in quotes is left out where calls are grouped by their cause."""
    more = "; add --run-commands" if kind == "command" else ""
    return f"{hook} is a {kind} hook, which a replay does not run{more}"
