"""
What every test gets: an empty home, a short temporary folder, signals as in a terminal, and a place for figures.

A test that measures something leaves one line of JSON; they stand together at the end of the run. A test that leaves
something in the home fails: what it starts needs a home of its own.
"""

import json
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from tests.run_order import order_for

with suppress(ModuleNotFoundError):  # the environment with the agent libraries has none
    from hypothesis import settings

    # A busy machine is no reason for a test to fail. The long run draws new cases each time, the ordinary one does not,
    # so that it fails only for what was changed.
    settings.register_profile("snell", deadline=None, derandomize=not os.environ.get("SNELL_NIGHTLY"))
    settings.load_profile("snell")

FIGURE = "figure"
LONGEST_TMPDIR = 20  # bytes; a daemon's socket in a test's own folder needs the rest of the 103 that an address has


PROCESS_FOLDERS = ("process", "faults")  # all their tests start real processes


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the mark `process` by folder, before `-m` selects."""
    folders = tuple(f"tests/{name}/" for name in PROCESS_FOLDERS)
    for item in items:
        if item.nodeid.startswith(folders):
            item.add_marker(pytest.mark.process)


class LastOrder:
    """The order of the run, when all others have selected and shuffled."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        if given := getattr(config, "workerinput", None):  # only a worker of several has it
            items[:] = order_for(given["workercount"], items)


def pytest_configure(config: pytest.Config) -> None:
    """Make a run with a long TMPDIR, or in the background of a shell, like any other; workers inherit it."""
    config.pluginmanager.register(LastOrder())
    if len(os.fsencode(tempfile.gettempdir())) > LONGEST_TMPDIR:
        os.environ["TMPDIR"] = tempfile.tempdir = "/tmp"
    _move_home()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell does with `command &`; children would inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _move_home() -> None:
    """Give this process, and all that it starts, an empty home; caches of packages and browsers stay where they are."""
    own = os.path.expanduser("~")
    os.environ.setdefault("XDG_CACHE_HOME", os.path.join(own, ".cache"))
    os.environ.setdefault("NPM_CONFIG_CACHE", os.path.join(own, ".npm"))
    os.environ.setdefault("NPM_CONFIG_USERCONFIG", os.path.join(own, ".npmrc"))
    os.environ.setdefault("GIT_CONFIG_GLOBAL", os.devnull)
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        os.environ.pop(name, None)
    os.environ["HOME"] = tempfile.mkdtemp(prefix="no-")


def pytest_unconfigure() -> None:
    if os.path.basename(os.environ["HOME"]).startswith("no-"):
        shutil.rmtree(os.environ["HOME"], ignore_errors=True)


@pytest.fixture(autouse=True)
def _nothing_is_left_in_the_home() -> Iterator[None]:
    home = os.environ["HOME"]
    yield
    if found := os.listdir(home):
        shutil.rmtree(home)
        os.mkdir(home, 0o700)
        pytest.fail(f"the test, or what it started, wrote to the home: {', '.join(sorted(found))}")


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """Called with names and values. It travels with the test's report, so it arrives from other processes, too."""

    def show(**found: Any) -> None:
        record_property(FIGURE, json.dumps(found))

    return show


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [each for group in terminalreporter.stats.values() for each in group]
    calls = [each for each in reports if getattr(each, "when", "") == "call"]
    lines = [str(value) for each in calls for name, value in each.user_properties if name == FIGURE]
    if lines:
        terminalreporter.write_sep("=", "figures")
        terminalreporter.write("".join(f"{line}\n" for line in sorted(lines)))
