import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fork_server import run_snell
from tests.process.sandbox import Sandbox


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    """A place for hostile programs; a test that leaves one running fails."""
    sandbox = Sandbox(tmp_path)
    yield sandbox
    left = sandbox.survivors()
    sandbox.end_survivors()
    assert left == set()


@pytest.fixture
def snell(tmp_path):
    """Run `snell` in a project of its own; returns exit code, stdout and stderr. A daemon that it started is ended."""
    project = tmp_path / "project"
    project.mkdir()

    def run(*words, given=b"", **env):
        return run_snell(
            *words,
            cwd=run.project,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SNELL_HOME": str(tmp_path / "home"), **env},
            given=given if isinstance(given, bytes) else json.dumps(given).encode(),
        )

    def settings(text):
        folder = tmp_path / "home/config"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "snell.toml").write_text(text, encoding="utf-8")

    run.settings, run.project = settings, project
    yield run
    if (tmp_path / "home/run/snell.sock").exists():
        run.project = tmp_path
        run("daemon", "stop")
