"""Read and parse one settings file."""

import os
from pathlib import Path

from msgspec.structs import replace

from snell.settings.locate import SettingsFile
from snell.settings.parse import LONGEST_FILE, parse
from snell.settings.parse_types import Fault, Parsed, ParseState
from snell.system.files import FileError, read_capped


def read_file(file: SettingsFile, extra_events: frozenset[str] = frozenset()) -> Parsed:
    """Read a settings file. A missing file is empty, unless it must exist."""
    state = parse_state_for(file, extra_events)
    data = bytes_of(file.path, state, must_exist=file.must_exist)
    if isinstance(data, bytes):
        return _as_imported(parse(data, state)) if file.is_foreign else parse(data, state)
    return Parsed(problems=tuple(state.problems), faults=(data,) if data else ())


def _as_imported(parsed: Parsed) -> Parsed:
    """Return the hooks of another client's file; its switch disables these hooks, and no others."""
    if any(value.name == "disable_all_hooks" and value.value for value in parsed.values):
        off = tuple(replace(each, hook=replace(each.hook, enabled=False)) for each in parsed.declared)
        parsed = replace(parsed, declared=off)
    return replace(parsed, values=())


def parse_state_for(file: SettingsFile, extra_events: frozenset[str] = frozenset()) -> ParseState:
    return ParseState(
        str(file.path),
        layer=file.layer,
        scope=file.scope,
        folder=str(file.path.parent),
        extra_events=extra_events,
        is_foreign=file.is_foreign,
    )


def bytes_of(path: Path, state: ParseState, *, must_exist: bool = False) -> bytes | Fault | None:
    """Return the bytes of a file, None when it is missing, or the fault that was reported."""
    try:
        return read_capped(path, LONGEST_FILE)
    except (FileNotFoundError, NotADirectoryError):
        if not must_exist and not os.path.islink(path):
            return None
        return _fault(state, "the file does not exist", "create it, or unset the variable that names it")
    except FileError as error:
        return _fault(state, f"the file {error.message}", error.advice)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return _fault(state, f"the file cannot be read: {why}", "check its permissions")


def _fault(state: ParseState, message: str, advice: str) -> Fault:
    state.add_problem(1, message, advice)
    return Fault(str(state.problems[-1]), 1, is_file=True)
