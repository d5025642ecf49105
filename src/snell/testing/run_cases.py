"""Run cases with a real runtime: its worker process, its engine and its commands."""

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.handlers.worker.child_main import ALSO
from snell.handlers.worker.client import Worker
from snell.model.decision import Decision, Skipped
from snell.model.errors import HookError, SettingsError
from snell.model.hooks import Hook, PythonFile, Scope, Switches
from snell.runtime.app import Runtime
from snell.runtime.hook_loader import NO_HOOK, PythonFiles
from snell.settings.locate import SettingsFile
from snell.settings.packs import MANIFEST, is_builtin, pack_hooks, read_pack
from snell.settings.parse import read_file
from snell.testing.case_event import CaseError, case_event_from
from snell.testing.case_files import case_files, subject_of
from snell.testing.cases import Case, cases_in
from snell.testing.expectation import differences, hint, in_words
from snell.testing.hook_source import source_problems


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


class UnderTest(Struct, frozen=True):
    """The hooks that a case file tests, alone: no user settings, no policy, no other pack."""

    hooks: tuple[Hook, ...]
    switches: Switches = Switches()
    project: str = ""  # the folder of a settings file's project; empty = each case has a temporary folder


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
    with _folder() as folder, runtime_for(subject_of(file)) as (runtime, tested):
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
    with Runtime.embed(*hooks) as runtime:
        return runtime.decide(event)


@contextmanager
def runtime_for(
    subject: Path, change: Callable[[Hook], Hook] = lambda hook: hook
) -> Iterator[tuple[Runtime, UnderTest]]:
    """Give a runtime with the hooks of a file, each changed by a function."""
    worker = Worker(os.environ)
    try:
        tested = under_test(subject, PythonFiles(worker))
        runtime = Runtime.embed(
            *map(change, tested.hooks), worker=worker, switches=tested.switches, project_dir=tested.project
        )
    except BaseException:
        worker.close()
        raise
    with runtime:
        yield runtime, tested


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="snell-test-", ignore_cleanup_errors=True) as folder:
        yield Path(os.path.realpath(folder))


def _case_folder(case: Case, folder: Path, tested: UnderTest | None) -> str:
    """Return the folder of a case: with `files` a temporary project, else the project of the hooks under test."""
    if tested and tested.project and not case.files:
        return tested.project
    folder.mkdir(exist_ok=True)
    for name, text in case.files.items():
        try:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            message = f"`{name}` of the case's files cannot be written: {error.strerror}"
            raise CaseError(message, where=f"{case.file}:{case.line}", advice="rename it") from None
    return str(folder)


def find_problems(paths: Sequence[Path]) -> dict[Path, list[str]]:
    """Load hook and settings files, and return all that is wrong with each, with file and line."""
    worker = Worker(os.environ)
    try:
        files = PythonFiles(worker)
        return {path: _problems_of(path, files) for path in paths}
    finally:
        worker.close()


def _problems_of(path: Path, files: PythonFiles) -> list[str]:
    if path.suffix != ".py":
        errors = (each for each in read_file(_settings_file(path.absolute())).problems if each.severity == "error")
        return [str(each) for each in errors]
    at_load = files.load(path.absolute(), scope=Scope.SESSION, layer="test", pack=path.stem).problem
    loading = at_load.split(ALSO) if at_load else []
    reading = source_problems(path.absolute(), path.read_bytes())
    known = {each.partition(": ")[0] for each in loading}
    found = [each for each in reading if each.partition(": ")[0] not in known]
    whole = [*(each for each in loading if not (found and NO_HOOK in each)), *found]
    return sorted(whole, key=lambda each: [int(line) for line in re.findall(r":(\d+): ", each)[:1]])


def under_test(subject: Path, files: PythonFiles) -> UnderTest:
    """Load the hooks of a Python file, a settings file or a pack. Raises HookError or SettingsError."""
    if is_builtin(subject):
        folder = subject if subject.is_dir() else subject.parent
        hooks = pack_hooks(read_pack(folder).name)
        if subject.is_dir():
            return UnderTest(hooks)
        return UnderTest(tuple(hook for hook in hooks if Path(hook.source.file).stem == subject.stem))
    if subject.is_dir():
        pack = read_pack(subject)
        return UnderTest(tuple(hook for path in pack.files for hook in _from_python(path, pack.name, files)))
    if subject.suffix == ".py":
        # As the hook loader does, a file outside a pack is named by itself.
        pack_name = read_pack(subject.parent).name if subject.with_name(MANIFEST).is_file() else subject.stem
        return UnderTest(_from_python(subject, pack_name, files))
    return _from_settings(subject, files)


def _from_python(path: Path, pack: str, files: PythonFiles) -> tuple[Hook, ...]:
    found = files.load(path.absolute(), scope=Scope.SESSION, layer="test", pack=pack)
    if found.problem:
        raise HookError(found.problem)
    return found.hooks


def _from_settings(path: Path, files: PythonFiles) -> UnderTest:
    path = path.absolute()
    parsed = read_file(_settings_file(path))
    for problem in parsed.problems:
        if problem.severity == "error":
            where = f"{problem.file}:{problem.line}"
            raise SettingsError(problem.message, where=where, advice=problem.advice)
    hooks = tuple(_with_function(each.hook, files) for each in parsed.declared)
    if not hooks:
        raise SettingsError("the file has no hooks to test", where=str(path), advice="add one with [[hooks]]")
    switches = {each.name: each.value for each in parsed.values if each.name in Switches.__struct_fields__}
    project = path.parent.parent if path.parent.name in (".snell", ".claude") else path.parent
    return UnderTest(hooks, Switches(**switches), str(project))


def _settings_file(path: Path) -> SettingsFile:
    """Return the file with its layer: a policy is recognised by its name, a client's file by its folder."""
    if path.stem == "policy":
        return SettingsFile(path, "policy", Scope.POLICY)
    layer = "local" if path.stem.endswith(".local") else "project"
    return SettingsFile(path, layer, is_foreign=path.parent.name == ".claude")


def _with_function(hook: Hook, files: PythonFiles) -> Hook:
    """Load the Python function that a hook of a settings file names. Raises SettingsError."""
    handler = hook.handler
    if not isinstance(handler, PythonFile):
        return hook
    for each in _from_python(Path(handler.path), "settings", files):
        if isinstance(each.handler, PythonFile) and each.handler.function == handler.function:
            return replace(hook, handler=each.handler)
    message = f"`{handler.path}` has no hook `{handler.function}`"
    raise SettingsError(message, where=str(hook.source), advice="name a function with @judges, @informs, ...")
