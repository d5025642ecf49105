"""Read patches in the `*** Begin Patch` form, and write calls of other tools as patches."""

import os
import re

from snell.clients.emulation.base import edits_of
from snell.model.events import Event, text_in

BEGIN, END = "*** Begin Patch", "*** End Patch"
_FILE = re.compile(r"\*\*\* (?:Add|Update|Delete) File: (.+?)\s*")


def edits_in_patch(patch: str, cwd: str) -> dict[str, list[dict[str, str]]]:
    """Return the edits of each file; empty if the text is not a patch."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    old: list[str] = []
    new: list[str] = []
    for line in patch.splitlines() if patch.lstrip().startswith(BEGIN) else ():
        if named := _FILE.fullmatch(line):
            old, new = found.setdefault(os.path.normpath(os.path.join(cwd, named[1])), ([], []))
        elif not line.startswith(("***", "@@")):
            old += [line[1:]] if line[:1] in ("-", " ", "") else []
            new += [line[1:]] if line[:1] in ("+", " ", "") else []
    return {
        path: [{"old_string": "\n".join(before), "new_string": "\n".join(after)}]
        for path, (before, after) in found.items()
    }


def as_patch(event: Event) -> str:
    """Return a call that changes a file as a patch."""
    given = event.tool_input
    text, path = text_in(given, "new_string"), text_in(given, "file_path")
    if text.lstrip().startswith(BEGIN):
        return text
    if event.tool == "Delete":
        return "\n".join([BEGIN, f"*** Delete File: {path}", END])
    if event.tool == "Write":
        return "\n".join([BEGIN, f"*** Add File: {path}", *_with_sign("+", text_in(given, "content")), END])
    hunks = [
        line
        for edit in edits_of(given)
        for line in ("@@", *_with_sign("-", edit["old_string"]), *_with_sign("+", edit["new_string"]))
    ]
    return "\n".join([BEGIN, f"*** Update File: {path}", *hunks, END])


def _with_sign(sign: str, text: str) -> list[str]:
    return [f"{sign}{line}" for line in text.splitlines()]
