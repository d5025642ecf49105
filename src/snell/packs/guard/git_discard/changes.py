"""
Remember how a session changed each file, so that taking back its own changes is told from losing the user's.

For every call that says which files it writes, the content before and after is noted by its id in git. As long as each
call finds what the one before left, all later changes are the session's own; where a user, or a program that does not
say what it writes, changed the file between two calls, the row of ids begins anew.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path

from snell.model.protocols import Store
from snell.packs.guard.known_values import UNKNOWN
from snell.packs.guard.path_classes import TEMP, Workspace, classify_path
from snell.packs.guard.secret_fingerprints import ADDING

CHANGES = "guard/changes"
MOST_FILES, MOST_IDS, LARGEST = 40, 12, 262_144
NO_FILE, NOT_READ = "", "?"


def content_id(path: str) -> str:
    """Return the id that git gives the content of a file."""
    try:
        if not os.path.lexists(path):
            return NO_FILE
        if os.path.islink(path) or os.path.getsize(path) > LARGEST:
            return NOT_READ
        data = Path(path).read_bytes()
    except (OSError, ValueError):
        return NOT_READ
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def contents_of(paths: Iterable[str], workspace: Workspace) -> dict[str, str]:
    """Return the ids of the contents of files, except temporary ones and those that are only known at run time."""
    known = (path for path in dict.fromkeys(paths) if UNKNOWN not in path and path[:5] not in ("/dev/", "/proc"))
    kept = (path for path in known if classify_path(path, workspace) != TEMP)
    return {path: content_id(path) for path in islice(kept, MOST_FILES)}


def record(marks: Store, session_id: str, before: Mapping[str, str]) -> None:
    """Add to each row of ids what a call has made of the file."""
    after = {path: content_id(path) for path in before}
    if after == before:
        return
    with ADDING:
        known = marks.get(f"session:{session_id}", CHANGES)
        kept = dict(known) if isinstance(known, Mapping) else {}
        for path, was in before.items():
            ids = kept.pop(path, [])
            kept[path] = [*(ids if ids[-1:] == [was] else [was]), after[path]][-MOST_IDS:]
        marks.put(f"session:{session_id}", CHANGES, dict(list(kept.items())[-MOST_FILES:]))


def is_own_change(path: str, committed: str, changes: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether the file, as it is now, differs from the committed content by changes of the session only."""
    now, ids = content_id(path), list(changes.get(path, ()))
    return now in (committed, NO_FILE) or (now != NOT_READ and ids[-1:] == [now] and committed in ids)
