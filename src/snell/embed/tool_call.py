"""
The steps of one tool call in an embedded agent, from the model's request to the result for the model:

    enabled -> valid -> PreToolUse -> permission -> execute -> PostToolUse or PostToolUseFailure

The steps are written once for plain code and for event loops, see `twins.py`. INVARIANT: the input that the hooks and
the permission rule saw last is the one that is executed.
"""

from asyncio import CancelledError
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from msgspec import Struct

from snell.embed.twins import Driver
from snell.handlers.python import OutOfTimeError
from snell.model.decision import Decision, Reason
from snell.model.effects import Allow, Ask, Deny, Rewrite, Verdict
from snell.model.events import DEEPEST, Event, json_equal, nests_deeper_than
from snell.runtime.app import Runtime

Input = dict[str, Any]
Status = Literal[
    "done", "failed", "timeout", "cancelled", "unknown", "disabled", "invalid", "refused", "deferred", "over budget"
]


class Approval(Struct, frozen=True):
    """A request to the user: the call as it would run, and why it needs an approval."""

    tool: str
    input: Input
    reason: str = ""


class Plan(Struct, frozen=True, kw_only=True, eq=False):
    """A requested call with its checks. Every function here may be a coroutine."""

    tool: str
    input: Input
    execute: Callable[[Input], Any]
    event: Callable[[str, Input], Event]  # returns the event of this name about this call, with these fields
    is_enabled: Callable[[], Any] | None = None
    validate: Callable[[Input], Any] | None = None  # returns problems: texts, False, or nothing
    permission: Callable[[Input], Any] | None = None  # Allow, Ask, Deny, Rewrite, several of them, or nothing
    approve: Callable[[Approval], Any] | None = None  # True allows the call
    validates_rewrites: bool = True
    passes: tuple[type[BaseException], ...] = ()  # exceptions by which a library controls itself; not failures
    output_for_hooks: Callable[[Any], Any] = lambda output: output
    failure_text: Callable[[Any], str | None] = lambda output: None  # of an output that reports a failure
    blocks: bool = True  # in an event loop a plain `execute` then runs in a thread
    timeout: float | None = None
    on_decision: Callable[[Decision], None] | None = None


class Result(Struct, frozen=True, kw_only=True):
    status: Status
    tool: str = ""
    input: Input = {}  # as executed, or as it was when the call ended
    output: Any = None
    original: Any = None  # the output that a hook changed, or the report of a failure that the tool returned
    error: str = ""  # why there is no output
    notes: tuple[str, ...] = ()  # texts of hooks for the model
    tells: tuple[str, ...] = ()  # texts of hooks for the user
    stop: str = ""  # the reason, if a hook ends the turn
    failures: tuple[Reason, ...] = ()  # hooks that failed, and why
    exception: BaseException | None = None  # what the tool raised

    @property
    def is_error(self) -> bool:
        return self.status != "done"

    @property
    def text(self) -> str:
        """The text for the model: the output or the error, then the notes."""
        text = self.error if self.is_error else "" if self.output is None else str(self.output)
        return "\n".join(filter(None, [text, *self.notes]))


class EndedError(Exception):
    """The call ends before the tool runs."""

    def __init__(self, status: Status, reason: str, stop: str = "") -> None:
        self.status, self.reason, self.stop = status, reason, stop


async def call_tool(plan: Plan, runtime: Runtime, driver: Driver) -> Result:
    """Run the steps of a call and return its result."""
    call = _Call(plan, runtime, driver)
    try:
        await call.require_enabled()
        await call.require_valid(call.input)
        await call.run_pre_hooks()
        await call.require_permission()
    except EndedError as ended:
        return call.result(ended.status, error=ended.reason, stop=ended.stop)
    return await call.execute()


class _Call:
    def __init__(self, plan: Plan, runtime: Runtime, driver: Driver) -> None:
        self.plan = plan
        self.runtime = runtime
        self.driver = driver
        self.input = plan.input
        self.verdict = Verdict.NO_OPINION
        self.why = ""
        self.notes: list[str] = []
        self.tells: list[str] = []
        self.failures: list[Reason] = []

    async def require_enabled(self) -> None:
        if self.plan.is_enabled and not await self.call_builder("whether it is enabled", self.plan.is_enabled):
            raise EndedError("disabled", f"the tool `{self.plan.tool}` is disabled")

    async def require_valid(self, value: Input, who: str = "") -> None:
        """Use an input if it is valid; `who` rewrote it, if it is not the original."""
        found = _wrong_shape(value)
        if not found and self.plan.validate and (self.plan.validates_rewrites or not who):
            try:
                found = _texts(await self.call_builder("whether its input is valid", self.plan.validate, value))
            except ValueError as error:
                found = [str(error) or type(error).__name__]
        if found:
            start = f"{who} rewrote the input of `{self.plan.tool}` wrongly" if who else "the input is not valid"
            raise EndedError("invalid", f"{start}: {'; '.join(found)}")
        self.input = _copy(value)

    async def run_pre_hooks(self) -> None:
        decision = await self.decide("PreToolUse")
        self.check(decision)
        if decision.is_rewritten:
            await self.apply_rewrite(decision.event.tool_input, _who(decision))

    def check(self, decision: Decision) -> None:
        """End the call if the decision refuses or defers it."""
        if stop := stop_text(decision):
            raise EndedError("refused", decision.reason or stop, stop=stop)
        if decision.verdict is Verdict.DENY:
            raise EndedError("refused", decision.reason or "a hook refused it without a reason")
        if decision.verdict is Verdict.DEFER:
            raise EndedError("deferred", decision.reason or "a hook deferred the call")
        self.verdict, self.why = decision.verdict, decision.reason

    async def apply_rewrite(self, value: Input, who: str) -> None:
        """Use a rewritten input after validating it like the original."""
        await self.require_valid(value, who)
        if not self.plan.validates_rewrites:
            self.tells.append(f"{who} rewrote the input of `{self.plan.tool}`, which is not validated again")

    async def require_permission(self) -> None:
        asks = await self.apply_permission_rule()
        if self.verdict is Verdict.ASK or (asks is not None and self.verdict is not Verdict.ALLOW):
            await self.require_approval("\n".join(filter(None, [self.why, asks])))

    async def apply_permission_rule(self) -> str | None:
        """Apply the tool's permission rule to the current input; returns why the user must approve, or None."""
        rule = self.plan.permission
        given = await self.call_builder("whether it is permitted", rule, self.input) if rule else None
        asks: str | None = None
        for each in _effects(given):
            if isinstance(each, Deny):
                raise EndedError("refused", each.because or "the permission rule of the tool refuses this")
            if isinstance(each, Ask):
                asks = each.because
            if isinstance(each, Rewrite):
                await self.run_pre_hooks_again(each.applied_to(self.input), "the permission rule")
        return asks

    async def run_pre_hooks_again(self, value: Any, who: str) -> None:
        """Run the hooks once more for an input that was rewritten after them; they may not rewrite it again."""
        if json_equal(value, self.input):
            return
        await self.apply_rewrite(value, who)
        decision = await self.decide("PreToolUse")
        self.check(decision)
        if decision.is_rewritten:
            again = f"{_who(decision)} would rewrite an input that was already rewritten and checked"
            raise EndedError("refused", again)

    async def require_approval(self, reason: str) -> None:
        """Ask for approval: hooks may answer for the user; without an `approve` function the call is refused."""
        decision = await self.decide("PermissionRequest")
        self.check(decision)
        if decision.is_rewritten:
            await self.run_pre_hooks_again(decision.event.tool_input, _who(decision))
            asked = self.input
            await self.apply_permission_rule()
            if not json_equal(asked, self.input):
                raise EndedError("refused", "the permission rule would rewrite an input that was already checked")
        if decision.verdict is Verdict.ALLOW:
            return
        if not self.plan.approve:
            raise EndedError(
                "refused", f"{reason or 'this needs an approval'}; there is no `approve` function to ask the user"
            )
        approval = Approval(self.plan.tool, _copy(self.input), reason)
        if await self.call_builder("whether it is approved", self.plan.approve, approval) is not True:
            raise EndedError("refused", f"the user refused{': ' + reason if reason else ''}")

    async def call_builder(self, what: str, function: Callable[..., Any], *given: Any) -> Any:
        """Call a function of the embedding program; an exception in it refuses the call."""
        try:
            return await self.driver.call(function, *map(_copy, given))
        except Exception as error:
            if isinstance(error, ValueError) and function is self.plan.validate:
                raise
            why = f"{type(error).__name__}: {error}"
            raise EndedError("refused", f"cannot tell {what} for `{self.plan.tool}`: {why}") from None

    async def execute(self) -> Result:
        plan = self.plan
        try:
            given = _copy(self.input)
            output = await self.driver.call(plan.execute, given, blocks=plan.blocks, limit=plan.timeout)
        except plan.passes:
            raise
        except OutOfTimeError as error:
            return await self.fail("timeout", f"did not finish within {plan.timeout:g} s", error)
        except (CancelledError, KeyboardInterrupt, SystemExit) as error:
            await self.fail("cancelled", "was interrupted", error)
            raise
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is its result
            return await self.fail("failed", str(error) or type(error).__name__, error)
        shown = plan.output_for_hooks(output)
        if (failure := plan.failure_text(output)) is not None:
            return await self.fail("failed", failure or "the tool failed", None, output)
        if nests_deeper_than(DEEPEST, shown):  # or it contains itself, so it cannot be stored
            shown = f"{type(shown).__name__}, nested over {DEEPEST} levels"
        decision = await self.decide("PostToolUse", tool_response=deep_copy(shown))
        changed = {"output": decision.event.tool_response, "original": output} if decision.is_rewritten else {}
        return self.result("done", stop=self._stop(decision), **{"output": output, **changed})

    async def fail(self, status: Status, error: str, raised: BaseException | None, output: Any = None) -> Result:
        decision = await self.decide("PostToolUseFailure", error=error, is_interrupt=status == "cancelled")
        return self.result(status, error=error, exception=raised, original=output, stop=self._stop(decision))

    async def decide(self, name: str, **fields: Any) -> Decision:
        """Let the hooks decide an event about the current call; they get a copy, since they may change it."""
        event = self.plan.event(name, {"tool_input": _copy(self.input), **fields})
        decision = await self.driver.decide(self.runtime, event)
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
        """Return why the turn ends, if so; after the call a refusal becomes a note for the model."""
        if decision.verdict is Verdict.DENY and decision.reason:
            self.notes.append(decision.reason)
        return stop_text(decision)


def stop_text(decision: Decision) -> str:
    """Return why a hook ends the turn; empty if none does."""
    return decision.stop.text or f"`{decision.stop.hook}` ends the turn" if decision.stop else ""


def deep_copy(value: Any) -> Any:
    """Copy dictionaries and lists, so that callers cannot change them later; a value that nests too deep stays."""
    return value if nests_deeper_than(DEEPEST, value) else _copy(value)


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(each) for key, each in value.items()}
    return [_copy(each) for each in value] if isinstance(value, list) else value


def _wrong_shape(value: Any) -> list[str]:
    if not isinstance(value, dict):
        return [f"it is {type(value).__name__}, not an object"]
    return [f"it is nested over {DEEPEST} levels"] if nests_deeper_than(DEEPEST, value) else []


def _texts(found: Any) -> list[str]:
    """Return the problems from the result of a check, which may also be True or False."""
    if found is None or found is True or found == "":
        return []
    if found is False:
        return ["the tool's check refuses it"]
    if isinstance(found, str) or not isinstance(found, Iterable):
        return [found if isinstance(found, str) else f"the tool's check returned {type(found).__name__}, not texts"]
    return [str(each) for each in found]


def _effects(given: Any) -> Sequence[Any]:
    effects = given if isinstance(given, list | tuple) else () if given is None else (given,)
    for each in effects:
        if not isinstance(each, Allow | Ask | Deny | Rewrite):
            advice = "return Allow, Ask, Deny, Rewrite or nothing"
            raise EndedError("refused", f"a permission rule returned {type(each).__name__}; {advice}")
    # A refusal comes first; a request for approval is about the rewritten input.
    return sorted(effects, key=lambda each: (not isinstance(each, Deny), not isinstance(each, Rewrite)))


def _who(decision: Decision) -> str:
    return ", ".join(dict.fromkeys(f"`{change.hook}`" for change in decision.changes)) or "a hook"
