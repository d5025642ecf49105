"""A home with one daemon for all tests of a file; each test has a project of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process.machine import Machine
from tests.process.mcp_agent import McpAgent


@pytest.fixture(scope="module")
def mcp_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    machine = Machine(tmp_path_factory.mktemp("m"), forks_daemon=True)
    yield machine
    machine.stop()


@pytest.fixture
def agent(mcp_machine: Machine, tmp_path: Path) -> McpAgent:
    project = tmp_path / "project"
    project.mkdir()
    return McpAgent(mcp_machine, project)
