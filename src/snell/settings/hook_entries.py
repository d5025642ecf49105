"""One written hook to one Hook, or to complaints that say why not."""

from typing import Any

from snell.engine.match import compile_matcher
from snell.model.catalogue import CATALOGUE, EventRow, canonical, nearest, row_of
from snell.model.errors import PatternError
from snell.model.hooks import Hook, Source
from snell.sdk.permission_rules import check as check_rule
from snell.settings.client_hook_files import speaks
from snell.settings.digests import short_digest
from snell.settings.handler_rows import HandlerPart, handler_for, handler_part, json_type_name
from snell.settings.parse_types import MOST_COMPLAINTS, Declared, Entry, Fault, Reading
from snell.settings.problems import InvalidValueError
from snell.settings.schema import ANY_HANDLER_KEY, ENTRY, FLAT, IN_TABLE, Key, Spellings
from snell.settings.time_limits import async_limit, time_limit, too_many_limits
from snell.settings.value_check import value_of
from snell.settings.value_tree import Node


def declare_hook(entry: Entry, reading: Reading) -> Declared | Fault:
    """The hook that an entry declares. What is wrong is reported to `reading`, and then the entry is left out."""
    before = len(reading.complaints)
    found = _Fields(entry, reading)
    event = _event_name(found)
    part = _part(found)
    if event and part and not found.is_wrong:
        _check(found, event, part)
    if not event or not part or found.is_wrong:
        return _fault(found, event, before)
    return _built(found, event, part)


class _Fields:
    """The keys of an entry as they are found and checked."""

    def __init__(self, entry: Entry, reading: Reading) -> None:
        self.entry = entry
        self.reading = reading
        self.values: dict[str, Any] = {}
        self.lines: dict[str, int] = {}
        self.is_wrong = False

    def wrong(self, wrong: InvalidValueError) -> None:
        self.is_wrong = True
        self.reading.report(wrong)

    def line(self, name: str) -> int:
        return self.lines.get(name, self.entry.line)

    def take(self, fields: dict[str, Node], known: Spellings, handler: str = "") -> None:
        for spelled, node in fields.items():
            key = known.find(spelled)
            if key is None:
                self._unknown(spelled, node, known, handler)
            elif key.name in self.lines:
                self.wrong(InvalidValueError(f"`{key.name}` is given twice", node.line, "keep one of them"))
            else:
                self._take_one(key, spelled, node)

    def _take_one(self, key: Key, spelled: str, node: Node) -> None:
        self.lines[key.name] = node.line
        if key.ignored:
            if node.value != "bash":
                self.reading.complain(node.line, f"`{spelled}` has no effect here: {key.ignored}", "", "hint")
            return
        try:
            self.values[key.name] = value_of(key, node, spelled)
        except InvalidValueError as wrong:
            self.wrong(wrong)

    def _unknown(self, spelled: str, node: Node, known: Spellings, handler: str) -> None:
        if self.reading.is_foreign:
            self.reading.complain(node.line, f"`{spelled[:80]}` is not known here and ignored", "", "hint")
        elif ANY_HANDLER_KEY.find(spelled):
            message = f"`{spelled[:80]}` does not belong to a {handler} handler"
            self.wrong(InvalidValueError(message, node.line, "remove it, or change the handler"))
        else:
            message = f"`{spelled[:80]}` is not a key of a hook"
            self.wrong(InvalidValueError(message, node.line, self.reading.nearest(known, spelled)))


def _part(found: _Fields) -> HandlerPart | None:
    """Find the handler, then take the entry's own keys, with those of a handler that is written flat."""
    try:
        part = handler_part(found.entry)
    except InvalidValueError as wrong:
        found.wrong(wrong)
        rest = {name: node for name, node in found.entry.fields.items() if ENTRY.find(name)}
        found.take({name: node for name, node in rest.items() if not ENTRY.is_named(name, "type")}, ENTRY)
        return None
    name = part.row.name
    found.take(part.rest, FLAT[name] if part.table is None else ENTRY, name)
    found.take(part.table or {}, IN_TABLE[name], name)
    for key in part.row.keys:
        if key.is_required and key.name not in found.lines:
            message = f"the {name} handler has no `{key.name}`"
            found.wrong(InvalidValueError(message, found.entry.line, f"add it: {key.says.split(';')[0]}"))
    return part


def _event_name(found: _Fields) -> str:
    """The canonical name of the entry's event; empty, and reported, when there is none or it is not known."""
    own = next((node for name, node in found.entry.fields.items() if ENTRY.is_named(name, "event")), None)
    node = found.entry.event or own
    if found.entry.event and own and own.value != found.entry.event.value:
        found.wrong(InvalidValueError("`event` says something else than where the hook stands", own.line, "remove it"))
    if node is None or not isinstance(node.value, str) or not node.value.strip():
        found.wrong(
            InvalidValueError("the hook names no event", found.entry.line, 'add event = "PreToolUse", for example')
        )
        return ""
    name = canonical(node.value)
    if name in CATALOGUE or node.value in found.reading.extra_events:
        return name
    near = nearest(node.value[:60]) if len(found.reading.complaints) < MOST_COMPLAINTS else ""
    advice = f"did you mean `{near}`?" if near else "list it in `extra_events` if your client has it"
    found.wrong(InvalidValueError(f"`{node.value[:80]}` is not an event", node.line, advice))
    return ""


def _check(found: _Fields, event: str, part: HandlerPart) -> None:
    """What each value alone cannot tell."""
    row = row_of(event)
    _check_matcher(found, row, event)
    if limits := too_many_limits(found.values):
        message = f"the time limit is given as {' and as '.join(f'`{name}`' for name in limits)}"
        found.wrong(InvalidValueError(message, found.line(limits[-1]), "keep one of them"))
    complain = found.reading.complain
    if "if" in found.values:
        _check_condition(found)
    if "if" in found.values and row.matches != "tool_name":
        complain(found.line("if"), f"`if` reads tool calls, and {event} is none", "remove it", "warning")
    if part.row.name in ("prompt", "agent") and event in CATALOGUE and not row.has_conversation:
        message = f"{event} has no conversation that a {part.row.name} hook could look at"
        complain(found.entry.line, message, "use a command", "warning")
    if (theirs := found.values.get("written_for")) and not speaks(theirs):
        advice = "write CLIENT:EVENT in that client's own spelling, such as cursor:beforeShellExecution"
        found.wrong(InvalidValueError(f"`{theirs[:80]}` is no client's event", found.line("written_for"), advice))
    if found.values.get("redact") is False and found.reading.layer not in ("policy", "user"):
        message = f"`redact = false` is not for {found.reading.layer} settings"
        found.wrong(
            InvalidValueError(message, found.line("redact"), "move the hook to your own settings, or remove the key")
        )
    name = found.values.get("id", "")
    if name and not (name.isprintable() and len(name) <= 200):
        found.wrong(
            InvalidValueError("the name has unprintable or too many characters", found.line("id"), "shorten it")
        )


def _check_condition(found: _Fields) -> None:
    """A rule that is none would never hold, and its hook would be off without a word."""
    try:
        check_rule(found.values["if"])
    except ValueError as error:
        found.wrong(
            InvalidValueError(f"`if` is not a rule: {error}", found.line("if"), 'write it like if = "Bash(git push *)"')
        )


def _check_matcher(found: _Fields, row: EventRow, event: str) -> None:
    pattern, kind = found.values.pop("matcher", (None, None))
    kind = found.values.pop("matcher_type", kind)
    if pattern and not row.matches:
        message = f"{event} has nothing to match, so the matcher is ignored"
        found.reading.complain(found.line("matcher"), message, "remove it", "warning")
        return
    try:
        compile_matcher(pattern, kind, row)
    except PatternError as error:
        found.wrong(InvalidValueError(error.message, found.line("matcher"), error.advice))
        return
    found.values.update({"matcher": pattern} if pattern else {}, **({"matcher_type": kind} if kind else {}))


def _fault(found: _Fields, event: str, before: int) -> Fault:
    errors = [each for each in found.reading.complaints[before:] if each.severity == "error"]
    reason = str(errors[0]) if errors else f"{found.reading.file}:{found.entry.line}: the entry cannot be read"
    return Fault(reason, found.entry.line, event, found.values)


def _built(found: _Fields, event: str, part: HandlerPart) -> Declared:
    values = found.values
    handler = handler_for(part, values, found.reading)
    definition = {**values, "event": event, "handler": part.row.name, **part.defaults_of(values)}
    source = Source(found.reading.layer, found.reading.file, found.entry.line)
    made = f"{event}-{json_type_name(handler)}-{short_digest(definition)}"
    hook = Hook(
        id=values.get("id") or made,
        event=event,
        handler=handler,
        scope=found.reading.scope,
        role=values.get("role"),
        matcher=values.get("matcher"),
        matcher_type=values.get("matcher_type"),
        kinds=values.get("kinds", ()),
        condition=values.get("if"),
        once=values.get("once", False),
        is_async=values.get("async", False) or values.get("async_rewake", False),
        rewakes=values.get("async_rewake", False),
        force_sync=values.get("force_sync", False),
        timeout=time_limit(values, found.lines, part, event, found.entry, found.reading),
        async_timeout=async_limit(values),
        on_failure=values.get("on_failure"),
        exit_code_mode=values.get("exit_code_mode", "client"),
        enabled=values.get("enabled", True),
        status_message=values.get("status_message", ""),
        group=values.get("group", ""),
        source=source,
    )
    return Declared(hook, definition)
