"""
Turns functions of an embedding program into hooks, registered as event, matcher and list:

    hooks={"PreToolUse": [HookMatcher(matcher="*", hooks=[look]), HookMatcher(matcher="Bash", hooks=[judge])]}

A function names what it wants (`event`, `call`, `prompt`, ...) and returns effects, as everywhere; or it has the form
that claude-agent-sdk gives to callbacks: it takes the payload, the id of the tool call and a context, and returns the
fields of an answer. Both forms may be coroutines. Matchers of that library are understood as they are.

`DynamicHooks` holds all hooks that are registered at run time: an embedding program's, a session's.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, get_args

from msgspec import Struct
from msgspec.structs import replace

from snell.engine.match import compile_matcher, names_nothing
from snell.model.catalogue import CATALOGUE, COMMON_EVENTS, canonical, did_you_mean, row_of
from snell.model.decision import Decision
from snell.model.errors import HookError, PatternError
from snell.model.events import Event
from snell.model.hooks import DEFAULT_TIMEOUT, Hook, Inline, OnFailure, Scope, Source
from snell.sdk.decorators import SUPPLIES, caller_for, declarations, hook_for, hooks_of, kinds_of

if TYPE_CHECKING:
    from inspect import Parameter

Function = Callable[..., Any]
OnSuccess = Callable[[], None]


class HookMatcher(Struct, frozen=True):
    """Which tools (or sources, agents, ...) these functions are for; `*` and None stand for all."""

    matcher: str | None = None
    hooks: Sequence[Function | Hook] = ()
    timeout: float | None = None  # seconds for each of them; a plain function cannot be ended by it
    on_failure: OnFailure | None = None  # what it means that one of them fails: allow, ask or block
    waits: bool = False  # for files, programs or the network: in a loop they then run in threads


class AnyMatcher(Protocol):
    """Any object with these two attributes is a matcher, whatever its class."""

    matcher: Any
    hooks: Any


Registration = Mapping[str, Iterable[AnyMatcher]]


def hooks_from(registered: Registration, scope: Scope = Scope.SESSION) -> list[Hook]:
    """Return the hooks of a registration, in the order in which they are written."""
    callers: dict[Function, Callable[[Event], Any]] = {}  # a function that is listed twice runs once for an event
    found = []
    for name, matchers in registered.items():
        event = event_named(name)
        for each in check_matchers(name, matchers):
            found += [_hook(event, each, function, callers, scope) for function in each.hooks]
    return found


def event_named(name: str) -> str:
    """Return the canonical name; raises with the nearest one for an unknown name."""
    event = canonical(name)
    if event not in CATALOGUE:
        raise HookError(f"there is no event `{name}`", advice=did_you_mean(name, otherwise=COMMON_EVENTS))
    return event


def check_matchers(name: str, matchers: Any) -> Sequence[AnyMatcher]:
    """Return the matchers that are registered under a name; raises when they are invalid."""
    advice = 'write [HookMatcher(matcher="*", hooks=[function])]'
    if _is_matcher(matchers) or not isinstance(matchers, Iterable):
        wrong = f"hooks for `{name}` are one {type(matchers).__name__}, not a list of matchers"
        raise HookError(wrong, advice=advice)
    found = list(matchers)
    for each in found:
        if not _is_matcher(each):
            raise HookError(f"hooks for `{name}` hold {type(each).__name__}, not a matcher", advice=advice)
        if not isinstance(each.hooks, list | tuple):
            wrong = f"a matcher for `{name}` has {type(each.hooks).__name__}, not a list, as its hooks"
            raise HookError(wrong, advice=advice)
    return found


def _is_matcher(given: Any) -> bool:
    return hasattr(given, "matcher") and hasattr(given, "hooks")


def _hook(event: str, given: AnyMatcher, function: Function | Hook, callers: dict[Function, Any], scope: Scope) -> Hook:
    overrides = _overrides(given)
    if isinstance(function, Hook):
        return replace(function, event=event, matcher=given.matcher, **overrides)
    if not callable(function):
        raise HookError(f"hooks for `{event}` hold {type(function).__name__}, not a function")
    if function not in callers:
        callers[function] = caller_of(function)
    name = getattr(function, "__name__", type(function).__name__)
    declared = next((each for each in declarations(function) if each.event == event), None)
    handler = Inline(callers[function], waits=getattr(given, "waits", False) or bool(declared and declared.waits))
    if declared:
        matcher = declared.matcher if given.matcher in (None, "", "*") else given.matcher
        return replace(hook_for(declared, handler, name, scope, "run time"), matcher=matcher, **overrides)
    hook = Hook(id=name, event=event, handler=handler, scope=scope, matcher=given.matcher, source=Source("run time"))
    return replace(hook, kinds=kinds_of(function, {}), **{"timeout": DEFAULT_TIMEOUT, **overrides})


def _overrides(given: Any) -> dict[str, Any]:
    """Return what a matcher sets for all of its hooks, which overrides what each of them declares."""
    timeout, on_failure = getattr(given, "timeout", None), getattr(given, "on_failure", None)
    if timeout is not None and not (isinstance(timeout, int | float) and timeout > 0):
        raise HookError(f"`{timeout}` is not a time limit", advice="write a number of seconds over 0")
    if on_failure not in (None, *get_args(OnFailure)):
        raise HookError(f"`{on_failure}` is not known", advice=f"on_failure is {', '.join(get_args(OnFailure))}")
    both = {"timeout": timeout, "on_failure": on_failure}
    return {name: value for name, value in both.items() if value is not None}


def caller_of(function: Function) -> Callable[[Event], Any]:
    """Return a function of the event that calls this one, whichever of the two forms it has."""
    return caller_for(function) if _takes_named_arguments(function) else _with_payload(function)


def _takes_named_arguments(function: Function) -> bool:
    if declarations(function):
        return True
    wanted = [each for each in _parameters(function) if each.default is each.empty]
    named = [each for each in wanted if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    return all(each.name in SUPPLIES for each in named)


def _parameters(function: Function) -> "list[Parameter]":
    from inspect import signature  # slow to import, and a daemon registers no functions

    return list(signature(function).parameters.values())


def _with_payload(function: Function) -> Callable[[Event], Any]:
    """Pass payload, id of the tool call and context, as many of them as the function takes."""
    parameters = _parameters(function)
    positional = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    if len([each for each in positional if each.default is each.empty]) > 3:
        raise HookError(
            f"hook `{getattr(function, '__name__', function)}` takes more than payload, tool_use_id and context",
            advice="or name what it wants: event, call, prompt, ...",
        )
    takes = 3 if any(each.kind is each.VAR_POSITIONAL for each in parameters) else min(len(positional), 3)

    def call(event: Event) -> Any:
        given = ({**event.payload, "hook_event_name": event.name}, event.tool_use_id or None, {"signal": None})
        return function(*given[:takes])

    return call


class DynamicHooks:
    def __init__(self) -> None:
        self.hooks: tuple[Hook, ...] = ()
        self._on_success: dict[int, OnSuccess] = {}  # by handler, which a hook keeps when its id is changed

    def add(self, added: Iterable[Hook], on_success: OnSuccess | None = None) -> None:
        """Add hooks, with the function to call when one of them has its first success."""
        self.hooks = (*self.hooks, *added)
        if on_success:
            self._on_success.update(dict.fromkeys((id(hook.handler) for hook in added), on_success))

    def remove(self, is_removed: Callable[[Hook], bool]) -> int:
        """Remove hooks; returns how many."""
        kept = tuple(hook for hook in self.hooks if not is_removed(hook))
        number = len(self.hooks) - len(kept)
        self.hooks = kept
        self._on_success = {key: call for key, call in self._on_success.items() if key in {id(h.handler) for h in kept}}
        return number

    def call_on_success(self, decision: Decision) -> None:
        """Call the callbacks of hooks that ran with success for the first time."""
        if self._on_success:
            for _, hook, outcome in decision.runs():
                if outcome.status == "success" and (call := self._on_success.pop(id(hook.handler), None)):
                    call()


def as_hooks(item: Hook | Callable[..., Any], scope: Scope) -> list[Hook]:
    """Return a ready-made hook, or those of a function with a role decorator. Raises for one that can never run."""
    if not isinstance(item, Hook) and not declarations(item):
        raise TypeError(f"`{getattr(item, '__name__', item)}` has no role; decorate it with @judges, @rewrites, ...")
    found = [item] if isinstance(item, Hook) else hooks_of([item], scope=scope)
    for hook in found:
        _check(hook)
    return found


def _check(hook: Hook) -> None:
    """Raise for a matcher that can never fit. Hooks from files are reported with their line when they are loaded."""
    row = row_of(hook.event)
    if not row.matches or hook.source.file:
        return
    try:
        compile_matcher(hook.matcher, hook.matcher_type, row)
    except PatternError as error:
        raise HookError(f"hook `{hook.id}` for {hook.event} can never run: {error}") from None
    if hook.matcher and names_nothing(hook.matcher, hook.matcher_type, row):
        raise HookError(f"hook `{hook.id}` for {hook.event} can never run: `{hook.matcher}` names nothing")
