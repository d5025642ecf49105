"""
Run the test suite; report tests that pass only the second time, and processes that outlive the run.

Tests that compare times (marker `alone`) run after all others, one after the other. Tests that run at the same time can
disturb each other, so those that failed are run again alone. A second result never replaces the first one silently:
such tests are listed, and if CI is set, more than a few of them fail the run. One or two among thousands say that the
machine was busy; many say that a change made the tests depend on each other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence

from scripts.environment import ROOT, say
from scripts.leftovers import end_leftovers

SOME_FAILED = 1  # pytest's exit code
WORKERS_PER_CORE = 2  # many tests wait for a process or a server and leave the core to the next one
UNSTEADY_TESTS_ALLOWED = 3  # in a run with CI set
FAILED_TESTS = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"

Pytest = Callable[[Sequence[str]], int]


def run_suite(pytest: Pytest, selection: str) -> int:
    """Run the tests that a marker expression selects: most in several processes, and those that failed once more."""
    os.environ.setdefault("PYTEST_XDIST_AUTO_NUM_WORKERS", str(WORKERS_PER_CORE * (os.cpu_count() or 1)))
    together = f"{selection} and not alone"
    code = pytest(["-m", together, "-n", "auto", "--dist", "worksteal", "-q", "--cache-clear"])
    passed_later: list[str] = []
    if code == SOME_FAILED:
        code, passed_later = run_failed_again(pytest, together)
    alone = pytest(["-m", f"{selection} and alone", "-q", *files]) if (files := files_with_tests_alone()) else 0
    reports = (report_passed_later(passed_later), end_leftovers())  # also where tests failed
    return code or alone or max(reports)


def files_with_tests_alone() -> list[str]:
    """Return the files that hold such tests; to collect all others again would take longer than to run these."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(path) for path in paths if "@pytest.mark.alone" in path.read_text(encoding="utf-8")]


def run_failed_again(pytest: Pytest, selection: str) -> tuple[int, list[str]]:
    """Run failed tests once more, one after the other; return pytest's exit code and the tests that passed now."""
    failed = failed_tests()
    if not failed:  # pytest failed in another way; it would now run all tests
        return SOME_FAILED, []
    say(f"{len(failed)} failed: running them again, one after the other")
    files = sorted({test.partition("::")[0] for test in failed})  # to collect all others again would take longer
    code = pytest(["-m", selection, "--last-failed", "-q", *files])
    return code, sorted(failed - failed_tests())


def failed_tests() -> set[str]:
    """Return the ids of the tests that pytest recorded as failed."""
    try:
        return set(json.loads(FAILED_TESTS.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return set()


def report_passed_later(tests: Sequence[str]) -> int:
    """Print the tests that passed only when run again; return a failure if CI is set and they are many."""
    if not tests:
        return 0
    say(f"{len(tests)} passed only when run again alone:")
    for test in tests:
        say(f"  {test}")
    if not os.environ.get("CI"):
        return 0
    if len(tests) <= UNSTEADY_TESTS_ALLOWED:
        say(f"CI is set; up to {UNSTEADY_TESTS_ALLOWED} such tests do not fail the run, but they need a repair")
        return 0
    say(f"CI is set, and more than {UNSTEADY_TESTS_ALLOWED} such tests fail the run: make them steady")
    return SOME_FAILED
