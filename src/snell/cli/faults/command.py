"""Run each hook with every fault, and print what its users would see."""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct, to_builtins

from snell.cli.faults import inputs, machine
from snell.cli.terminal import Colours, print_json, visible
from snell.engine.explain import shorten
from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.model.errors import SnellError
from snell.model.events import Event
from snell.testing.case_event import CaseEvent, case_event_from
from snell.testing.case_files import hook_files
from snell.testing.cases import ENDING, cases_in
from snell.testing.run_cases import UnderTest, runtime_for
from snell.testing.scaffold import new_hook

_INPUTS = {
    "missing fields": inputs.without_a_field,
    "other types": inputs.with_other_types,
    "huge input": inputs.with_huge_texts,
}
_OF_MACHINE = {
    "slow machine": machine.decide_slowly,
    "killed process": machine.decide_killed,
    "time limit": machine.decide_over_time,
    "full disk": machine.decide_on_full_disk,
}


class FaultResult(Struct, frozen=True):
    """What users would see if one fault happened."""

    fault: str
    sees: str
    is_failure: bool = False  # of the hook, which its author can correct
    is_lost: bool = False  # what the hook refuses would happen
    seconds: float = 0.0


def run(args: argparse.Namespace, paths: Sequence[Path]) -> int:
    """Report on the hooks of these paths; the exit code is 1 if one fails on input that a client may send."""
    if sys.platform != "linux":
        raise SnellError("faults can be tried on Linux only", advice="`snell test` without `--faults` runs anywhere")
    hooks = [each for path in paths for each in hook_files(path)]
    if not hooks:
        raise SnellError("no hook was found", advice="name the file of a hook, such as .snell/hooks/NAME.py")
    found = {str(path): list(try_all(path)) for path in hooks}
    if args.json:
        print_json(to_builtins(found))
    else:
        print("\n".join(_lines(found, Colours.for_stdout())))
    return 1 if any(each.is_failure for seen in found.values() for each in seen) else 0


def try_all(subject: Path) -> Iterator[FaultResult]:
    """Yield what happens to an event that the hook judges, without a fault and with each."""
    with runtime_for(subject) as (runtime, tested):
        event = _event(subject, tested, runtime.decide)
        usual = runtime.decide(event)
        yield FaultResult("no fault", _describe(usual))
        for fault, make in _INPUTS.items():
            yield _worst(fault, make(event), runtime.decide)
    for fault, decide in _OF_MACHINE.items():
        begin = time.monotonic()
        decision = decide(subject, event)
        is_lost = usual.verdict > decision.verdict and usual.verdict >= Verdict.ASK
        yield FaultResult(fault, _describe(decision), is_lost=is_lost, seconds=time.monotonic() - begin)


def _worst(fault: str, events: Iterator[tuple[str, Event]], decide: Callable[[Event], Decision]) -> FaultResult:
    """Return the first failure among these events; else the longest time."""
    number, longest = 0, 0.0
    for name, event in events:
        begin = time.monotonic()
        decision = decide(event)
        number, longest = number + 1, max(longest, time.monotonic() - begin)
        if decision.failures:
            return FaultResult(fault, f"{name}: {_describe(decision)}", is_failure=True)
    return FaultResult(fault, f"{number} events, none failed; the longest took {longest:.2f} s", seconds=longest)


def _describe(decision: Decision) -> str:
    """Describe what a user sees of a decision."""
    reason = shorten(decision.reason, 160)
    if decision.verdict is Verdict.DENY:
        return f"the call is refused: {reason}"
    if decision.verdict in (Verdict.ASK, Verdict.DEFER):
        return f"the user is asked: {reason}"
    if decision.failures:
        return f"the call goes on without this hook, and a warning says once a session: {decision.failures[0].text}"
    told = [each.text for each in (*decision.notes, *decision.tells)]
    changed = "the call is changed, and " if decision.changes else ""
    return f"{changed}the call goes on" + (f", with a note: {shorten(told[0], 100)}" if told else "")


def _event(subject: Path, tested: UnderTest, decide: Callable[[Event], Decision]) -> Event:
    """Return an event that the hooks have an opinion on: of their cases, else an example for their first hook."""
    file = subject.with_suffix(ENDING)
    given = [case.event for case in cases_in(file)] if file.exists() else [_example(tested)]
    events = [each.to_event(tested.project or "/tmp", "faults") for each in given]
    return next((each for each in events if decide(each).verdict > Verdict.ALLOW), events[0])


def _example(tested: UnderTest) -> CaseEvent:
    hook = tested.hooks[0]
    made = new_hook("example", hook.event, next(iter(hook.kinds), ""))
    return case_event_from(made.event(made.example.yes))


def _lines(found: dict[str, list[FaultResult]], paint: Colours) -> Iterator[str]:
    for path, seen in found.items():
        yield paint.bold(visible(path))
        for each in seen:
            word = (
                paint.red("FAIL") if each.is_failure else paint.yellow("lost") if each.is_lost else paint.green("ok  ")
            )
            yield f"  {word}  {each.fault:<14}  {visible(each.sees)}"
        if any(each.is_lost for each in seen):
            yield '  where it is lost: `on_failure="block"` or `"ask"` in the hook\'s decorator refuses or asks instead'
