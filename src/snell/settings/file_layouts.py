"""
Find the hook entries and the other settings in the tree of a file, in any of its forms:

    a list of entries, each with its event        `[[hooks]]` in TOML, a list in JSON
    lists by event, of entries                    `{"PreToolUse": [{"matcher": ..., "command": ...}]}`
    lists by event, of groups                     `{"PreToolUse": [{"matcher": ..., "hooks": [...]}]}`
"""

from collections.abc import Iterator

from snell.settings.parse_types import Entry, Fault, ParseState, Value
from snell.settings.problems import InvalidValueError
from snell.settings.schema import GROUP, TOP, fold_spelling
from snell.settings.value_check import value_of
from snell.settings.value_tree import Node, noun


def top_level(root: Node, state: ParseState) -> tuple[Node | None, list[Value], list[Fault]]:
    """Return the node with the hooks, the other settings, and the parts that could not be read."""
    if root.is_list:
        return root, [], []
    if not root.is_table:
        message = f"the file contains {noun(root.value)} instead of settings"
        state.add_problem(root.line, message, "write a table with `hooks`")
        return None, [], [Fault(f"{state.file}:{root.line}: {message}", root.line)]
    hooks: Node | None = None
    values: dict[str, Value] = {}
    faults: list[Fault] = []
    for spelled, node in root.value.items():
        try:
            if fold_spelling(spelled) == "hooks":
                if hooks is not None:
                    raise InvalidValueError("`hooks` is given twice", node.line, "keep one of them")
                hooks = node
            elif found := _setting(spelled, node, state, values):
                values[found.name] = found
        except InvalidValueError as wrong:
            state.add_error(wrong)
            faults.append(Fault(str(wrong.problem(state.file)), wrong.line))
    return hooks, list(values.values()), faults


def entries(hooks: Node | None, state: ParseState) -> Iterator[Entry | Fault]:
    """Yield every hook entry, in the order of the file."""
    if hooks is None or hooks.value is None:
        return
    if hooks.is_list:
        for node in hooks.value:
            yield from _entry(node, None, state, is_client_form=False)
    elif hooks.is_table:
        for event, node in hooks.value.items():
            yield from _entries_of_event(Node(event, node.line), node, state)
    else:
        yield _report_fault(hooks, "`hooks` must be a list of hooks or a table of events", state)


def _setting(spelled: str, node: Node, state: ParseState, values: dict[str, Value]) -> Value | None:
    key = TOP.find(spelled)
    if key is None:
        _report_unknown(spelled, node, state)
        return None
    if key.ignored or (state.is_foreign and key.name not in _READ_IN_FOREIGN_FILES):
        return None
    if key.name in values:
        raise InvalidValueError(f"`{key.name}` is given twice", node.line, "keep one of them")
    layer = state.layer.partition(":")[0]
    if key.layers and layer not in key.layers:
        message = f"`{spelled}` has no effect in {layer} settings"
        state.add_problem(node.line, message, f"only {' and '.join(key.layers)} settings may set it", "warning")
        return None
    return Value(key.name, value_of(key, node, spelled), state.layer, state.file, node.line)


_READ_IN_FOREIGN_FILES = ("disable_all_hooks",)


def _report_unknown(spelled: str, node: Node, state: ParseState) -> None:
    if state.is_foreign:
        return
    wrong = InvalidValueError(f"`{spelled[:80]}` is not a setting", node.line, state.nearest(TOP, spelled))
    if node.is_table or node.is_list:
        raise wrong  # in a policy these could be hooks with a misspelled key
    state.add_error(wrong)


def _entries_of_event(event: Node, node: Node, state: ParseState) -> Iterator[Entry | Fault]:
    if not node.is_list:
        yield _report_fault(node, f"`hooks.{str(event.value)[:80]}` must be a list of hooks", state, str(event.value))
        return
    for each in node.value:
        yield from _entry(each, event, state, is_client_form=True)


def _entry(node: Node, event: Node | None, state: ParseState, *, is_client_form: bool) -> Iterator[Entry | Fault]:
    if not node.is_table:
        yield _report_fault(node, f"a hook must be a table, not {noun(node.value)}", state, _text(event))
        return
    inner = [each for name, each in node.value.items() if fold_spelling(name) == "hooks"]
    if len(inner) > 1:
        yield _report_fault(inner[1], "`hooks` is given twice", state, _text(event), "keep one of them")
    elif inner:
        yield from _group(node, inner[0], event, state)
    else:
        yield Entry(node.value, node.line, event, is_client_form)


def _group(node: Node, inner: Node, event: Node | None, state: ParseState) -> Iterator[Entry | Fault]:
    """Yield the entries of a group: handlers that share a matcher, as in Claude Code's settings."""
    event = event or next((each for name, each in node.value.items() if GROUP.is_named(name, "event")), None)
    shared = {name: each for name, each in node.value.items() if _is_shared(name)}
    unknown = [name for name in node.value if not GROUP.find(name)]
    if unknown and not state.is_foreign:
        message = f"`{unknown[0][:80]}` is not a key of a group of hooks"
        yield _report_fault(node.value[unknown[0]], message, state, _text(event), state.nearest(GROUP, unknown[0]))
        return
    if not inner.is_list:
        yield _report_fault(inner, "`hooks` must be a list of handlers", state, _text(event))
        return
    for each in inner.value:
        if not each.is_table:
            yield _report_fault(each, f"a handler must be a table, not {noun(each.value)}", state, _text(event))
            continue
        own = {name: one for name, one in each.value.items() if not (shared and _is_shared(name))}
        if len(own) < len(each.value) and not state.is_foreign:
            yield _report_fault(each, "the matcher is in the group and in the handler", state, _text(event), "keep one")
        else:
            yield Entry({**shared, **own}, each.line, event, True)


def _is_shared(name: str) -> bool:
    return GROUP.is_named(name, "matcher") or GROUP.is_named(name, "matcher_type")


def _text(event: Node | None) -> str:
    return event.value if event and isinstance(event.value, str) else ""


def _report_fault(node: Node, message: str, state: ParseState, event: str = "", advice: str = "") -> Fault:
    wrong = InvalidValueError(message, node.line, advice or "see docs/reference/settings.md")
    state.add_error(wrong)
    return Fault(str(wrong.problem(state.file)), wrong.line, event)
