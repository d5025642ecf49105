"""
Run the test suite: name tests that pass only the second time, and processes that outlive it.

Tests that run side by side can disturb each other, so failures are run again alone. A second result never replaces the
first one silently: such tests are named and counted, and with CI set they fail the run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence

from scripts.environment import ROOT, say
from scripts.leftovers import end_leftovers

SOME_FAILED, NO_TESTS_FOUND = 1, 5  # pytest's exit codes
SIDE_BY_SIDE = ["-n", "auto", "--dist", "worksteal", "-q", "--cache-clear"]  # one worker for each core
FAILED_TESTS = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"

Pytest = Callable[[Sequence[str]], int]


def run_suite(pytest: Pytest, phases: Sequence[str]) -> int:
    """Run each phase, a marker expression, with one worker per core; stop after a phase that failed."""
    codes = []
    passed_later: list[str] = []
    for phase in phases:
        codes.append(pytest(["-m", phase, *SIDE_BY_SIDE]))
        if codes[-1] == SOME_FAILED:
            codes[-1], later = run_failed_again(pytest, phase)
            passed_later += later
        if codes[-1] not in {0, NO_TESTS_FOUND}:
            break
    reports = (report_passed_later(passed_later), end_leftovers())  # also where tests failed
    failed = next((code for code in codes if code not in {0, NO_TESTS_FOUND}), 0)
    return failed or max(reports) or min(codes)  # one phase may be empty, not all


def run_failed_again(pytest: Pytest, phase: str) -> tuple[int, list[str]]:
    """Run what failed once more, alone; return pytest's exit code and which tests passed this time."""
    failed = failed_tests()
    say(f"{len(failed)} failed: running them again, one after the other")
    code = pytest(["-m", phase, "--last-failed", "-q"])
    return code, sorted(failed - failed_tests())


def failed_tests() -> set[str]:
    """The ids that pytest has noted as failed."""
    try:
        return set(json.loads(FAILED_TESTS.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return set()


def report_passed_later(tests: Sequence[str]) -> int:
    """Name tests that passed only when run again; an exit code that fails the run where CI is set."""
    if not tests:
        return 0
    say(f"{len(tests)} passed only when run again alone:")
    for test in tests:
        say(f"  {test}")
    if not os.environ.get("CI"):
        return 0
    say("CI is set, so this fails the run: make the test independent of what runs beside it")
    return SOME_FAILED
