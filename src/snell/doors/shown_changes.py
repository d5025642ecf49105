"""A change to a file, as a person wants to see it before saying yes."""

from collections.abc import Iterator
from difflib import unified_diff

from snell.doors.paint import Paint
from snell.doors.python_source import visible
from snell.runtime.install_files import Change

MOST_LINES = 60
WIDTH = 200


def shown_change(change: Change, paint: Paint) -> Iterator[str]:
    """The file, what it is for, and a diff of it; nothing where nothing changes."""
    if not change.changes:
        return
    what = "new file" if change.before is None else "removed" if change.after is None else change.file.purpose
    yield f"{change.file.path}  ({what if change.before is not None else f'{change.file.purpose}, {what}'})"
    lines = list(_diff(change))
    for line in lines[:MOST_LINES]:
        colour = {"+": paint.green, "-": paint.red}.get(line[:1], paint.dim)
        yield f"  {colour(visible(line if len(line) <= WIDTH else line[:WIDTH] + ' ...'))}"
    if len(lines) > MOST_LINES:
        yield f"  {paint.dim(f'... and {len(lines) - MOST_LINES} more lines')}"


def _diff(change: Change) -> Iterator[str]:
    before, after = (_lines(data) for data in (change.before, change.after))
    for line in list(unified_diff(before, after, lineterm="", n=2))[2:]:
        if not line.startswith("@@"):
            yield line


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8-sig", "replace").splitlines()
