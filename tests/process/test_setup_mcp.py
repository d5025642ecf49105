"""Our MCP server needs an extra: who sets a client up for it without that is told, then and by the doctor."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process.test_setup_cli import Owner

WARNING = "warning: the MCP server in these files cannot start: the `mcp` extra is not installed"
ADVICE = re.compile(r"run `[^`]* install [^`]*'mcp<3,>=2\.3'`")


class WithoutLibrary(Owner):
    """An owner whose Python has no `mcp`."""

    @property
    def env(self) -> dict[str, str]:
        return {**super().env, "PYTHONPATH": str(self.user_home / "without")}


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[WithoutLibrary]:
    owner = WithoutLibrary(tmp_path)
    folder = owner.user_home / "without"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("import sys\nsys.modules['mcp'] = None\n", encoding="utf-8")
    yield owner
    owner.stop_daemon()


def said_by_doctor(owner: Owner) -> list[str]:
    lines = owner.snell("doctor", "--all")[1].splitlines()
    told = [at for at, line in enumerate(lines) if "MCP server" in line]
    return [" ".join(each.split()) for at in told for each in lines[at : at + 2]]


def test_a_server_that_cannot_start_is_written_with_a_warning_and_the_doctor_repeats_it(owner: WithoutLibrary) -> None:
    assert "MCP" not in owner.snell("setup", "claude-code", "--yes")[1]
    assert said_by_doctor(owner) == []
    for words in (["--print"], ["--yes"]):
        code, out, _ = owner.snell("setup", "claude-code", "--include-mcp", *words)
        told = next(line for line in out.splitlines() if line.startswith(WARNING))
        assert (code, bool(ADVICE.fullmatch(told.removeprefix(f"{WARNING}; ")))) == (0, True)
    doctor = "warn client: claude-code: is configured to start Snell's MCP server, which cannot start:"
    what, advice = said_by_doctor(owner)
    assert what == f"{doctor} the `mcp` extra is not installed"
    assert ADVICE.fullmatch(advice)
    assert WARNING not in owner.snell("setup", "claude-code", "--uninstall", "--yes")[1]
    assert said_by_doctor(owner) == []


def test_with_the_library_there_is_no_warning(tmp_path: Path) -> None:
    owner = Owner(tmp_path)
    assert WARNING not in owner.snell("setup", "claude-code", "--include-mcp", "--yes")[1]
    assert said_by_doctor(owner) == []
    owner.stop_daemon()
