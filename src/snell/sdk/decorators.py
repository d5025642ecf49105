"""
Decorators for hooks: a function, one decorator for its role, and the arguments it wants by name.

    @judges("PreToolUse", kind="shell")
    def no_force_push(call: ShellCall) -> Deny | None: ...

The function stays an ordinary function. What it may ask for (`event`, `call`, `prompt`, ...) and what it declares is
checked when it is loaded, not when the first event comes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import FunctionType
from typing import Any, TypeVar

from msgspec import Struct, ValidationError, convert
from msgspec.structs import asdict, replace

from snell.model.catalogue import CATALOGUE, canonical, nearest
from snell.model.context import CURRENT_CONTEXT, Context
from snell.model.errors import HookError
from snell.model.events import Event
from snell.model.hooks import LONGEST_TIMEOUT, Hook, Inline, OnFailure, Role, Scope, Source
from snell.model.tools import ALL_KINDS
from snell.sdk.subjects import KIND_OF_TYPE, SUBJECTS, call_of, subject_of

F = TypeVar("F", bound=Callable[..., Any])

Supplies = Mapping[str, Callable[[Event], Any]]

GATE_TIMEOUT = 5.0
errors_of_file: list[HookError] | None = None  # while a file is loaded: those of all its hooks


class Declaration(Struct, frozen=True, kw_only=True):
    """What a decorator declares about a function, for one event."""

    role: Role
    event: str
    kinds: tuple[str, ...] = ()  # only for these kinds of tool; `kind="shell"` is short for one
    matcher: str | None = None  # which tools, sources, ... of the event; absent = all
    matcher_type: str | None = None  # all, exact, wildcard, or, regex; guessed from the matcher when absent
    condition: str | None = None  # a permission rule such as `Bash(git push *)` that must hold
    once: bool = False  # at most one successful run a session
    timeout: float = GATE_TIMEOUT  # time limit in seconds
    on_failure: OnFailure | None = None  # what a failure means: allow, ask or block; absent = allow (policy: block)
    status_message: str = ""  # what to show while the hook runs
    when: dict[str, Any] = {}  # of a built-in pack: only while these options of the pack have these values
    waits: bool = False  # it waits for files, programs or the network; the daemon serves other requests meanwhile
    batches: bool = False  # of a built-in pack: it only writes rows, so several events' runs share a commit


def _once_per_event(make: Callable[[Event], Any]) -> Callable[[Event], Any]:
    """Return a supplier that gives all hooks of an event the same subject; only the last event is remembered."""
    last: tuple[Event | None, Any] = (None, None)

    def supply(event: Event) -> Any:
        nonlocal last
        known, subject = last
        if known is not event:
            subject = make(event)
            if subject is not event:
                subject.__dict__["event"] = event  # for its `usage`
            last = (event, subject)
        return subject

    return supply


def context_with(options: Mapping[str, Any]) -> Callable[[Event], Context]:
    """Return a supplier of the event's context with these options; all hooks of a pack get the same object."""

    def supply(_event: Event) -> Context:
        global _with_options  # one tuple, replaced at once, for all threads
        context = CURRENT_CONTEXT.get()
        known, made = _with_options
        if known is not context:
            made = {}
            _with_options = (context, made)
        own = made.get(id(options))
        if own is None or own.options is not options:
            own = made[id(options)] = replace(context, options=options)
        return own

    return supply


# Those of the last event alone: hooks are kept with their decisions, and must not keep a request each.
_with_options: tuple[Context | None, dict[int, Context]] = (None, {})

_call = _once_per_event(call_of)
_subject = _once_per_event(subject_of)

# What a function may take, by the name of its parameter.
SUPPLIES: Supplies = {
    "event": lambda event: event,
    "payload": lambda event: event.payload,
    "cwd": lambda event: event.cwd,
    "session_id": lambda event: event.session_id,
    "context": lambda _event: CURRENT_CONTEXT.get(),
    "call": _call,
    "subject": _subject,
    **dict.fromkeys((name for name in SUBJECTS if name != "tool"), _subject),
}


def rewrites(*events: str, **options: Any) -> Callable[[F], F]:
    """Declare a hook that may change what will happen."""
    return _declare_role("rewrites", events, options)


def judges(*events: str, **options: Any) -> Callable[[F], F]:
    """Declare a hook that allows, asks, defers or denies."""
    return _declare_role("judges", events, options)


def informs(*events: str, **options: Any) -> Callable[[F], F]:
    """Declare a hook that only adds notes for the model or the user."""
    return _declare_role("informs", events, options)


def watches(*events: str, **options: Any) -> Callable[[F], F]:
    """Declare a hook that runs after the reply and can only record."""
    return _declare_role("watches", events, options)


def declarations(function: Callable[..., Any]) -> tuple[Declaration, ...]:
    """Return what the decorators of this function declared."""
    return getattr(function, "__snell__", ())


def declared_in(namespace: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    """Return the functions of a module that are hooks, by name, in the order of the file."""
    return {name: value for name, value in namespace.items() if callable(value) and declarations(value)}


def hooks_of(
    functions: Iterable[Callable[..., Any]],
    *,
    scope: Scope = Scope.SESSION,
    pack: str = "",
    layer: str = "run time",
    supplies: Supplies | None = None,
) -> list[Hook]:
    """Return hooks for functions that run in this process; `supplies` override what every hook may take."""
    callers = {function: caller_for(function, {**SUPPLIES, **(supplies or {})}) for function in functions}
    return [
        hook_for(each, Inline(caller, each.waits, each.batches), _hook_id(pack, function, each), scope, layer)
        for function, caller in callers.items()
        for each in declarations(function)
    ]


def hook_for(
    declaration: Declaration, handler: Any, id_: str, scope: Scope, layer: str, file: str = "", line: int = 0
) -> Hook:
    """Return one declaration as a hook."""
    declared = {name: value for name, value in asdict(declaration).items() if name not in ("when", "waits", "batches")}
    return Hook(id=id_, handler=handler, scope=scope, source=Source(layer, file, line), **declared)


def _hook_id(pack: str, function: Callable[..., Any], declaration: Declaration) -> str:
    """Return `pack/hook`; with the event where one function reacts to several."""
    base = f"{pack}/{function.__name__}" if pack else function.__name__
    return f"{base}:{declaration.event}" if len(declarations(function)) > 1 else base


def caller_for(function: Callable[..., Any], supplies: Supplies = SUPPLIES) -> Callable[[Event], Any]:
    """Return a function of the event that calls this one with the arguments it names."""
    names = [name for name, _ in _named_parameters(function) if name in SUPPLIES]
    if names == ["event"]:
        return function
    if not names:
        return lambda _event: function()
    suppliers = [(name, supplies[name]) for name in names]
    kinds = {each.kinds for each in declarations(function)}
    if len(kinds) == 1 and len(only := kinds.pop()) == 1:
        suppliers = [(name, _call_as(only[0]) if supply is _call else supply) for name, supply in suppliers]
    if supplies["event"] is not SUPPLIES["event"] or "event" not in names:
        return lambda event: function(**{name: supply(event) for name, supply in suppliers})
    match [each for each in suppliers if each[0] != "event"]:  # every event calls this, so most are written out
        case [(one, first)]:
            return lambda event: function(event=event, **{one: first(event)})
        case [(one, first), (two, second)]:
            return lambda event: function(event=event, **{one: first(event), two: second(event)})
        case others:
            return lambda event: function(event=event, **{name: supply(event) for name, supply in others})


@cache
def _call_as(kind: str) -> Callable[[Event], Any]:
    """Return a supplier of calls of one kind: a tool of an MCP server may be a shell or a writer as well."""
    return _once_per_event(lambda event: call_of(event, kind))


def _declare_role(role: Role, events: tuple[Any, ...], options: dict[str, Any]) -> Callable[[F], F]:
    if events and callable(events[0]):
        raise _hook_error(events[0], f'@{role} needs the name of an event: write @{role}("PreToolUse")')

    def declare(function: F) -> F:
        kinds = kinds_of(function, options)
        rest = {key: value for key, value in options.items() if key not in ("kind", "kinds")}
        if problems := list(_problems(function, role, events, kinds, rest)):
            return _refuse(function, problems)
        added = tuple(_declaration(function, role, canonical(event), {"kinds": kinds, **rest}) for event in events)
        function.__snell__ = (*added, *declarations(function))  # type: ignore[attr-defined] # functions take attributes
        return function

    return declare


def _refuse(function: F, problems: Iterable[str]) -> F:
    """Raise HookError, or keep it for the end of the file that is being loaded."""
    error = _hook_error(function, "; ".join(problems))
    if errors_of_file is None:
        raise error
    errors_of_file.append(error)
    return function


def _declaration(function: Callable[..., Any], role: Role, event: str, options: dict[str, Any]) -> Declaration:
    try:
        return convert({"role": role, "event": event, **options}, Declaration)
    except ValidationError as error:
        raise _hook_error(function, f"@{role}: {error}") from None


def _problems(
    function: Callable[..., Any], role: str, events: tuple[Any, ...], kinds: tuple[str, ...], options: dict[str, Any]
) -> Iterator[str]:
    """Yield everything that is wrong with a declaration."""
    if not events:
        yield f'name the event: @{role}("PreToolUse")'
    for event in (each for each in events if canonical(str(each)) not in CATALOGUE):
        yield f"there is no event `{event}`{_did_you_mean(nearest(str(event)))}"
    for kind in (each for each in kinds if each not in ALL_KINDS):
        near = _did_you_mean(nearest(str(kind), ALL_KINDS))
        yield f"there is no tool kind `{kind}`, only {', '.join(ALL_KINDS)}{near}"
    known = [field for field in Declaration.__struct_fields__ if field not in ("role", "event", "kinds")]
    for option in (each for each in options if each not in known):
        yield f"@{role} has no option `{option}`{_did_you_mean(nearest(option, [*known, 'kind']))}"
    yield from _wrong_values(role, options)
    for name, has_default in _named_parameters(function):
        if name not in SUPPLIES and not has_default:
            yield f"unknown argument `{name}`{_did_you_mean(nearest(name, SUPPLIES))}"


def _wrong_values(role: str, options: dict[str, Any]) -> Iterator[str]:
    """Yield values that would switch a hook off, or never let it finish, without a message."""
    timeout, condition = options.get("timeout", GATE_TIMEOUT), options.get("condition")
    if isinstance(timeout, int | float) and not 0 < timeout <= LONGEST_TIMEOUT:
        yield f"@{role}: a timeout is more than 0 and at most {LONGEST_TIMEOUT:g} seconds"
    try:
        if isinstance(condition, str):
            from snell.sdk.permission_rules import parse_rule  # slow to import, and few hooks have a condition

            parse_rule(condition)
    except ValueError as error:
        yield f"@{role}: the condition is not a rule: {error}"


def _named_parameters(function: Callable[..., Any]) -> list[tuple[str, bool]]:
    """Return each parameter, and whether it has a default."""
    if isinstance(function, FunctionType) and not hasattr(function, "__wrapped__"):
        code = function.__code__  # what `inspect` would return, which is slow to import
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        needed = code.co_argcount - len(function.__defaults__ or ())
        with_default = {*names[needed : code.co_argcount], *(function.__kwdefaults__ or ())}
        return [(name, name in with_default) for name in names]
    import inspect

    found = inspect.signature(function).parameters.values()
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [(each.name, each.default is not each.empty) for each in found if each.kind not in several]


def kinds_of(function: Callable[..., Any], options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the kinds of tool that a function is for: declared, or by the type of its `call`."""
    given = options.get("kinds") or options.get("kind")
    if given:
        return (given,) if isinstance(given, str) else tuple(given)
    annotation = getattr(function, "__annotations__", {}).get("call", "")
    name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    kind = KIND_OF_TYPE.get(name.rpartition(".")[2])
    return (kind,) if kind else ()


def _hook_error(function: Callable[..., Any], message: str) -> HookError:
    code = getattr(function, "__code__", None)
    where = f"{code.co_filename}:{code.co_firstlineno}" if code else ""
    return HookError(f"hook `{getattr(function, '__name__', function)}`: {message}", where=where)


def _did_you_mean(name: str) -> str:
    return f"; did you mean `{name}`?" if name else ""
