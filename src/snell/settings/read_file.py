"""One settings file from disk to what it holds."""

import os
from pathlib import Path

from msgspec.structs import replace

from snell.settings.locate import SettingsFile
from snell.settings.parse import LONGEST_FILE, parse
from snell.settings.parse_types import Fault, Parsed, Reading
from snell.system.files import FileError, read_capped


def read_file(file: SettingsFile, extra_events: frozenset[str] = frozenset()) -> Parsed:
    """What a settings file holds; one that is not there holds nothing, unless somebody named it."""
    reading = reading_of(file, extra_events)
    data = bytes_of(file.path, reading, must_exist=file.must_exist)
    if isinstance(data, bytes):
        return _imported(parse(data, reading)) if file.is_foreign else parse(data, reading)
    return Parsed(complaints=tuple(reading.complaints), faults=(data,) if data else ())


def _imported(parsed: Parsed) -> Parsed:
    """Another program's hooks; what it switches off there is off here, and it switches nothing of ours."""
    if any(value.name == "disable_all_hooks" and value.value for value in parsed.values):
        off = tuple(replace(each, hook=replace(each.hook, enabled=False)) for each in parsed.declared)
        parsed = replace(parsed, declared=off)
    return replace(parsed, values=())


def reading_of(file: SettingsFile, extra_events: frozenset[str] = frozenset()) -> Reading:
    return Reading(
        str(file.path),
        layer=file.layer,
        scope=file.scope,
        folder=str(file.path.parent),
        extra_events=extra_events,
        is_foreign=file.is_foreign,
    )


def bytes_of(path: Path, reading: Reading, *, must_exist: bool = False) -> bytes | Fault | None:
    """The bytes of a file, nothing when it is not there, or the fault that was reported."""
    try:
        return read_capped(path, LONGEST_FILE)
    except (FileNotFoundError, NotADirectoryError):
        if not must_exist and not os.path.islink(path):
            return None
        return _fault(reading, "the file is not there", "create it, or remove what names it")
    except FileError as error:
        return _fault(reading, f"the file {error.message}", error.advice)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return _fault(reading, f"the file cannot be read: {why}", "check its permissions")


def _fault(reading: Reading, message: str, advice: str) -> Fault:
    reading.complain(1, message, advice)
    return Fault(str(reading.complaints[-1]), 1, is_file=True)
