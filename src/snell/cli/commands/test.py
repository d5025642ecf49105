"""Run case files and say which cases did not go as expected."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from snell.cli.colours import Colours, visible
from snell.engine.explain import explain
from snell.engine.record import record_of
from snell.model.errors import SnellError
from snell.settings.locate import FOLDER, locate
from snell.system.paths import places
from snell.system.run_program import adopt_orphans
from snell.testing.case_files import case_files, own_case_files
from snell.testing.cases import Case
from snell.testing.run_cases import Result, run_file

EXAMPLE = "snell test .snell/hooks/no_force_push.py"

_NAME_IT = "name what to run, as in `snell test FOLDER`"
ADVICE = "write NAME.cases.toml beside a hook, or begin with `snell new hook NAME`"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="case files, hooks, settings files or folders (default: this project's .snell)",
    )
    parser.add_argument("-k", dest="text", default="", metavar="TEXT", help="only cases with this in name or file")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every case, and why the failed ones failed")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def run(args: argparse.Namespace) -> int:
    files = _files([Path(path) for path in args.paths]) if args.paths else _own_files()
    report = _Report(quiet=args.json, verbose=args.verbose)
    adopt_orphans()
    for file in files:
        report.add(file, _wanting(args.text, file))
    if not report.results and not report.errors:
        why = f"no case has `{args.text}` in its name" if args.text else "no cases were found"
        raise SnellError(why, advice="leave out `-k` to run all" if args.text else ADVICE)
    report.finish()
    return 0 if report.failed == 0 else 1


def _own_files() -> list[Path]:
    """The case files of the project that this folder is in. Raises SnellError where there is none to run."""
    here = Path.cwd()
    project = locate(places(os.environ), here, os.environ).project
    if project is None:
        what = f"this folder is in no project (there is no `{FOLDER}` in it or above it), so no case was run"
        raise SnellError(what, advice=f"{_NAME_IT}, or begin with `snell new hook NAME`")
    shown = Path(os.path.relpath(project.root, here))
    _refuse_other_owner(project.root / FOLDER, shown / FOLDER)
    own, left_out = own_case_files(project.root, shown)
    for each in left_out:
        print(f"snell: not run: {visible(f'`{each.file}` {each.why}')}; name it to run it", file=sys.stderr)
    if not own:
        raise SnellError(f"no cases were found in `{shown / FOLDER}`", advice=ADVICE)
    return own


def _refuse_other_owner(folder: Path, shown: Path) -> None:
    """Raise SnellError when another user made the folder: in /tmp it would be found from everywhere below."""
    owner, user = folder.stat().st_uid, os.geteuid()
    sudo = os.environ.get("SUDO_UID", "")
    if owner not in {user, 0} and not (user == 0 and sudo == str(owner)):
        raise SnellError(
            f"`{shown}` belongs to another user, so no case was run",
            advice=f"read it, then name it: `snell test {shown}`",
        )


def _files(paths: Sequence[Path]) -> list[Path]:
    found = {file.absolute(): file for path in paths for file in case_files(path)}
    if not found:
        raise SnellError(f"no cases were found in {' or '.join(f'`{path}`' for path in paths)}", advice=ADVICE)
    return list(found.values())


def _wanting(text: str, file: Path) -> Callable[[Case], bool]:
    in_file = text.lower() in file.name.lower()
    return lambda case: in_file or text.lower() in case.name.lower()


class _Report:
    """Says what happened as it happens, and adds it up."""

    def __init__(self, *, quiet: bool, verbose: bool) -> None:
        self.results: list[Result] = []
        self.errors: list[str] = []
        self._quiet = quiet
        self._verbose = verbose
        self._here = f"{os.getcwd()}/"  # paths below it are shown without it
        self._paint = Colours.for_stdout()
        self._told: set[str] = set()  # problems that were shown; they are the same for every case of a file

    @property
    def failed(self) -> int:
        return len(self.errors) + sum(not result.passed for result in self.results)

    def add(self, file: Path, wanted: Callable[[Case], bool]) -> None:
        """Run a case file. One that cannot be run counts as failed, and does not keep the others from running."""
        try:
            results = run_file(file, wanted)
        except SnellError as error:
            self.errors.append(str(error))
            self._say(f"{self._paint.red('FAIL')}  {error}")
            return
        self.results += results
        for result in results:
            self._show(result)

    def finish(self) -> None:
        passed = sum(result.passed for result in self.results)
        if self._quiet:
            print(msgspec.json.encode(self._as_data(passed)).decode())
            return
        total = f"{passed} passed, {self.failed} failed"
        print(self._paint.red(total) if self.failed else self._paint.green(total))

    def _show(self, result: Result) -> None:
        case = result.case
        if not result.passed:
            self._say(f"{self._paint.red('FAIL')}  {case.file}:{case.line}  {case.name}: {_told(result)}")
            for problem in result.problems:
                self._say_once(f"      {problem}")
            if self._verbose:
                self._say(_indented(explain(record_of(result.decision, result.not_run))))
        elif self._verbose:
            self._say(f"{self._paint.green('ok')}    {case.file}:{case.line}  {case.name}: {result.happened}")

    def _as_data(self, passed: int) -> dict[str, Any]:
        return {
            "passed": passed,
            "failed": self.failed,
            "errors": self.errors,
            "cases": [_row(result) for result in self.results],
        }

    def _say(self, text: str) -> None:
        if not self._quiet:
            print(text.replace(self._here, ""), flush=True)

    def _say_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._say(text)


def _told(result: Result) -> str:
    told = "; ".join(result.differences)
    return f"{told} ({result.hint})" if result.hint else told


def _indented(text: str) -> str:
    return "\n".join(f"      {line}" for line in text.splitlines())


def _row(result: Result) -> dict[str, Any]:
    return {
        "file": result.case.file,
        "line": result.case.line,
        "name": result.case.name,
        "passed": result.passed,
        "happened": result.happened,
        "differences": list(result.differences),
        "hint": result.hint,
        "problems": list(result.problems),
    }
