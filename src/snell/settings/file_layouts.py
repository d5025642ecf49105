"""
From the tree of a file to its entries and its top-level settings, whichever form it is written in:

    a list of entries, each with its event        `[[hooks]]` in TOML, a list in JSON
    lists by event, of entries                    `{"PreToolUse": [{"matcher": ..., "command": ...}]}`
    lists by event, of groups                     `{"PreToolUse": [{"matcher": ..., "hooks": [...]}]}`
"""

from collections.abc import Iterator

from snell.settings.parse_types import Entry, Fault, Reading, Value
from snell.settings.problems import InvalidValueError
from snell.settings.schema import GROUP, TOP, fold_spelling
from snell.settings.value_check import value_of
from snell.settings.value_tree import Node, noun


def top_level(root: Node, reading: Reading) -> tuple[Node | None, list[Value], list[Fault]]:
    """The node that holds the hooks, the other settings, and what could not be read."""
    if root.is_list:
        return root, [], []
    if not root.is_table:
        message = f"the file holds {noun(root.value)} instead of settings"
        reading.complain(root.line, message, "write a table with `hooks`")
        return None, [], [Fault(f"{reading.file}:{root.line}: {message}", root.line)]
    hooks: Node | None = None
    values: dict[str, Value] = {}
    faults: list[Fault] = []
    for spelled, node in root.value.items():
        try:
            if fold_spelling(spelled) == "hooks":
                if hooks is not None:
                    raise InvalidValueError("`hooks` is given twice", node.line, "keep one of them")
                hooks = node
            elif found := _setting(spelled, node, reading, values):
                values[found.name] = found
        except InvalidValueError as wrong:
            reading.report(wrong)
            faults.append(Fault(str(wrong.complaint(reading.file)), wrong.line))
    return hooks, list(values.values()), faults


def entries(hooks: Node | None, reading: Reading) -> Iterator[Entry | Fault]:
    """Every hook as it is written, in the order of the file."""
    if hooks is None or hooks.value is None:
        return
    if hooks.is_list:
        for node in hooks.value:
            yield from _entry(node, None, reading, is_client_form=False)
    elif hooks.is_table:
        for event, node in hooks.value.items():
            yield from _of_event(Node(event, node.line), node, reading)
    else:
        yield _misplaced(hooks, "`hooks` must be a list of hooks or a table of events", reading)


def _setting(spelled: str, node: Node, reading: Reading, values: dict[str, Value]) -> Value | None:
    key = TOP.find(spelled)
    if key is None:
        _unknown(spelled, node, reading)
        return None
    if key.ignored or (reading.is_foreign and key.name not in _READ_IN_FOREIGN_FILES):
        return None
    if key.name in values:
        raise InvalidValueError(f"`{key.name}` is given twice", node.line, "keep one of them")
    layer = reading.layer.partition(":")[0]
    if key.layers and layer not in key.layers:
        message = f"`{spelled}` has no effect in {layer} settings"
        reading.complain(node.line, message, f"only {' and '.join(key.layers)} settings may set it", "warning")
        return None
    return Value(key.name, value_of(key, node, spelled), reading.layer, reading.file, node.line)


_READ_IN_FOREIGN_FILES = ("disable_all_hooks",)


def _unknown(spelled: str, node: Node, reading: Reading) -> None:
    if reading.is_foreign:
        return
    wrong = InvalidValueError(f"`{spelled[:80]}` is not a setting", node.line, reading.nearest(TOP, spelled))
    if node.is_table or node.is_list:
        raise wrong  # in a policy these could be hooks under a wrong name
    reading.report(wrong)


def _of_event(event: Node, node: Node, reading: Reading) -> Iterator[Entry | Fault]:
    if not node.is_list:
        yield _misplaced(node, f"`hooks.{str(event.value)[:80]}` must be a list of hooks", reading, str(event.value))
        return
    for each in node.value:
        yield from _entry(each, event, reading, is_client_form=True)


def _entry(node: Node, event: Node | None, reading: Reading, *, is_client_form: bool) -> Iterator[Entry | Fault]:
    if not node.is_table:
        yield _misplaced(node, f"a hook must be a table, not {noun(node.value)}", reading, _text(event))
        return
    inner = [each for name, each in node.value.items() if fold_spelling(name) == "hooks"]
    if len(inner) > 1:
        yield _misplaced(inner[1], "`hooks` is given twice", reading, _text(event), "keep one of them")
    elif inner:
        yield from _group(node, inner[0], event, reading)
    else:
        yield Entry(node.value, node.line, event, is_client_form)


def _group(node: Node, inner: Node, event: Node | None, reading: Reading) -> Iterator[Entry | Fault]:
    """Claude Code's form: handlers that share a matcher."""
    event = event or next((each for name, each in node.value.items() if GROUP.is_named(name, "event")), None)
    shared = {name: each for name, each in node.value.items() if _is_shared(name)}
    strange = [name for name in node.value if not GROUP.find(name)]
    if strange and not reading.is_foreign:
        message = f"`{strange[0][:80]}` is not a key of a group of hooks"
        yield _misplaced(node.value[strange[0]], message, reading, _text(event), reading.nearest(GROUP, strange[0]))
        return
    if not inner.is_list:
        yield _misplaced(inner, "`hooks` must be a list of handlers", reading, _text(event))
        return
    for each in inner.value:
        if not each.is_table:
            yield _misplaced(each, f"a handler must be a table, not {noun(each.value)}", reading, _text(event))
            continue
        own = {name: one for name, one in each.value.items() if not (shared and _is_shared(name))}
        if len(own) < len(each.value) and not reading.is_foreign:
            yield _misplaced(
                each, "the matcher stands in the group and in the handler", reading, _text(event), "keep one"
            )
        else:
            yield Entry({**shared, **own}, each.line, event, True)


def _is_shared(name: str) -> bool:
    return GROUP.is_named(name, "matcher") or GROUP.is_named(name, "matcher_type")


def _text(event: Node | None) -> str:
    return event.value if event and isinstance(event.value, str) else ""


def _misplaced(node: Node, message: str, reading: Reading, event: str = "", advice: str = "") -> Fault:
    wrong = InvalidValueError(message, node.line, advice or "see the settings page for the forms")
    reading.report(wrong)
    return Fault(str(wrong.complaint(reading.file)), wrong.line, event)
