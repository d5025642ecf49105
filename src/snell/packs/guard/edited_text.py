"""
Add the text on the disk to the files that a call writes or has written.

An edit names only the text that it inserts, and `sed -i` not even that, but the complete file may be run later.
"""

from collections.abc import Mapping
from pathlib import Path

from snell.model.call_contents import CallContents
from snell.packs.guard.known_names import pattern
from snell.packs.guard.known_values import SECRET, UNKNOWN, Value
from snell.packs.guard.sensitive_files import secret_name
from snell.packs.guard.shell.shell_state import Step
from snell.system.files import bytes_or_none

LARGEST, LONGEST_EDITED = 65_536, 1_000_000
MOST_READ = 8
_IN_PLACE = frozenset(("sed", "gsed", "perl", "ruby", "yq", "patch", "ed", "ex", "sponge"))


def add_text_from_disk(files: Mapping[str, Value], steps: tuple[Step, ...] = ()) -> dict[str, Value]:
    """Return the files, and those that a step has edited in place, with their text on the disk."""
    changed = {path for step in steps if step.program in _IN_PLACE for path in step.writes}
    found = {**dict.fromkeys(changed, Value("")), **files}
    for path in list(found)[:MOST_READ]:
        text = text_on_disk(path) if _is_run(path) and not found[path].has(SECRET) else ""
        if text and text.strip() not in found[path].text:
            found[path] = Value(f"{found[path].text.replace(UNKNOWN, '')}\n{text}".strip(), found[path].labels)
    return {path: value for path, value in found.items() if value.text or value.labels or path in files}


def edited_text(path: str, named: str, contents: CallContents) -> str:
    """Return the text that a file has after a call: of an edit the complete file, if what it replaces is there."""
    text, before = contents.writes[named], text_on_disk(path) if contents.replacements else ""
    if not before or any(old not in before for old, _new in contents.replacements):
        return text
    for old, new in contents.replacements:
        if before.count(old) * len(new) > LONGEST_EDITED:
            return text
        before = before.replace(old, new)
    return before


_RUN = pattern("files_that_are_run")


def _is_run(path: str) -> bool:
    return UNKNOWN not in path and _RUN.fullmatch(path.rpartition("/")[2]) is not None and not secret_name(path)


def text_on_disk(path: str) -> str:
    """Return the text of a file; empty if it is missing, too large or no text."""
    try:
        return (bytes_or_none(Path(path), LARGEST) or b"").decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return ""
