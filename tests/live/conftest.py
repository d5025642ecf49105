"""Which clients are asked for, and the table at the end of the run."""

import os
import tempfile
from pathlib import Path

import pytest

from tests.live.client_user import ClientUser
from tests.live.conversation import COLUMNS, ROW
from tests.live.drivers import DRIVERS, Driver
from tests.live.installed import NotHere, install_package
from tests.live.model import LiveModel
from tests.live.wires import Said

CLAUDE = DRIVERS[0]


def pytest_configure() -> None:
    asked, known = os.environ.get("SNELL_LIVE_CLIENTS", "").split(), [driver.client for driver in DRIVERS]
    if unknown := [name for name in asked if name not in known]:
        raise pytest.UsageError(f"no client `{unknown[0]}` can be driven; known are {', '.join(known)}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.live)
            item.add_marker(pytest.mark.timeout(600))  # the first run installs


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "driver" in metafunc.fixturenames:
        asked = os.environ.get("SNELL_LIVE_CLIENTS", "").split()
        drivers = [driver for driver in DRIVERS if not asked or driver.client in asked]
        metafunc.parametrize("driver", drivers, ids=[driver.client for driver in drivers])


@pytest.fixture
def user():
    """In a folder with a short name: pytest's own, with several processes, is too long for the daemon's socket."""
    with tempfile.TemporaryDirectory(prefix="snell-", ignore_cleanup_errors=True) as folder:
        made = ClientUser(Path(folder))
        yield made
        made.close()


@pytest.fixture
def asked_for():
    """The client of this name, or a skip when others were asked for."""

    def client(name: str) -> str:
        asked = os.environ.get("SNELL_LIVE_CLIENTS", "").split()
        if asked and name not in asked:
            pytest.skip(f"{name} was not asked for")
        return name

    return client


@pytest.fixture
def model():
    made = LiveModel()
    yield made
    made.close()


@pytest.fixture(scope="session")
def client_folder():
    """Where a client is installed, or a skip with the reason; npm is asked once."""
    missing: dict[str, NotHere] = {}

    def folder_of(driver: Driver) -> Path:
        try:
            if driver.client not in missing:
                return install_package(driver.package)
        except NotHere as reason:
            missing[driver.client] = reason
        pytest.skip(f"{driver.client}: {missing[driver.client]}")

    return folder_of


@pytest.fixture
def claude(asked_for, user, model, client_folder):
    """Claude Code with Snell set up: called with the commands that its model wants to run."""
    asked_for(CLAUDE.client)
    folder = client_folder(CLAUDE)
    env = CLAUDE.prepare(user, model.url)

    def work(*commands: str, last: tuple[Said, ...] = (), more: tuple[str, ...] = ()) -> str:
        """What the model was given meanwhile."""
        model.begin([*(Said("Working.", (CLAUDE.shell(command),)) for command in commands), *last])
        ran = user.run([*CLAUDE.command(folder, user, "Please work."), *more], env)
        assert ran.code == 0, ran
        return model.shown

    user.snell("setup", "claude-code", "--yes")
    return work


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [each for group in terminalreporter.stats.values() for each in group]
    calls = [each for each in reports if getattr(each, "when", "") == "call"]
    found = [value for each in calls for name, value in each.user_properties if name == ROW]
    if not found:
        return
    terminalreporter.write_sep("=", "real clients")
    rows = [("client", "version", *COLUMNS), *sorted(map(tuple, found))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        terminalreporter.write(f"{line.rstrip()}\n")
    for client in [row[0] for row in rows]:
        driver = next((each for each in DRIVERS if each.client == client), None)
        for column, why in driver.cannot.items() if driver else ():
            terminalreporter.write(f"{client}, {column}: {why}\n")
