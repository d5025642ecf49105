"""Parse the bytes of a settings file into hooks, values and problems. Never raises, whatever the bytes are."""

import re
from collections.abc import Callable
from itertools import islice

from msgspec.structs import replace

from snell.settings.client_hook_files import CLIENT_FORMATS
from snell.settings.client_hook_trees import translate_tree
from snell.settings.file_layouts import entries, top_level
from snell.settings.hook_entries import declare_hook
from snell.settings.parse_types import Declared, Fault, Parsed, ParseState
from snell.settings.problems import InvalidValueError
from snell.settings.read_toml import read_toml
from snell.settings.value_tree import Node, text_of

LONGEST_FILE = 4 * 1024 * 1024
MOST_VALUES = 100_000
MOST_HOOKS = 10_000


def parse(data: bytes, state: ParseState) -> Parsed:
    """Parse a settings file: JSON if its name ends with `.json`, else TOML."""
    if state.is_foreign:
        form = CLIENT_FORMATS.get(state.layer.partition(":")[0])
        has_comments = form is not None and form.has_comments
        return parse_tree(lambda: translate_tree(_read(data, state.file, has_comments=has_comments), state), state)
    return _with_failure_policy(parse_tree(lambda: _read(data, state.file), state), data)


def _with_failure_policy(parsed: Parsed, data: bytes) -> Parsed:
    """Note in the faults of an unreadable file whether it contains a hook with `on_failure = "block"`."""
    if not any(fault.is_file for fault in parsed.faults) or not _BLOCKS.search(data):
        return parsed
    faults = (replace(fault, definition={"on_failure": "block"}) for fault in parsed.faults)
    return replace(parsed, faults=tuple(faults))


_BLOCKS = re.compile(rb"""^[^#\n]*\bon_failure["']?\s*[=:]\s*["']block["']""", re.MULTILINE)


def parse_tree(read: Callable[[], Node | None], state: ParseState) -> Parsed:
    """Parse the tree that `read` returns, from any syntax."""
    try:
        root = read()
    except InvalidValueError as wrong:
        state.add_error(wrong)
        return _without_hooks(state, faults=[Fault(str(wrong.problem(state.file)), wrong.line, is_file=True)])
    if root is None:
        return _without_hooks(state)
    hooks, values, faults = top_level(root, state)
    extra = next((value.value for value in values if value.name == "extra_events"), ())
    state.extra_events |= set(extra)
    written = entries(hooks, state)
    found = [each if isinstance(each, Fault) else declare_hook(each, state) for each in islice(written, MOST_HOOKS)]
    faults += [each for each in found if isinstance(each, Fault)]
    if too_many := next(written, None):
        state.add_problem(
            too_many.line, f"the file has more than {MOST_HOOKS:,} hooks", "split it; the rest is left out"
        )
        faults.append(Fault(str(state.problems[-1]), too_many.line))
    hooks_found = tuple(each for each in found if isinstance(each, Declared))
    return Parsed(hooks_found, tuple(values), state.shown_problems(), tuple(faults))


def _without_hooks(state: ParseState, faults: list[Fault] | None = None) -> Parsed:
    return Parsed(problems=state.shown_problems(), faults=tuple(faults or ()))


def _read(data: bytes, file: str, *, has_comments: bool = False) -> Node | None:
    if len(data) > LONGEST_FILE:
        raise InvalidValueError(f"the file has more than {LONGEST_FILE // 2**20} MB", 1, "split it")
    text = text_of(data)
    if text.count("\n") + text.count(",") > MOST_VALUES:
        raise InvalidValueError(f"the file has more than {MOST_VALUES:,} lines and values", 1, "split it")
    if not file.endswith(".json"):
        return read_toml(text)
    from snell.settings.read_json import read_json, without_comments  # slow to import, and most files are TOML

    return read_json(without_comments(text) if has_comments else text)
