"""
Check that a sub-agent left the files that it should.

Why      A sub-agent says that it is done, and the report that it was started for is missing.
What     If its folders exist: a report made since it started is a success, with the next steps; data without a report
         sends it back to write one; no file at all sends it back to check its task. Once each, and only if the
         sub-agent was asked for files.
Instead  Set `report` and `data` in `[pack.harness]` to what your agents write, or to empty lists.
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
SLACK_MS = 2_000  # file systems have coarse clocks
SENT_BACK = "harness/sent_back/"
DEFAULT_REPORT, DEFAULT_DATA = ["work_products/**/*.html"], ["search_results/**/*.md"]  # as in pack.toml
NEXT_STEPS = (
    "Next: 1. update the to-do list; 2. upload the report where it belongs; "
    "3. send it to the person who asked for it; 4. mark the task as done."
)


@judges("SubagentStop")
def artefacts(event: Event, context: Context) -> Deny | None:
    """Send a sub-agent back for what is missing."""
    if event.payload.get("agent_type") == "":
        return None  # one of the client's own, such as the one that compacts: it was not asked for files
    expected = expectation_of(event, context)
    scope, sent_back = f"session:{event.session_id}", f"{SENT_BACK}{event.agent_id}"
    if not _is_expected(event.cwd, context, expected) or find_artefacts(
        event.cwd, context.options.get("report"), expected.since
    ):
        return None
    if event.payload.get("stop_hook_active") or context.marks.get(scope, sent_back):
        return None  # it was sent back once already
    data = find_artefacts(event.cwd, context.options.get("data"), expected.since)
    context.marks.put(scope, sent_back, True)
    if data:
        wanted = _patterns(context, "report")
        text = f"there are {len(data)} files of data and no report; none fits {wanted}"
        return Deny(text, instead="write the report from them now")
    return Deny(
        f"no file was written; none since you started fits {_patterns(context, 'report', 'data')}",
        instead="check your task, and try again; say so if it cannot be done",
    )


@informs("PostToolUse", kind="agent")
def delivered(event: Event, context: Context) -> Note | None:
    """Name the report, and what comes next, to the agent that started the sub-agent."""
    expected = expectation_of(event, context)
    if not _is_expected(event.cwd, context, expected):
        return None
    reports = find_artefacts(event.cwd, context.options.get("report"), expected.since)
    return Note(f"The report exists: {', '.join(reports[:5])}. {NEXT_STEPS}") if reports else None


def find_artefacts(cwd: str, patterns: Any, since: int = 0) -> list[str]:
    """Return the files in a folder that match one of the patterns and were changed since then, newest last."""
    names = dict.fromkeys(name for pattern in _texts(patterns) for name in _matching_files(cwd, pattern))
    changed = {name: _mtime(os.path.join(cwd, name)) for name in names}
    return sorted((name for name in names if changed[name] * 1000 >= since - SLACK_MS), key=changed.__getitem__)


def _matching_files(cwd: str, pattern: str) -> Iterator[str]:
    if _leaves_folder(pattern):
        return
    root = Path(cwd)
    try:
        for path in islice(root.glob(pattern), MOST_FILES):
            if path.is_file() and path.stat().st_size:
                yield str(path.relative_to(root))
    except (OSError, ValueError, NotImplementedError):
        return


def _is_asked_for(context: Context, expected: Expectation) -> bool:
    """Whether files were asked for: by the user, with patterns of their own, or by the sub-agent's prompt."""
    if _texts(context.options.get("report")) != DEFAULT_REPORT or _texts(context.options.get("data")) != DEFAULT_DATA:
        return True
    return expected.is_for_files is not False


def _patterns(context: Context, *options: str) -> str:
    return " or ".join(f"`{pattern}`" for name in options for pattern in _texts(context.options.get(name)))


def _is_expected(cwd: str, context: Context, expected: Expectation) -> bool:
    """Whether one of the folders for the files exists. A pattern without a folder means this one."""
    if not _is_asked_for(context, expected):
        return False
    patterns = [*_texts(context.options.get("report")), *_texts(context.options.get("data"))]
    folders = {_folder(pattern) for pattern in patterns if not _leaves_folder(pattern)}
    return bool(cwd) and any(os.path.isdir(os.path.join(cwd, folder)) for folder in folders)


def _folder(pattern: str) -> str:
    first, slash, _ = pattern.partition("/")
    return first if slash and not any(sign in first for sign in "*?[") else ""


def _leaves_folder(pattern: str) -> bool:
    return os.path.isabs(pattern) or ".." in pattern.split("/")


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str) and each] if isinstance(value, list) else []


def _mtime(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
