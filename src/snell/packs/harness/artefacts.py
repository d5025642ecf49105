"""
See that a sub-agent brought what it should.

Why      A sub-agent says that it is done, and the report that it was sent for is not there.
What     When its folders are there: a report made since it began is a success, with the next steps; data without a
         report sends it back to write one; nothing at all sends it back to look at what it was given. Once each, and
         not a sub-agent that nobody asked for files.
Instead  Set `report` and `data` in `[pack.harness]` to what your agents leave behind, or to empty lists.
"""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from snell.model.context import Context
from snell.model.effects import Deny, Note
from snell.model.events import Event
from snell.packs.harness.expectations import Expectation, expectation_of
from snell.sdk.decorators import informs, judges

MOST_FILES = 1_000
SLACK_MS = 2_000  # clocks of disks tick slowly
SENT_BACK = "harness/sent_back/"
USUAL_REPORT, USUAL_DATA = ["work_products/**/*.html"], ["search_results/**/*.md"]  # as in pack.toml
NEXT_STEPS = (
    "Next: 1. bring the to-do list up to date; 2. upload the report where it belongs; "
    "3. send it to who asked for it; 4. mark the task as done."
)


@judges("SubagentStop")
def artefacts(event: Event, context: Context) -> Deny | None:
    """Send a sub-agent back for what is missing."""
    if event.payload.get("agent_type") == "":
        return None  # one of the client's own, such as the one that compacts: nobody sent it for anything
    errand = expectation_of(event, context)
    scope, sent_back = f"session:{event.session_id}", f"{SENT_BACK}{event.agent_id}"
    if not _is_expected(event.cwd, context, errand) or find_artefacts(
        event.cwd, context.options.get("report"), errand.since
    ):
        return None
    if event.payload.get("stop_hook_active") or context.marks.get(scope, sent_back):
        return None  # it was sent back once, and had its chance
    data = find_artefacts(event.cwd, context.options.get("data"), errand.since)
    context.marks.put(scope, sent_back, True)
    if data:
        wanted = _named(context, "report")
        text = f"there are {len(data)} files of data and no report; none fits {wanted}"
        return Deny(text, instead="write the report from them now")
    return Deny(
        f"nothing was left behind; no file since you began fits {_named(context, 'report', 'data')}",
        instead="check what you were given, and try again; say so if it cannot be done",
    )


@informs("PostToolUse", kind="agent")
def delivered(event: Event, context: Context) -> Note | None:
    """Name the report, and what comes next, to the agent that sent for it."""
    errand = expectation_of(event, context)
    if not _is_expected(event.cwd, context, errand):
        return None
    reports = find_artefacts(event.cwd, context.options.get("report"), errand.since)
    return Note(f"The report is there: {', '.join(reports[:5])}. {NEXT_STEPS}") if reports else None


def find_artefacts(cwd: str, patterns: Any, since: int = 0) -> list[str]:
    """Files under a folder that fit one of the patterns and were changed since then, newest last."""
    names = dict.fromkeys(name for pattern in _texts(patterns) for name in _fitting(cwd, pattern))
    changed = {name: _changed(os.path.join(cwd, name)) for name in names}
    return sorted((name for name in names if changed[name] * 1000 >= since - SLACK_MS), key=changed.__getitem__)


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


def _is_asked_for(context: Context, errand: Expectation) -> bool:
    """Did somebody say that files should come: the user, by patterns of their own, or who sent the sub-agent?"""
    if _texts(context.options.get("report")) != USUAL_REPORT or _texts(context.options.get("data")) != USUAL_DATA:
        return True
    return errand.is_for_files is not False


def _named(context: Context, *options: str) -> str:
    return " or ".join(f"`{pattern}`" for name in options for pattern in _texts(context.options.get(name)))


def _is_expected(cwd: str, context: Context, errand: Expectation) -> bool:
    """Is one of the folders there, into which something should come? A pattern that names none speaks of this one."""
    if not _is_asked_for(context, errand):
        return False
    patterns = [*_texts(context.options.get("report")), *_texts(context.options.get("data"))]
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
