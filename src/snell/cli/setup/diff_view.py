"""Show a planned change to a file as a coloured diff."""

import re
from collections.abc import Iterator
from difflib import unified_diff

from snell.cli.terminal import Colours, escape, near_home, plural
from snell.model.installs import ListEntries
from snell.setup.file_changes import Change

WIDTH = 200
_PARTS = re.compile(r".*?\}[}\]]*, ?|.+")  # up to the end of an object that something follows
_ITEMS = re.compile(r".*?, ?|.+")


def render_change(change: Change, paint: Colours) -> Iterator[str]:
    """Yield the file's name and purpose and a diff; nothing if the file does not change."""
    if not change.changes:
        return
    what = "new file" if change.before is None else "removed" if change.after is None else change.file.purpose
    yield f"{change.file.path}  ({what if change.before is not None else f'{change.file.purpose}, {what}'})"
    before, after = (_lines(data) for data in (change.before, change.after))
    old, new = ([piece for line in lines for piece in _pieces(line)] for lines in (before, after))
    diff = list(unified_diff(old, new, lineterm="", n=2))[2:]
    for line in (each for each in diff if not each.startswith("@@")):
        colour = {"+": paint.green, "-": paint.red}.get(line[:1], paint.dim)
        shown = "\t".join(map(escape, line.split("\t")))
        yield f"  {colour(shown)}"
    if any(len(line) > WIDTH for line in (*before, *after)):
        yield f"  {paint.dim('(long lines are wrapped and indented)')}"


def fold_change(change: Change) -> str:
    """Return a change on one line: the file, what it is for, the events that run `snell-hook`, and how many lines."""
    before, after = _lines(change.before), _lines(change.after)
    diff = list(unified_diff(before, after, lineterm="", n=0))[2:]
    events = sum(len(edit.lists) for edit in change.file.edits if isinstance(edit, ListEntries))
    hooks = f"{plural(events, 'event')} -> snell-hook; " if events and b"snell-hook" in (change.after or b"") else ""
    new = "new file, " if change.before is None else "removed, " if change.after is None else ""
    added, gone = (sum(line.startswith(sign) for line in diff) for sign in "+-")
    return f"{near_home(change.file.path)}  ({change.file.purpose}): {new}{hooks}+{added:,} -{gone:,} lines"


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8-sig", "replace").splitlines()


def _pieces(line: str) -> Iterator[str]:
    """
    Yield a line, or the parts of a line that is too long to read.

    It is split by its content, so that unchanged parts are equal before and after: in a file of one line, only the new
    parts are shown as new.
    """
    if len(line) <= WIDTH:
        yield line
        return
    indent = line[: len(line) - len(line.lstrip())]
    for number, piece in enumerate(_split(line)):
        yield piece if number == 0 else f"{indent}    {piece}"


def _split(line: str) -> Iterator[str]:
    for part in _PARTS.findall(line):
        for item in [part] if len(part) <= WIDTH else _ITEMS.findall(part):
            for start in range(0, len(item), WIDTH):
                yield item[start : start + WIDTH].rstrip(" ")
