"""Turn one hook entry of a settings file into a Hook, or into problems that say why it cannot be one."""

import re
from typing import Any

from snell.engine.match import compile_matcher
from snell.model.catalogue import CATALOGUE, EventRow, canonical, nearest, row_of
from snell.model.errors import PatternError
from snell.model.hooks import Handler, Hook, Source
from snell.sdk.permission_rules import check as check_rule
from snell.settings.entry_handler import HandlerPart, handler_part
from snell.settings.file_digests import short_digest
from snell.settings.handler_types import HandlerEntry, handler_types
from snell.settings.parse_types import MOST_PROBLEMS, Declared, Entry, Fault, ParseState
from snell.settings.problems import InvalidValueError
from snell.settings.schema import ENTRY, Key, Spellings
from snell.settings.time_limits import async_limit, time_limit, too_many_limits
from snell.settings.value_check import value_of
from snell.settings.value_tree import Node

LONGEST_ID = 200
_WORD = re.compile(r"[A-Za-z0-9_.-]+")


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
        return _fault(found, event, before)
    return _make_hook(found, event, part, handler)


class _Fields:
    """The keys of an entry, checked one by one."""

    def __init__(self, entry: Entry, state: ParseState) -> None:
        self.entry = entry
        self.state = state
        self.values: dict[str, Any] = {}
        self.lines: dict[str, int] = {}
        self.is_wrong = False

    def add_error(self, wrong: InvalidValueError) -> None:
        self.is_wrong = True
        self.state.add_error(wrong)

    def line(self, name: str) -> int:
        return self.lines.get(name, self.entry.line)

    def take(self, fields: dict[str, Node], known: Spellings, handler: str = "") -> None:
        for spelled, node in fields.items():
            key = known.find(spelled)
            if key is None:
                self._report_unknown(spelled, node, known, handler)
            elif key.name in self.lines:
                self.add_error(InvalidValueError(f"`{key.name}` is given twice", node.line, "keep one of them"))
            else:
                self._take_one(key, spelled, node)

    def _take_one(self, key: Key, spelled: str, node: Node) -> None:
        self.lines[key.name] = node.line
        if key.ignored:
            if node.value != "bash":
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
            self.add_error(InvalidValueError(message, node.line, "remove it, or change the handler"))
        else:
            message = f"`{spelled[:80]}` is not a key of a hook"
            self.add_error(InvalidValueError(message, node.line, self.state.nearest(known, spelled)))


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
            message = f"the {name} handler has no `{key.name}`"
            found.add_error(InvalidValueError(message, found.entry.line, f"add it: {key.help.split(';')[0]}"))
    return part


def _handler(found: _Fields, part: HandlerPart) -> Handler | None:
    """Let the handler's own module read its keys."""
    values = {**found.values, **part.defaults_of(found.values)}
    try:
        return part.type.handler_for(HandlerEntry(values, found.lines, found.entry.line, found.state))
    except InvalidValueError as wrong:
        found.add_error(wrong)
        return None


def _event_name(found: _Fields) -> str:
    """Return the canonical name of the entry's event; empty, and reported, when it is missing or unknown."""
    own = next((node for name, node in found.entry.fields.items() if ENTRY.is_named(name, "event")), None)
    node = found.entry.event or own
    if found.entry.event and own and own.value != found.entry.event.value:
        message = "`event` is not the event under which the hook is listed"
        found.add_error(InvalidValueError(message, own.line, "remove it"))
    if node is None or not isinstance(node.value, str) or not node.value.strip():
        advice = 'add event = "PreToolUse", for example'
        found.add_error(InvalidValueError("the hook names no event", found.entry.line, advice))
        return ""
    name = canonical(node.value)
    if name in CATALOGUE or node.value in found.state.extra_events:
        return name
    near = nearest(node.value[:60]) if len(found.state.problems) < MOST_PROBLEMS else ""
    advice = f"did you mean `{near}`?" if near else "list it in `extra_events` if your client has it"
    found.add_error(InvalidValueError(f"`{node.value[:80]}` is not an event", node.line, advice))
    return ""


def _check(found: _Fields, event: str, part: HandlerPart) -> None:
    """Check keys that depend on each other or on the event."""
    row = row_of(event)
    _check_matcher(found, row, event)
    _check_condition(found, row, event)
    if limits := too_many_limits(found.values):
        message = f"the time limit is given as {' and as '.join(f'`{name}`' for name in limits)}"
        found.add_error(InvalidValueError(message, found.line(limits[-1]), "keep one of them"))
    if part.type.asks_model and event in CATALOGUE and not row.has_conversation:
        message = f"{event} has no conversation that a {part.type.name} hook could read"
        found.state.add_problem(found.entry.line, message, "use a command", "warning")
    name = found.values.get("id", "")
    if name and not (name.isprintable() and len(name) <= LONGEST_ID):
        message = f"the name has unprintable characters, or more than {LONGEST_ID}"
        found.add_error(InvalidValueError(message, found.line("id"), "shorten it"))


def _check_condition(found: _Fields, row: EventRow, event: str) -> None:
    """Check the rule in `if`: with an invalid rule the hook would never run, without any message."""
    if "if" not in found.values:
        return
    try:
        check_rule(found.values["if"])
    except ValueError as error:
        advice = 'write it like if = "Bash(git push *)"'
        found.add_error(InvalidValueError(f"`if` is not a rule: {error}", found.line("if"), advice))
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
        found.add_error(InvalidValueError(error.message, found.line("matcher"), error.advice))
        return
    found.values.update({"matcher": pattern} if pattern else {}, **({"matcher_type": kind} if kind else {}))


def _fault(found: _Fields, event: str, before: int) -> Fault:
    errors = [each for each in found.state.problems[before:] if each.severity == "error"]
    reason = str(errors[0]) if errors else f"{found.state.file}:{found.entry.line}: the entry cannot be read"
    return Fault(reason, found.entry.line, event, found.values)


def _make_hook(found: _Fields, event: str, part: HandlerPart, handler: Handler) -> Declared:
    values = found.values
    definition = {**values, "event": event, "handler": part.type.name, **part.defaults_of(values)}
    hook = Hook(
        id=values.get("id") or f"{event}-{_word_for(handler)}-{short_digest(definition)}",
        event=event,
        handler=handler,
        scope=found.state.scope,
        role=values.get("role"),
        matcher=values.get("matcher"),
        matcher_type=values.get("matcher_type"),
        kinds=values.get("kinds", ()),
        condition=values.get("if"),
        once=values.get("once", False),
        is_async=values.get("async", False) or values.get("async_rewake", False),
        rewakes=values.get("async_rewake", False),
        force_sync=values.get("force_sync", False),
        timeout=time_limit(values, found.lines, part.type, event, found.entry, found.state),
        async_timeout=async_limit(values),
        on_failure=values.get("on_failure"),
        exit_code_mode=values.get("exit_code_mode", "client"),
        enabled=values.get("enabled", True),
        status_message=values.get("status_message", ""),
        group=values.get("group", ""),
        source=Source(found.state.layer, found.state.file, found.entry.line),
    )
    return Declared(hook, definition)


def _word_for(handler: Handler) -> str:
    found = _WORD.search(handler.short_name)
    return found.group()[:40] if found else handler.kind
