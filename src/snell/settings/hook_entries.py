"""Turn one hook entry of a settings file into a Hook, or into problems that say why it cannot be one."""

from typing import Any

from msgspec import Struct, field

from snell.engine.match import compile_matcher
from snell.model.catalogue import CATALOGUE, EventRow, canonical, did_you_mean, row_of
from snell.model.errors import PatternError
from snell.model.hooks import ASYNC_TIMEOUT, LONGEST_TIMEOUT, Handler, Hook, Source
from snell.sdk.permission_rules import parse_rule
from snell.settings.file_digests import digest_of
from snell.settings.handler_types import HandlerEntry, HandlerPart, HandlerType, handler_part, handler_types
from snell.settings.parse_types import MOST_PROBLEMS, Declared, Entry, Fault, ParseState
from snell.settings.schema import ENTRY, Key, Spellings
from snell.settings.value_check import value_of
from snell.settings.value_tree import InvalidValueError, Node
from snell.system.lazy_regex import lazy_regex

LONGEST_ID = 200
LOOKS_LIKE_MILLISECONDS = 1000.0
_WORD = lazy_regex(r"[A-Za-z0-9_.-]+")


def declare_hook(entry: Entry, state: ParseState) -> Declared | Fault:
    """Return the hook that an entry declares. Problems go to `state`; an entry with an error is left out."""
    before = len(state.problems)
    found = _Fields(entry, state)
    event = _event_name(found)
    part = _handler_part(found)
    if event and part and not found.is_wrong:
        _check(found, event, part)
    handler = _handler(found, part) if part and not found.is_wrong else None
    if not event or not part or not handler:
        errors = [each for each in found.state.problems[before:] if each.severity == "error"]
        reason = str(errors[0]) if errors else f"{found.state.file}:{found.entry.line}: the entry cannot be read"
        return Fault(reason, found.entry.line, event, found.values)
    return _make_hook(found, event, part, handler)


class _Fields(Struct):
    """The keys of an entry, checked one by one."""

    entry: Entry
    state: ParseState
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    is_wrong: bool = False

    def add_error(self, wrong: InvalidValueError) -> None:
        self.is_wrong = True
        self.state.add_error(wrong)

    def fail(self, line: int, message: str, advice: str) -> None:
        self.add_error(InvalidValueError(message, line, advice))

    def line(self, name: str) -> int:
        return self.lines.get(name, self.entry.line)

    def take(self, fields: dict[str, Node], known: Spellings, handler: str = "") -> None:
        for spelled, node in fields.items():
            key = known.find(spelled)
            if key is None:
                self._report_unknown(spelled, node, known, handler)
            elif key.name in self.lines:
                self.fail(node.line, f"`{key.name}` is given twice", "keep one of them")
            else:
                self._take_one(key, spelled, node)

    def _take_one(self, key: Key, spelled: str, node: Node) -> None:
        self.lines[key.name] = node.line
        if key.ignored:
            if node.value not in (False, "bash"):
                self.state.add_problem(node.line, f"`{spelled}` has no effect: {key.ignored}", "", "hint")
            return
        try:
            self.values[key.name] = value_of(key, node, spelled)
        except InvalidValueError as wrong:
            self.add_error(wrong)

    def _report_unknown(self, spelled: str, node: Node, known: Spellings, handler: str) -> None:
        if self.state.is_foreign:
            self.state.add_problem(node.line, f"`{spelled[:80]}` is unknown and ignored", "", "hint")
        elif handler_types().has_key(spelled):
            message = f"`{spelled[:80]}` does not belong to a {handler} handler"
            self.fail(node.line, message, "remove it, or change the handler")
        else:
            self.fail(node.line, f"`{spelled[:80]}` is not a key of a hook", self.state.nearest(known, spelled))


def _handler_part(found: _Fields) -> HandlerPart | None:
    """Find the handler, then take the keys of the entry and those of the handler."""
    try:
        part = handler_part(found.entry)
    except InvalidValueError as wrong:
        found.add_error(wrong)
        rest = {name: node for name, node in found.entry.fields.items() if ENTRY.find(name)}
        found.take({name: node for name, node in rest.items() if not ENTRY.is_named(name, "type")}, ENTRY)
        return None
    name, types = part.type.name, handler_types()
    found.take(part.rest, types.keys_in_entry[name] if part.table is None else ENTRY, name)
    found.take(part.table or {}, types.keys_in_table[name], name)
    for key in part.type.keys:
        if key.is_required and key.name not in found.lines:
            advice = f"add it: {key.help.split(';')[0]}"
            found.fail(found.entry.line, f"the {name} handler has no `{key.name}`", advice)
    return part


def _handler(found: _Fields, part: HandlerPart) -> Handler | None:
    """Let the handler's own module read its keys."""
    values = {**found.values, **part.defaults_of(found.values)}
    try:
        parse = part.type.parse or part.type.build
        return parse(HandlerEntry(values, found.lines, found.entry.line, found.state))
    except InvalidValueError as wrong:
        found.add_error(wrong)
        return None


def _event_name(found: _Fields) -> str:
    """Return the canonical name of the entry's event; empty, and reported, when it is missing or unknown."""
    own = next((node for name, node in found.entry.fields.items() if ENTRY.is_named(name, "event")), None)
    node = found.entry.event or own
    if found.entry.event and own and own.value != found.entry.event.value:
        found.fail(own.line, "`event` is not the event under which the hook is listed", "remove it")
    if node is None or not isinstance(node.value, str) or not node.value.strip():
        found.fail(found.entry.line, "the hook names no event", 'add event = "PreToolUse", for example')
        return ""
    name = canonical(node.value)
    if name in CATALOGUE or node.value in found.state.extra_events:
        return name
    known = CATALOGUE if len(found.state.problems) < MOST_PROBLEMS else ()
    advice = did_you_mean(node.value, known, "list it in `extra_events` if your client has it")
    found.fail(node.line, f"`{node.value[:80]}` is not an event", advice)
    return ""


def _check(found: _Fields, event: str, part: HandlerPart) -> None:
    """Check keys that depend on each other or on the event."""
    row = row_of(event)
    _check_matcher(found, row, event)
    _check_condition(found, row, event)
    if len(limits := _given_limits(found)) > 1:
        message = f"the time limit is given as {' and as '.join(f'`{name}`' for name in limits)}"
        found.fail(found.line(limits[-1]), message, "keep one of them")
    if part.type.asks_model and event in CATALOGUE and not row.has_conversation:
        message = f"{event} has no conversation that a {part.type.name} hook could read"
        found.state.add_problem(found.entry.line, message, "use a command", "warning")
    name = found.values.get("id", "")
    if name and not (name.isprintable() and len(name) <= LONGEST_ID):
        message = f"the name has unprintable characters, or more than {LONGEST_ID}"
        found.fail(found.line("id"), message, "shorten it")


def _check_condition(found: _Fields, row: EventRow, event: str) -> None:
    """Check the rule in `if`: with an invalid rule the hook would never run, without any message."""
    if "if" not in found.values:
        return
    try:
        parse_rule(found.values["if"])
    except ValueError as error:
        found.fail(found.line("if"), f"`if` is not a rule: {error}", 'write it like if = "Bash(git push *)"')
    if row.matches != "tool_name":
        message = f"`if` is for tool calls, and {event} is not a tool call"
        found.state.add_problem(found.line("if"), message, "remove it", "warning")


def _check_matcher(found: _Fields, row: EventRow, event: str) -> None:
    pattern, kind = found.values.pop("matcher", (None, None))
    kind = found.values.pop("matcher_type", kind)
    if pattern and not row.matches:
        message = f"{event} has nothing to match, so the matcher is ignored"
        found.state.add_problem(found.line("matcher"), message, "remove it", "warning")
        return
    try:
        compile_matcher(pattern, kind, row)
    except PatternError as error:
        found.fail(found.line("matcher"), error.message, error.advice)
        return
    found.values.update({"matcher": pattern} if pattern else {}, **({"matcher_type": kind} if kind else {}))


def _make_hook(found: _Fields, event: str, part: HandlerPart, handler: Handler) -> Declared:
    values = found.values
    definition = {**values, "event": event, "handler": part.type.name, **part.defaults_of(values)}
    word = _WORD.search(handler.short_name)
    hook = Hook(
        id=values.get("id") or f"{event}-{word[0][:40] if word else handler.kind}-{digest_of(definition)[:8]}",
        event=event,
        handler=handler,
        scope=found.state.scope,
        condition=values.get("if"),
        is_async=values.get("async", False) or values.get("async_rewake", False),
        rewakes=values.get("async_rewake", False),
        timeout=_time_limit(found, event, part.type),
        async_timeout=min(values.get("async_timeout", ASYNC_TIMEOUT * 1000) / 1000, LONGEST_TIMEOUT),
        source=Source(found.state.layer, found.state.file, found.entry.line),
        **{name: values[name] for name in _FIELDS_OF_HOOK if name in values},
    )
    return Declared(hook, definition)


# The keys whose values a hook has unchanged, under the same name.
_FIELDS_OF_HOOK = (
    *("role", "matcher", "matcher_type", "kinds", "once", "force_sync"),
    *("on_failure", "exit_code_mode", "enabled", "status_message", "group"),
)


def _given_limits(found: _Fields) -> list[str]:
    return [name for name in ("timeout", "timeout_sec", "timeout_ms") if name in found.values]


def _time_limit(found: _Fields, event: str, handler_type: HandlerType) -> float:
    """Return seconds: the declared limit, at most the longest one, or the default of the handler."""
    given = _given_limits(found)
    if not given:
        default = handler_type.default_timeout
        # Claude Code has a limit for all handlers on some events, so hooks in its format have it too.
        of_client = row_of(event).client_timeout if found.entry.is_client_form else 0.0
        return min(of_client or default, default)
    seconds = float(found.values[given[0]]) / (1000 if given[0] == "timeout_ms" else 1)
    _check_limit(given[0], seconds, found, handler_type)
    return min(seconds, LONGEST_TIMEOUT)


def _check_limit(name: str, seconds: float, found: _Fields, handler_type: HandlerType) -> None:
    recommended, line = handler_type.recommended_timeout, found.line(name)
    if seconds >= LOOKS_LIKE_MILLISECONDS and name != "timeout_ms":
        message = f"`{name}` is in seconds, and {seconds:.0f} is above {LONGEST_TIMEOUT:.0f}"
        found.state.add_problem(line, message, f"write timeout_ms = {seconds:.0f} for milliseconds", "warning")
    elif seconds > LONGEST_TIMEOUT:
        message = f"`{name}` is above the longest limit of {LONGEST_TIMEOUT:.0f} s, which is used instead"
        found.state.add_problem(line, message, "lower it", "warning")
    elif seconds > recommended:
        message = f"`{name}` lets the agent wait {seconds:.0f} s for a {handler_type.name} hook"
        found.state.add_problem(line, message, f"{recommended:.0f} s or less is recommended", "hint")
