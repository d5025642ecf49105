"""Run cases with a real runtime: its worker process, its engine and its commands."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from snell.handlers.worker.client import Worker
from snell.model.decision import Decision, Skipped
from snell.model.hooks import Hook
from snell.runtime.app import Runtime
from snell.runtime.python_hook_files import PythonFiles
from snell.testing.case_errors import CaseError
from snell.testing.case_event import case_event_from
from snell.testing.case_files import case_files, subject_of
from snell.testing.cases import Case, cases_in
from snell.testing.compare import differences, hint, in_words
from snell.testing.hooks_under_test import UnderTest, under_test


class Result(Struct, frozen=True):
    """The result of a case; it passed if there are no differences."""

    case: Case
    decision: Decision
    happened: str = ""
    differences: tuple[str, ...] = ()
    hint: str = ""  # for a failed case, see `compare.hint`
    not_run: tuple[Skipped, ...] = ()
    problems: tuple[str, ...] = ()  # of the hooks under test, such as an invalid matcher

    @property
    def passed(self) -> bool:
        return not self.differences


def run_path(path: Path | str) -> list[Result]:
    """
    Run every case of a path: a case file, a hook, a settings file or a folder.

    Raises SnellError if a file cannot be read or a hook cannot be loaded.
    """
    return [result for file in case_files(Path(path)) for result in run_file(file)]


def run_file(file: Path, wanted: Callable[[Case], bool] = lambda case: True) -> list[Result]:
    """Run the cases of one file that `wanted` selects."""
    cases = [case for case in cases_in(file) if wanted(case)]
    if not cases:
        return []
    with _folder() as folder, _runtime_for(subject_of(file)) as (runtime, tested):
        return [
            run_case(case, runtime, _case_folder(case, folder / str(number), tested))
            for number, case in enumerate(cases)
        ]


def run_case(case: Case, runtime: Runtime, cwd: str = "") -> Result:
    """Run one case in a new session; without a `cwd`, in a temporary folder with the case's files."""
    if not cwd:
        with _folder() as folder:
            return run_case(case, runtime, _case_folder(case, folder, None))
    session = f"case-{os.urandom(4).hex()}"
    for number, earlier in enumerate(case.before, 1):
        runtime.decide(earlier.to_event(cwd, session, number))
    event = case.event.to_event(cwd, session, len(case.before) + 1)
    context = runtime.context_for(event)
    not_run = tuple(context.registry.skipped_hooks(event, runtime.store))
    decision = runtime.decide(event)
    found = differences(case.expect, decision, event, case.event)
    because = hint(decision, not_run) if found else ""
    return Result(case, decision, in_words(decision, event), tuple(found), because, not_run, context.problems)


def decide_with(
    *hooks: Callable[..., Any] | Hook, on: str, cwd: str | os.PathLike[str] = "", **fields: Any
) -> Decision:
    """
    Decide one event with these hooks and no others, for an author's own tests.

        decision = decide_with(no_force_push, on="PreToolUse", kind="shell", command="git push --force")
        assert decision.verdict == Verdict.DENY

    The fields are those of a case file's `event`. The hooks run in this process.
    """
    event = case_event_from({"on": on, **fields}).to_event(os.fspath(cwd) or os.getcwd(), "test")
    runtime = Runtime.embed(*hooks)
    try:
        return runtime.decide(event)
    finally:
        runtime.close()


@contextmanager
def _runtime_for(subject: Path) -> Iterator[tuple[Runtime, UnderTest]]:
    worker = Worker(os.environ)
    try:
        tested = under_test(subject, PythonFiles(worker))
        runtime = Runtime.embed(*tested.hooks, worker=worker, switches=tested.switches, project_dir=tested.project)
    except BaseException:
        worker.close()
        raise
    try:
        yield runtime, tested
    finally:
        runtime.close()


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="snell-test-")))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _case_folder(case: Case, folder: Path, tested: UnderTest | None) -> str:
    """Return the folder of a case: with `files` a temporary project, else the project of the hooks under test."""
    if tested and tested.project and not case.files:
        return tested.project
    folder.mkdir(exist_ok=True)
    for name, text in case.files.items():
        try:
            _write(folder / name, text)
        except OSError as error:
            message = f"`{name}` of the case's files cannot be written: {error.strerror}"
            raise CaseError(message, where=f"{case.file}:{case.line}", advice="rename it") from None
    return str(folder)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
