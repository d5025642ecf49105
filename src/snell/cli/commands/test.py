"""Load hooks, run their case files, and report what does not load and the cases that failed."""

import argparse
import os
import sys
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from textwrap import indent
from typing import Any

from snell.cli.terminal import Colours, print_json, visible
from snell.engine.explain import explain
from snell.engine.record import record_of
from snell.model.decision import PRINTED
from snell.model.errors import SnellError
from snell.settings.locate import FOLDER, locate
from snell.settings.packs import is_builtin
from snell.system.paths import places
from snell.system.run_program import adopt_orphans
from snell.testing.case_files import case_files, hook_files, own_files, subject_of
from snell.testing.cases import ENDING, Case
from snell.testing.run_cases import Result, find_problems, run_file

_NAME_IT = "name a file or folder, as in `snell test FOLDER`"
ADVICE = "write NAME.cases.toml next to a hook, or create both with `snell new hook NAME`"


def run(args: argparse.Namespace) -> int:
    paths = [Path(path) for path in args.paths]
    files, hooks = (_files(find, paths) for find in _FINDERS)
    if args.faults:
        return int(import_module("snell.cli.faults.command").run(args, hooks))
    report = _Report(quiet=args.json, verbose=args.verbose)
    adopt_orphans()
    broken = report.check([] if args.text else [path for path in hooks if not is_builtin(path)])
    for file in (each for each in files if _subject(each) not in broken):
        report.add(file, _filter(args.text, file))
    if not report.results and not report.errors and not any(path.suffix == ".py" for path in report.checked):
        why = f"no cases were found in {' or '.join(f'`{path}`' for path in paths or [Path(FOLDER)])}"
        why = f"no case has `{args.text}` in its name" if args.text else why
        raise SnellError(why, advice="run all cases without `-k`" if args.text else ADVICE)
    report.finish({_subject(file) for file in files})
    return 0 if report.failed == 0 else 1


def _files(find: Callable[[Path], list[Path]], paths: list[Path]) -> list[Path]:
    found = [each for path in paths for each in find(path)] if paths else _own_files(find)
    return list({each.absolute(): each for each in found}.values())


def _cases(path: Path) -> list[Path]:
    """Return the case files of a path; none for a hook without cases, which is only loaded."""
    return [] if hook_files(path) == [path] and not path.with_suffix(ENDING).exists() else case_files(path)


_FINDERS = (_cases, hook_files)


def _own_files(find: Callable[[Path], list[Path]]) -> list[Path]:
    """Return the files of the current project, or of the user outside of one. Raises SnellError if there is neither."""
    here, where = Path.cwd(), places(os.environ)
    project = locate(where, here, os.environ).project
    if project is None:
        if (where.config / "hooks").is_dir():
            return find(where.config / "hooks")
        what = f"no project was found (no `{FOLDER}` in this folder or above it), so no case was run"
        raise SnellError(what, advice=f"{_NAME_IT}, or create a hook with `snell new hook NAME`")
    shown = Path(os.path.relpath(project.root, here))
    _refuse_other_owner(project.root / FOLDER, shown / FOLDER)
    own, left_out = own_files(project.root, shown, find)
    for each in left_out if find is _cases else ():  # what they test is left out with them
        print(f"snell: not run: {visible(f'`{each.file}` {each.why}')}; name it to run it", file=sys.stderr)
    return own


def _subject(file: Path) -> Path:
    """Return what a case file tests, or the case file itself if there is no such file."""
    with suppress(SnellError):
        return subject_of(file).absolute()
    return file.absolute()


def _refuse_other_owner(folder: Path, shown: Path) -> None:
    """Raise SnellError if another user owns the folder: one in /tmp would be found from every folder below."""
    owner, user = folder.stat().st_uid, os.geteuid()
    sudo = os.environ.get("SUDO_UID", "")
    if owner not in {user, 0} and not (user == 0 and sudo == str(owner)):
        advice = f"read it, then name it: `snell test {shown}`"
        raise SnellError(f"`{shown}` belongs to another user, so no case was run", advice=advice)


def _filter(text: str, file: Path) -> Callable[[Case], bool]:
    return lambda case: text.lower() in file.name.lower() or text.lower() in case.name.lower()


class _Report:
    """Print the results as they come, and count them."""

    def __init__(self, *, quiet: bool, verbose: bool) -> None:
        self.results: list[Result] = []
        self.errors: list[str] = []
        self.checked: list[Path] = []
        self._quiet = quiet
        self._verbose = verbose
        self._here = f"{os.getcwd()}/"  # paths below it are shown without it
        self._paint = Colours.for_stdout()
        self._shown: set[str] = set()  # problems already printed; they are the same for every case of a file

    @property
    def failed(self) -> int:
        return len(self.errors) + sum(not result.passed for result in self.results)

    def add(self, file: Path, wanted: Callable[[Case], bool]) -> None:
        """Run a case file; one that cannot be run counts as failed, and the others still run."""
        try:
            results = run_file(file, wanted)
        except SnellError as error:
            self.errors.append(str(error))
            self._print(f"{self._paint.red('FAIL')}  {error}")
            return
        self.results += results
        for result in results:
            self._show(result)

    def check(self, paths: Sequence[Path]) -> set[Path]:
        """Load hook and settings files and show all that is wrong with them; return those that cannot be used."""
        found = find_problems(paths) if paths else {}
        self.checked += [path for path, problems in found.items() if not problems]
        for error in (each for problems in found.values() for each in problems):
            self.errors.append(error)
            self._print(f"{self._paint.red('FAIL')}  {error}")
        return {path.absolute() for path, problems in found.items() if problems}

    def finish(self, tested: Container[Path]) -> None:
        passed = sum(result.passed for result in self.results)
        untested = [str(path) for path in self.checked if path.absolute() not in tested and path.suffix == ".py"]
        if self._quiet:
            cases = [_row(result) for result in self.results]
            counts = {"passed": passed, "failed": self.failed, "errors": self.errors}
            print_json({**counts, "cases": cases, "without_cases": untested})
            return
        if untested:
            print(self._paint.yellow(f"loaded, but without cases: {visible(', '.join(untested))}"))
        total = f"{passed} passed, {self.failed} failed"
        print(self._paint.red(total) if self.failed else self._paint.green(total))

    def _show(self, result: Result) -> None:
        case = result.case
        if not result.passed:
            differences = "; ".join(result.differences) + (f" ({result.hint})" if result.hint else "")
            self._print(f"{self._paint.red('FAIL')}  {case.file}:{case.line}  {case.name}: {differences}")
            for problem in (each for each in result.problems if each not in self._shown):
                self._shown.add(problem)
                self._print(f"      {problem}")
            if self._verbose:
                self._print(indent(explain(record_of(result.decision, result.not_run)), " " * 6))
        elif self._verbose:
            self._print(f"{self._paint.green('ok')}    {case.file}:{case.line}  {case.name}: {result.happened}")
            for _, hook, outcome in result.decision.runs():
                for remark in (each for each in outcome.remarks if each.startswith(PRINTED)):
                    self._print(f"      {hook.id} {visible(remark)}")

    def _print(self, text: str) -> None:
        if not self._quiet:
            print(text.replace(self._here, ""), flush=True)


def _row(result: Result) -> dict[str, Any]:
    case = {name: getattr(result.case, name) for name in ("file", "line", "name")}
    return case | {name: getattr(result, name) for name in ("passed", "happened", "differences", "hint", "problems")}
