"""
See that a sub-agent brought what it should.

Why      A sub-agent says that it is done, and the report that it was sent for is not there.
What     When its folders are there: a report is a success, with the next steps; data without a report sends it back to
         write one; nothing at all sends it back to look at what it was given.
Instead  Set `report` and `data` in `[pack.harness]` to what your agents leave behind, or to empty lists.
"""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from snell.kit.authoring import informs, judges
from snell.kit.here import Here
from snell.model.effects import Deny, Note
from snell.model.events import Event

MOST_FILES = 1_000
NEXT_STEPS = (
    "Next: 1. bring the to-do list up to date; 2. upload the report where it belongs; "
    "3. send it to who asked for it; 4. mark the task as done."
)


@judges("SubagentStop")
def artefacts(event: Event, here: Here) -> Deny | None:
    """Send a sub-agent back for what is missing."""
    if event.payload.get("agent_type") == "":
        return None  # one of the client's own, such as the one that compacts: nobody sent it for anything
    if not _is_expected(event.cwd, here) or found(event.cwd, here.options.get("report")):
        return None
    data = found(event.cwd, here.options.get("data"))
    if data:
        return Deny(f"there are {len(data)} files of data and no report", instead="write the report from them now")
    return Deny(
        "nothing was left behind", instead="check what you were given, and try again; say so if it cannot be done"
    )


@informs("PostToolUse", kind="agent")
def delivered(event: Event, here: Here) -> Note | None:
    """Name the report, and what comes next, to the agent that sent for it."""
    if not _is_expected(event.cwd, here):
        return None
    reports = found(event.cwd, here.options.get("report"))
    return Note(f"The report is there: {', '.join(reports[:5])}. {NEXT_STEPS}") if reports else None


def found(cwd: str, patterns: Any) -> list[str]:
    """Files under a folder that fit one of the patterns, newest last."""
    names = dict.fromkeys(name for pattern in _texts(patterns) for name in _fitting(cwd, pattern))
    return sorted(names, key=lambda name: _changed(os.path.join(cwd, name)))


def _fitting(cwd: str, pattern: str) -> Iterator[str]:
    if _leads_away(pattern):
        return
    root = Path(cwd)
    try:
        for path in islice(root.glob(pattern), MOST_FILES):
            if path.is_file() and path.stat().st_size:
                yield str(path.relative_to(root))
    except (OSError, ValueError, NotImplementedError):
        return


def _is_expected(cwd: str, here: Here) -> bool:
    """Is one of the folders there, into which something should come? A pattern that names none speaks of this one."""
    patterns = [*_texts(here.options.get("report")), *_texts(here.options.get("data"))]
    folders = {_folder(pattern) for pattern in patterns if not _leads_away(pattern)}
    return bool(cwd) and any(os.path.isdir(os.path.join(cwd, folder)) for folder in folders)


def _folder(pattern: str) -> str:
    first, slash, _ = pattern.partition("/")
    return first if slash and not any(sign in first for sign in "*?[") else ""


def _leads_away(pattern: str) -> bool:
    return os.path.isabs(pattern) or ".." in pattern.split("/")


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str) and each] if isinstance(value, list) else []


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
