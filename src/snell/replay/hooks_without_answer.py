"""Find hooks whose answer a replay cannot know: it did not run them, or they failed without files and connections."""

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


def why_no_answer(recorded: RecordedEvent, decision: Decision | None, executor: Any) -> str:
    """
    Return which hook might have changed the verdict, and why it did not answer; empty if there is none. A hook that had
    no opinion then, or failed, would do so again. `executor` knows which hooks were skipped and which tried to connect.
    """
    failed = {each.hook for each in decision.failures} if decision is not None else set()
    skipped, connecting = executor.judges, executor.connecting
    if decision is None or not (skipped or failed or connecting):
        return ""
    if decision.verdict is Verdict.DENY and decision.reasons[0].hook not in failed:
        return ""  # no other hook can take a denial back
    then = {run.hook: run for part in _decode(recorded.rounds or b"[]") for run in part.runs}
    for hook in sorted(skipped):
        if hook not in then or (hook not in recorded.hooks and _has_decided(then[hook])):
            return not_run(hook, executor.kinds[hook])
    new = sorted(hook for hook in failed if hook not in then or not then[hook].failure)
    if new:
        return f"{new[0]} fails in a replay: it may need a file or a connection"
    return f"{min(connecting)} tried to open a connection, which a replay refuses" if connecting else ""


def _has_decided(run: _Run) -> bool:
    return any(each.partition(":")[0] in _DECIDING for each in run.effects)


def not_run(hook: str, kind: str) -> str:
    """Say why a hook was not run, without quotes: calls are grouped by a text without what is in quotes."""
    more = "; add --run-commands" if kind == "command" else ""
    return f"{hook} is a {kind} hook, which a replay does not run{more}"
