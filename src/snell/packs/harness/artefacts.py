"""
Check that a sub-agent left the files that it should.

Why      A sub-agent says that it is done, and the report that it was started for is missing.
What     A report made since it started is a success, with the next steps; data without a report sends it back to write
         one; no file at all sends it back to check its task. Once each. With patterns of your own, every sub-agent is
         checked; else one whose prompt names a folder of the patterns, or asks for files where one exists.
Instead  Set `report` and `data` in `[pack.harness]` to what your agents write, or to empty lists.
"""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from snell.model.context import Context
from snell.model.effects import Deny, Note
from snell.model.events import Event
from snell.packs.harness.expectations import Expectation, expectation_of, patterns
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
def require_artefacts(event: Event, context: Context) -> Deny | None:
    """Send a sub-agent back for what is missing."""
    if event.payload.get("agent_type") == "":
        return None  # one of the client's own, such as the one that compacts: it was not asked for files
    expected = expectation_of(event, context)
    scope, sent_back = f"session:{event.session_id}", f"{SENT_BACK}{event.agent_id}"
    if not _is_expected(event.cwd, context, expected) or find_artefacts(event.cwd, context, "report", expected):
        return None
    if event.payload.get("stop_hook_active") or context.marks.get(scope, sent_back):
        return None  # it was sent back once already
    data = find_artefacts(event.cwd, context, "data", expected)
    context.marks.put(scope, sent_back, True)
    if data:
        text = f"there are {len(data)} files of data and no report; none fits {_list_patterns(context, 'report')}"
        return Deny(text, instead="write the report from them now")
    return Deny(
        f"no file was written; none since you started fits {_list_patterns(context, 'report', 'data')}",
        instead="check your task, and try again; say so if it cannot be done",
    )


@informs("PostToolUse", kind="agent")
def report_artefacts(event: Event, context: Context) -> Note | None:
    """Name the report, or what is missing, and what comes next, to the agent that started the sub-agent."""
    expected = expectation_of(event, context)
    if not _is_expected(event.cwd, context, expected):
        return None
    if reports := find_artefacts(event.cwd, context, "report", expected):
        return Note(f"The report exists: {', '.join(' '.join(each.split()) for each in reports[:5])}. {NEXT_STEPS}")
    if data := find_artefacts(event.cwd, context, "data", expected):
        return Note(
            f"There are {len(data)} files of data and no report. Next: have the report written from them again."
        )
    return Note("The sub-agent wrote no file. Next: check what it was given, and start it again.")


def find_artefacts(cwd: str, context: Context, option: str, expected: Expectation) -> list[str]:
    """Return the files in a folder that match the option and were changed since the start, newest last."""
    found = dict(each for pattern in patterns(context, option) for each in _matching_files(cwd, pattern))
    recent = {name: changed for name, changed in found.items() if changed * 1000 >= expected.since - SLACK_MS}
    return sorted(recent, key=recent.__getitem__)


def _matching_files(cwd: str, pattern: str) -> Iterator[tuple[str, float]]:
    """Yield the files that match a pattern and are not empty, and when they were changed."""
    if _leaves_folder(pattern):
        return
    try:
        for path in islice(Path(cwd).glob(pattern), MOST_FILES):
            if path.is_file() and (found := path.stat()).st_size:
                yield str(path.relative_to(cwd)), found.st_mtime
    except (OSError, ValueError, NotImplementedError):
        return


def _list_patterns(context: Context, *options: str) -> str:
    return " or ".join(f"`{pattern}`" for pattern in patterns(context, *options))


def _is_expected(cwd: str, context: Context, expected: Expectation) -> bool:
    """Whether files are required: declared in the settings or by the prompt, or asked for where a folder exists."""
    given = [pattern for pattern in patterns(context, "report", "data") if not _leaves_folder(pattern)]
    is_default = patterns(context, "report") == DEFAULT_REPORT and patterns(context, "data") == DEFAULT_DATA
    if not is_default or expected.names_folder:
        return bool(cwd and given)
    folders = (os.path.join(cwd, pattern.partition("/")[0]) for pattern in given)
    return bool(cwd) and expected.is_for_files is not False and any(map(os.path.isdir, folders))


def _leaves_folder(pattern: str) -> bool:
    return os.path.isabs(pattern) or ".." in pattern.split("/")
