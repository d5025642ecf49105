"""
One tool call inside somebody's agent, from the model's wish to what the model gets to see:

    enabled -> valid -> PreToolUse -> permission -> execute -> PostToolUse or PostToolUseFailure

The course is a generator that says what to do next, so that it is written once for plain code and for coroutines; the
two drivers are in `tool_driver.py`. INVARIANT: what the hooks and the permission step saw last is what is executed.
"""

from asyncio import CancelledError
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Literal

from msgspec import Struct

from snell.model.decision import Decision, Reason
from snell.model.effects import Allow, Ask, Deny, Rewrite, Verdict
from snell.model.events import DEEPEST, Event, json_equal, nests_deeper_than

Input = dict[str, Any]
Status = Literal[
    "done", "failed", "timeout", "cancelled", "unknown", "disabled", "invalid", "refused", "deferred", "over budget"
]


class Approval(Struct, frozen=True):
    """What a person is asked about: the call as it would run, and why it is asked about."""

    tool: str
    input: Input
    reason: str = ""


class Plan(Struct, frozen=True, kw_only=True, eq=False):
    """A wished call, and what stands between it and the tool. Every function here may be a coroutine."""

    tool: str
    input: Input
    execute: Callable[[Input], Any]
    event: Callable[[str, Input], Event]  # the event of this name about this call, with these fields
    is_enabled: Callable[[], Any] | None = None
    validate: Callable[[Input], Any] | None = None  # what is wrong: texts, False, or nothing
    permission: Callable[[Input], Any] | None = None  # Allow, Ask, Deny, Rewrite, several of them, or nothing
    approve: Callable[[Approval], Any] | None = None  # True lets the call through
    validates_rewrites: bool = True
    passes: tuple[type[BaseException], ...] = ()  # what a library raises to steer itself, which is no failure
    shown: Callable[[Any], Any] | None = None  # what hooks see of an output; absent = all of it
    timeout: float | None = None
    on_decision: Callable[[Decision], None] | None = None


class Result(Struct, frozen=True, kw_only=True):
    status: Status
    tool: str = ""
    input: Input = {}  # as it was executed, or as it was when the call ended
    output: Any = None
    error: str = ""  # why there is no output
    notes: tuple[str, ...] = ()  # what hooks say to the model
    tells: tuple[str, ...] = ()  # what hooks say to the person
    stop: str = ""  # a hook ends the turn, for this reason
    failures: tuple[Reason, ...] = ()  # hooks that could not do their job, and why
    exception: BaseException | None = None  # what the tool raised

    @property
    def is_error(self) -> bool:
        return self.status != "done"

    @property
    def text(self) -> str:
        """What the model gets to see: the output or the error, then the notes."""
        said = self.error if self.is_error else "" if self.output is None else str(self.output)
        return "\n".join(filter(None, [said, *self.notes]))


class Decide(Struct, frozen=True):
    """To the driver: have the hooks decide this event."""

    event: Event


class Do(Struct, frozen=True):
    """To the driver: call this, and wait for it when it is a coroutine. A tool may block, and may have a limit."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    is_tool: bool = False
    timeout: float | None = None


class OutOfTimeError(Exception):
    """The tool had no more time; raised by drivers."""


Course = Generator[Decide | Do, Any, Result]
Steps = Generator[Decide | Do, Any, None]


class EndedError(Exception):
    """The call ends here, without the tool."""

    def __init__(self, status: Status, reason: str, stop: str = "") -> None:
        self.status, self.reason, self.stop = status, reason, stop


def tool_call_steps(plan: Plan) -> Course:
    """What to do, step by step."""
    call = _Call(plan)
    try:
        yield from call.enabled()
        yield from call.valid(call.input)
        yield from call.judged()
        yield from call.permitted()
    except EndedError as ended:
        return call.result(ended.status, error=ended.reason, stop=ended.stop)
    return (yield from call.executed())


class _Call:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.input = plan.input
        self.verdict = Verdict.NO_OPINION
        self.why = ""
        self.notes: list[str] = []
        self.tells: list[str] = []
        self.failures: list[Reason] = []

    def enabled(self) -> Steps:
        if self.plan.is_enabled and not (yield from self.asked("whether it is enabled", self.plan.is_enabled)):
            raise EndedError("disabled", f"the tool `{self.plan.tool}` is disabled")

    def valid(self, value: Input, who: str = "") -> Steps:
        found = _wrong_shape(value)
        if not found and self.plan.validate:
            try:
                found = _texts((yield from self.asked("whether its input is valid", self.plan.validate, value)))
            except ValueError as error:
                found = [str(error) or type(error).__name__]
        if found:
            start = f"{who} rewrote the input of `{self.plan.tool}` wrongly" if who else "the input is not valid"
            raise EndedError("invalid", f"{start}: {'; '.join(found)}")
        self.input = _copied(value)

    def judged(self) -> Steps:
        decision = yield from self.decided("PreToolUse")
        self.check(decision)
        if decision.is_rewritten:
            yield from self.rewritten(decision.event.tool_input, _who(decision))

    def check(self, decision: Decision) -> None:
        """What a decision before the call means for it."""
        if decision.stop:
            reason = decision.stop.text or f"`{decision.stop.hook}` ends the turn"
            raise EndedError("refused", decision.reason or reason, stop=reason)
        if decision.verdict is Verdict.DENY:
            raise EndedError("refused", decision.reason or "a hook refused without a reason")
        if decision.verdict is Verdict.DEFER:
            raise EndedError("deferred", decision.reason or "a hook put the call off")
        self.verdict, self.why = decision.verdict, decision.reason

    def rewritten(self, value: Input, who: str) -> Steps:
        """Let a rewrite take effect, after it was looked at as the original was."""
        if self.plan.validates_rewrites:
            yield from self.valid(value, who)
            return
        if wrong := _wrong_shape(value):
            raise EndedError("invalid", f"{who} rewrote the input of `{self.plan.tool}` wrongly: {'; '.join(wrong)}")
        self.input = _copied(value)
        self.tells.append(f"{who} rewrote the input of `{self.plan.tool}`, which is not validated again")

    def permitted(self) -> Steps:
        asks = yield from self.permission()
        if self.verdict is Verdict.ASK or (asks is not None and self.verdict is not Verdict.ALLOW):
            yield from self.approved("\n".join(filter(None, [self.why, asks])))

    def permission(self) -> Generator[Decide | Do, Any, str | None]:
        """The tool's own rule about the input as it is now; returns why a person is to be asked, if so."""
        rule = self.plan.permission
        given = (yield from self.asked("whether it is permitted", rule, self.input)) if rule else None
        asks: str | None = None
        for each in _effects(given):
            if isinstance(each, Deny):
                raise EndedError("refused", each.because or "the permission rule of the tool refuses this")
            if isinstance(each, Ask):
                asks = each.because
            if isinstance(each, Rewrite):
                yield from self.judged_again(each.applied_to(self.input), "the permission rule")
        return asks

    def judged_again(self, value: Any, who: str) -> Steps:
        """What somebody rewrote after the hooks had judged is judged once more; hooks may not rewrite it again."""
        if json_equal(value, self.input):
            return
        yield from self.rewritten(value, who)
        decision = yield from self.decided("PreToolUse")
        self.check(decision)
        if decision.is_rewritten:
            again = f"{_who(decision)} would rewrite what had already been rewritten and judged"
            raise EndedError("refused", again)

    def approved(self, reason: str) -> Steps:
        """Hooks may answer in a person's place; without anybody to ask the answer is no."""
        decision = yield from self.decided("PermissionRequest")
        self.check(decision)
        if decision.is_rewritten:
            yield from self.judged_again(decision.event.tool_input, _who(decision))
            asked = self.input
            yield from self.permission()
            if not json_equal(asked, self.input):
                raise EndedError("refused", "the permission rule would rewrite what had already been judged")
        if decision.verdict is Verdict.ALLOW:
            return
        if not self.plan.approve:
            raise EndedError("refused", f"{reason or 'this needs an approval'}; nobody is there who could be asked")
        approval = Approval(self.plan.tool, _copied(self.input), reason)
        if (yield from self.asked("whether it is approved", self.plan.approve, approval)) is not True:
            raise EndedError("refused", f"the user refused{': ' + reason if reason else ''}")

    def asked(self, what: str, function: Callable[..., Any], *given: Any) -> Generator[Decide | Do, Any, Any]:
        """The answer of one of the builder's own functions. One that could not answer has not said yes."""
        try:
            return (yield Do(function, tuple(map(_copied, given))))
        except Exception as error:
            if isinstance(error, ValueError) and function is self.plan.validate:
                raise
            why = f"{type(error).__name__}: {error}"
            raise EndedError("refused", f"nobody could say {what} for `{self.plan.tool}`: {why}") from None

    def executed(self) -> Course:
        plan = self.plan
        try:
            output = yield Do(plan.execute, (_copied(self.input),), is_tool=True, timeout=plan.timeout)
        except plan.passes:
            raise
        except OutOfTimeError as error:
            return (yield from self.failed("timeout", f"did not finish within {plan.timeout:g} s", error))
        except (CancelledError, KeyboardInterrupt, SystemExit) as error:
            yield from self.failed("cancelled", "was interrupted", error)
            raise
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is its result
            return (yield from self.failed("failed", str(error) or type(error).__name__, error))
        shown = plan.shown(output) if plan.shown else output
        if nests_deeper_than(DEEPEST, shown):  # or it holds itself; nobody could write it down
            shown = f"{type(shown).__name__}, nested over {DEEPEST} levels"
        decision = yield from self.decided("PostToolUse", tool_response=deep_copy(shown))
        if decision.is_rewritten:
            output = decision.event.tool_response
        return self.result("done", output=output, stop=self._stop(decision))

    def failed(self, status: Status, error: str, raised: BaseException) -> Course:
        decision = yield from self.decided("PostToolUseFailure", error=error, is_interrupt=status == "cancelled")
        return self.result(status, error=error, exception=raised, stop=self._stop(decision))

    def decided(self, name: str, **fields: Any) -> Generator[Decide | Do, Any, Decision]:
        """What the hooks say to an event about the call as it is now; they get a copy, since they may spoil it."""
        decision: Decision = yield Decide(self.plan.event(name, {"tool_input": _copied(self.input), **fields}))
        if self.plan.on_decision:
            self.plan.on_decision(decision)
        self.notes += [note.text for note in decision.notes]
        self.tells += [tell.text for tell in decision.tells]
        self.failures += decision.failures
        return decision

    def result(self, status: Status, **fields: Any) -> Result:
        return Result(
            status=status,
            tool=self.plan.tool,
            input=self.input,
            notes=tuple(self.notes),
            tells=tuple(self.tells),
            failures=tuple(self.failures),
            **fields,
        )

    def _stop(self, decision: Decision) -> str:
        """After the call nothing can be refused any more; what a hook has against it goes to the model."""
        if decision.verdict is Verdict.DENY and decision.reason:
            self.notes.append(decision.reason)
        return decision.stop.text or f"`{decision.stop.hook}` ends the turn" if decision.stop else ""


def deep_copy(value: Any) -> Any:
    """The same data in containers of its own, so that nobody changes it behind our back; as it is when too deep."""
    return value if nests_deeper_than(DEEPEST, value) else _copied(value)


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    return [_copied(each) for each in value] if isinstance(value, list) else value


def _wrong_shape(value: Any) -> list[str]:
    if not isinstance(value, dict):
        return [f"it is {type(value).__name__}, not an object"]
    return [f"it is nested over {DEEPEST} levels"] if nests_deeper_than(DEEPEST, value) else []


def _texts(found: Any) -> list[str]:
    """What is wrong, from what a check answered; a plain yes or no is an answer, too."""
    if found is None or found is True or found == "":
        return []
    if found is False:
        return ["the tool's own check refuses it"]
    if isinstance(found, str) or not isinstance(found, Iterable):
        said = found if isinstance(found, str) else f"the tool's own check answered {type(found).__name__}, not texts"
        return [said]
    return [str(each) for each in found]


def _effects(given: Any) -> Sequence[Any]:
    effects = given if isinstance(given, list | tuple) else () if given is None else (given,)
    for each in effects:
        if not isinstance(each, Allow | Ask | Deny | Rewrite):
            advice = "return Allow, Ask, Deny, Rewrite or nothing"
            raise EndedError("refused", f"a permission rule returned {type(each).__name__}; {advice}")
    # A refusal counts whatever else is said; and a question is about the rewritten input.
    return sorted(effects, key=lambda each: (not isinstance(each, Deny), not isinstance(each, Rewrite)))


def _who(decision: Decision) -> str:
    return ", ".join(dict.fromkeys(f"`{change.hook}`" for change in decision.changes)) or "a hook"
