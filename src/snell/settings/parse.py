"""Bytes of a settings file to hooks, settings and complaints. Never raises, whatever the bytes are."""

import re
from collections.abc import Callable
from itertools import islice

from msgspec.structs import replace

from snell.settings.client_hook_files import FORMS
from snell.settings.client_hook_trees import translate_tree
from snell.settings.file_layouts import entries, top_level
from snell.settings.hook_entries import declare_hook
from snell.settings.parse_types import Declared, Fault, Parsed, Reading
from snell.settings.problems import InvalidValueError
from snell.settings.read_toml import read_toml
from snell.settings.value_tree import Node, text_of

LONGEST_FILE = 4 * 1024 * 1024
MOST_VALUES = 100_000
MOST_HOOKS = 10_000


def parse(data: bytes, reading: Reading) -> Parsed:
    """What a settings file holds; its name says whether it is JSON, and everything else is TOML."""
    if reading.is_foreign:
        form = FORMS.get(reading.layer.partition(":")[0])
        has_comments = form is not None and form.has_comments
        return parse_tree(
            lambda: translate_tree(_read(data, reading.file, has_comments=has_comments), reading), reading
        )
    return _guarded(parse_tree(lambda: _read(data, reading.file), reading), data)


def _guarded(parsed: Parsed, data: bytes) -> Parsed:
    """A file that nobody can read still shows whether it held a guard that was to block when it fails."""
    if not any(fault.is_file for fault in parsed.faults) or not _BLOCKS.search(data):
        return parsed
    faults = (replace(fault, definition={"on_failure": "block"}) for fault in parsed.faults)
    return replace(parsed, faults=tuple(faults))


_BLOCKS = re.compile(rb"""^[^#\n]*\bon_failure["']?\s*[=:]\s*["']block["']""", re.MULTILINE)


def parse_tree(read: Callable[[], Node | None], reading: Reading) -> Parsed:
    """The same for a tree that still has to be read, from whatever syntax."""
    try:
        root = read()
    except InvalidValueError as wrong:
        reading.report(wrong)
        return _parsed(reading, faults=[Fault(str(wrong.complaint(reading.file)), wrong.line, is_file=True)])
    if root is None:
        return _parsed(reading)
    hooks, values, faults = top_level(root, reading)
    extra = next((value.value for value in values if value.name == "extra_events"), ())
    reading.extra_events |= set(extra)
    written = entries(hooks, reading)
    found = [each if isinstance(each, Fault) else declare_hook(each, reading) for each in islice(written, MOST_HOOKS)]
    faults += [each for each in found if isinstance(each, Fault)]
    if too_many := next(written, None):
        reading.complain(too_many.line, f"the file has more than {MOST_HOOKS:,} hooks", "the rest is left out")
        faults.append(Fault(str(reading.complaints[-1]), too_many.line))
    hooks_found = tuple(each for each in found if isinstance(each, Declared))
    return Parsed(hooks_found, tuple(values), reading.shown_problems(), tuple(faults))


def _parsed(reading: Reading, faults: list[Fault] | None = None) -> Parsed:
    return Parsed(complaints=reading.shown_problems(), faults=tuple(faults or ()))


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
