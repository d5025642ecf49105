"""
Read and parse settings files into hooks, values and problems. Never raises, whatever the bytes are.

The hooks of a file may have any of these forms:

    a list of entries, each with its event        `[[hooks]]` in TOML, a list in JSON
    lists by event, of entries                    `{"PreToolUse": [{"matcher": ..., "command": ...}]}`
    lists by event, of groups                     `{"PreToolUse": [{"matcher": ..., "hooks": [...]}]}`
"""

import os
import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from snell.model.catalogue import fold_name
from snell.settings.client_hook_files import CLIENT_FORMATS, translate_tree
from snell.settings.hook_entries import declare_hook
from snell.settings.locate import SettingsFile
from snell.settings.parse_types import Declared, Entry, Fault, Parsed, ParseState, Value, extra_events
from snell.settings.read_toml import read_toml
from snell.settings.schema import GROUP, TABLES_OF_PACKS, TOP
from snell.settings.value_check import value_of
from snell.settings.value_tree import InvalidValueError, Node, noun, text_of
from snell.system.files import FileError, read_capped
from snell.system.lazy_regex import lazy_regex

LONGEST_FILE = 4 * 1024 * 1024
MOST_VALUES = 100_000
MOST_HOOKS = 10_000
_BLOCKS = lazy_regex(rb"""^[^#\n]*\bon_failure["']?\s*[=:]\s*["']block["']""", re.MULTILINE)


def read_file(file: SettingsFile, extra_events: frozenset[str] = frozenset()) -> Parsed:
    """Read a settings file. A missing file is empty, unless it must exist."""
    state = ParseState(
        str(file.path),
        layer=file.layer,
        scope=file.scope,
        folder=str(file.path.parent),
        extra_events=extra_events,
        is_foreign=file.is_foreign,
    )
    parsed = parse_file(file.path, state, must_exist=file.must_exist)
    if not file.is_foreign:
        return parsed
    # The switch in another client's file disables the hooks of this file, and no others.
    if any(value.name == "disable_all_hooks" and value.value for value in parsed.values):
        off = tuple(replace(each, hook=replace(each.hook, enabled=False)) for each in parsed.declared)
        parsed = replace(parsed, declared=off)
    return replace(parsed, values=())


def parse_file(path: Path, state: ParseState, *, must_exist: bool = False) -> Parsed:
    """Read and parse a file; one that is missing or cannot be read has no hooks."""
    data = bytes_of(path, state, must_exist=must_exist)
    return parse(data, state) if isinstance(data, bytes) else without_hooks(state, data)


def bytes_of(path: Path, state: ParseState, *, must_exist: bool = False) -> bytes | Fault | None:
    """Return the bytes of a file, None when it is missing, or the fault that was reported."""
    try:
        return read_capped(path, LONGEST_FILE)
    except (FileNotFoundError, NotADirectoryError):
        if not must_exist and not os.path.islink(path):
            return None
        message, advice = "the file does not exist", "create it, or unset the variable that names it"
    except FileError as error:
        message, advice = f"the file {error.message}", error.advice
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        message, advice = f"the file cannot be read: {why}", "check its permissions"
    return state.add_fault(message, 1, advice, is_file=True)


def parse(data: bytes, state: ParseState) -> Parsed:
    """Parse a settings file: JSON if its name ends with `.json`, else TOML."""
    if state.is_foreign:
        form = CLIENT_FORMATS.get(state.layer.partition(":")[0])
        has_comments = form is not None and form.has_comments
        return parse_tree(lambda: translate_tree(read_tree(data, state.file, has_comments=has_comments), state), state)
    parsed = parse_tree(lambda: read_tree(data, state.file), state)
    if not any(fault.is_file for fault in parsed.faults) or not _BLOCKS.search(data):
        return parsed
    # An unreadable file has a hook with `on_failure = "block"`.
    faults = (replace(fault, definition={"on_failure": "block"}) for fault in parsed.faults)
    return replace(parsed, faults=tuple(faults))


def read_tree(data: bytes, file: str, *, has_comments: bool = False) -> Node | None:
    """Return the tree in the bytes of a file. Raises InvalidValueError."""
    if len(data) > LONGEST_FILE:
        raise InvalidValueError(f"the file has more than {LONGEST_FILE // 2**20} MB", 1, "split it")
    text = text_of(data)
    if text.count("\n") + text.count(",") > MOST_VALUES:
        raise InvalidValueError(f"the file has more than {MOST_VALUES:,} lines and values", 1, "split it")
    if not file.endswith(".json"):
        return read_toml(text)
    from snell.settings.read_json import read_json  # slow to import, and most files are TOML

    return read_json(text, has_comments=has_comments)


def parse_tree(read: Callable[[], Node | None], state: ParseState) -> Parsed:
    """Parse the tree that `read` returns, from any syntax."""
    try:
        root = read()
    except InvalidValueError as wrong:
        return without_hooks(state, state.add_fault(wrong.message, wrong.line, wrong.advice, is_file=True))
    if root is None:
        return without_hooks(state)
    hooks, values, faults = _top_level(root, state)
    state.extra_events |= extra_events(values)
    written = _entries(hooks, state)
    found = [each if isinstance(each, Fault) else declare_hook(each, state) for each in islice(written, MOST_HOOKS)]
    faults += [each for each in found if isinstance(each, Fault)]
    if too_many := next(written, None):
        message = f"the file has more than {MOST_HOOKS:,} hooks"
        faults.append(state.add_fault(message, too_many.line, "split it; the rest is left out"))
    hooks_found = tuple(each for each in found if isinstance(each, Declared))
    return Parsed(hooks_found, tuple(values), state.shown_problems(), tuple(faults))


def without_hooks(state: ParseState, fault: Fault | None = None) -> Parsed:
    """Return the problems of a file that has no hooks, or of which nothing can be read."""
    return Parsed(problems=state.shown_problems(), faults=(fault,) if fault else ())


def _top_level(root: Node, state: ParseState) -> tuple[Node | None, list[Value], list[Fault]]:
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
            if fold_name(spelled) == "hooks":
                if hooks is not None:
                    raise InvalidValueError("`hooks` is given twice", node.line, "keep one of them")
                hooks = node
            elif found := _setting(spelled, node, state, values):
                values[found.name] = found
        except InvalidValueError as wrong:
            faults.append(state.add_fault(wrong.message, wrong.line, wrong.advice))
    return hooks, list(values.values()), faults


def _setting(spelled: str, node: Node, state: ParseState, values: dict[str, Value]) -> Value | None:
    key = TOP.find(spelled)
    if key is None:
        _report_unknown(spelled, node, state)
        return None
    if key.ignored or (state.is_foreign and key.name != "disable_all_hooks"):
        return None
    if key.name in values:
        raise InvalidValueError(f"`{key.name}` is given twice", node.line, "keep one of them")
    layer = state.layer.partition(":")[0]
    if key.layers and layer not in (*key.layers, "profile"):
        if node.value == key.default:
            return None  # as it is anyway
        message = f"`{spelled}` has no effect in {layer} settings"
        state.add_problem(node.line, message, f"only {' and '.join(key.layers)} settings may set it", "warning")
        return None
    return Value(key.name, value_of(key, node, spelled), state.layer, state.file, node.line)


def _report_unknown(spelled: str, node: Node, state: ParseState) -> None:
    if state.is_foreign:
        return
    near = state.nearest(TABLES_OF_PACKS if node.is_table else TOP, spelled)
    advice = near if near.startswith("did") else state.nearest(TOP, spelled)
    wrong = InvalidValueError(f"`{spelled[:80]}` is not a setting", node.line, advice)
    if node.is_table or node.is_list:
        raise wrong  # in a policy these could be hooks with a misspelled key
    state.add_error(wrong)


def _entries(hooks: Node | None, state: ParseState) -> Iterator[Entry | Fault]:
    """Yield every hook entry, in the order of the file."""
    if hooks is None or hooks.value is None:
        return
    if hooks.is_list:
        for node in hooks.value:
            yield from _entry(node, None, state)
        return
    if not hooks.is_table:
        yield _fault(hooks, "`hooks` must be a list of hooks or a table of events", state)
        return
    for name, node in hooks.value.items():
        event = Node(name, node.line)
        if not node.is_list:
            yield _fault(node, f"`hooks.{name[:80]}` must be a list of hooks", state, event)
            continue
        for each in node.value:
            yield from _entry(each, event, state)


def _entry(node: Node, event: Node | None, state: ParseState) -> Iterator[Entry | Fault]:
    """Yield an entry, or those of a group; `event` is the event whose list contains it."""
    if not node.is_table:
        yield _fault(node, f"a hook must be a table, not {noun(node.value)}", state, event)
        return
    inner = [each for name, each in node.value.items() if fold_name(name) == "hooks"]
    if len(inner) > 1:
        yield _fault(inner[1], "`hooks` is given twice", state, event, "keep one of them")
    elif inner:
        yield from _group(node, inner[0], event, state)
    else:
        yield Entry(node.value, node.line, event, is_client_form=event is not None)


def _group(node: Node, inner: Node, event: Node | None, state: ParseState) -> Iterator[Entry | Fault]:
    """Yield the entries of a group: handlers that share a matcher, as in Claude Code's settings."""
    event = event or next((each for name, each in node.value.items() if GROUP.is_named(name, "event")), None)
    shared = {name: each for name, each in node.value.items() if _is_shared(name)}
    unknown = [name for name in node.value if not GROUP.find(name)]
    if unknown and not state.is_foreign:
        message = f"`{unknown[0][:80]}` is not a key of a group of hooks"
        yield _fault(node.value[unknown[0]], message, state, event, state.nearest(GROUP, unknown[0]))
        return
    if not inner.is_list:
        yield _fault(inner, "`hooks` must be a list of handlers", state, event)
        return
    for each in inner.value:
        if not each.is_table:
            yield _fault(each, f"a handler must be a table, not {noun(each.value)}", state, event)
            continue
        own = {name: one for name, one in each.value.items() if not (shared and _is_shared(name))}
        if len(own) < len(each.value) and not state.is_foreign:
            yield _fault(each, "the matcher is in the group and in the handler", state, event, "keep one")
        else:
            yield Entry({**shared, **own}, each.line, event, is_client_form=True)


def _is_shared(name: str) -> bool:
    return GROUP.is_named(name, "matcher") or GROUP.is_named(name, "matcher_type")


def _fault(node: Node, message: str, state: ParseState, event: Node | None = None, advice: str = "") -> Fault:
    name = event.value if event and isinstance(event.value, str) else ""
    return state.add_fault(message, node.line, advice or "see docs/reference/settings.md", name)
