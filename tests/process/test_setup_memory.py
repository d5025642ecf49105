"""Memory is asked for at set-up: what is kept, where, for whom; and the answer is a line of a settings file."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process.test_setup_cli import Owner
from tests.unit.runtime.runtime_helpers import snapshot

OFF = "[pack.remember]\nenabled = false\n"
ON = "[pack.remember]\nenabled = true\n"


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    owner = Owner(tmp_path)
    yield owner
    owner.stop_daemon()


def user_settings(owner: Owner) -> Path:
    return owner.home / "config" / "snell.toml"


def stats(owner: Owner) -> str:
    return owner.snell("memory", "stats")[1]


@pytest.mark.parametrize(("typed", "written"), [("y\ny\nn\n", ON), ("y\nn\n", OFF), ("y\n\n", OFF)])
def test_a_person_is_told_and_asked_and_only_a_yes_is_one(owner: Owner, typed: str, written: str) -> None:
    assert "capturing is off in this folder" in stats(owner)
    shown = owner.on_terminal("setup", "claude-code", typed=typed)
    assert "secrets are removed" in shown
    assert str(owner.home / "state" / "memory") in shown
    assert "in every project" in shown
    assert user_settings(owner).read_text() == written
    assert ("capturing is on in this folder" in stats(owner)) == (written == ON)
    assert ("memory: on:" if written == ON else "memory: off:") in " ".join(owner.snell("doctor", "--all")[1].split())
    again = owner.on_terminal("setup", "claude-code")  # who has answered is not asked again
    assert "Enable memory?" not in again
    assert "everything is installed and up to date" in again


def test_without_a_terminal_nothing_is_asked_and_memory_stays_off(owner: Owner) -> None:
    code, out, _ = owner.snell("setup", "claude-code", "--yes")
    assert (code, user_settings(owner).exists()) == (0, False)
    assert "memory: off. To store" in out
    assert "capturing is off in this folder" in stats(owner)


def test_a_flag_is_an_answer_and_the_rest_of_the_file_stays(owner: Owner) -> None:
    path = user_settings(owner)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("# mine\n[pack.remember]\nbudget = 900  # small\n\n[pack.notes]\nenabled = true\n")
    code, out, _ = owner.snell("setup", "claude-code", "--yes", "--memory")
    assert (code, f"memory: on, set in `{path}`" in out) == (0, True)
    kept = "# mine\n[pack.remember]\nenabled = {}\nbudget = 900  # small\n\n[pack.notes]\nenabled = true\n"
    assert path.read_text() == kept.format("true")
    assert owner.snell("setup", "claude-code", "--yes", "--no-memory")[0] == 0
    assert path.read_text() == kept.format("false")


def test_a_project_has_its_own_answer(owner: Owner) -> None:
    (owner.project / ".git").mkdir(exist_ok=True)
    code, out, _ = owner.snell("setup", "claude-code", "--scope", "project", "--yes", "--memory")
    assert (code, (owner.project / ".snell" / "snell.toml").read_text()) == (0, ON)
    assert "after you approve it with `snell trust`" in out
    assert not user_settings(owner).exists()


def test_a_file_that_cannot_be_edited_is_left_alone_and_told_of(owner: Owner) -> None:
    path = user_settings(owner)
    path.parent.mkdir(parents=True, exist_ok=True)
    for text in ("[pack.remember\n", "pack = {remember = {budget = 900}}\n"):
        path.write_text(text)
        code, out, err = owner.snell("setup", "claude-code", "--yes", "--memory")
        assert (code, path.read_text()) == (1, text)
        assert "the setting was not changed" in out + err


def test_where_no_client_is_found_a_flag_still_switches_it(owner: Owner) -> None:
    owner.settings.unlink()
    for folder in (".claude", ".codex"):
        (owner.user_home / folder).rmdir()
    path = user_settings(owner)
    assert owner.snell("setup")[0] == 1
    assert owner.snell("setup", "--memory", "--print")[0] == 1
    assert "needs a person" in owner.on_terminal("setup", "--memory", CLAUDECODE="1")
    assert not path.exists()
    for flag, word, text in (("--memory", "on", ON), ("--no-memory", "off", OFF)):
        code, out, _ = owner.snell("setup", flag)
        assert (code, out.splitlines()[1]) == (0, f"memory: {word}, set in `{path}`")
        assert (out.startswith("no client was found on this machine"), path.read_text()) == (True, text)
        assert f"capturing is {word} in this folder" in stats(owner)


def test_an_agent_cannot_switch_it(owner: Owner) -> None:
    owner.snell("setup", "claude-code", "--yes")
    said = owner.on_terminal("setup", "claude-code", "--memory", CLAUDECODE="1")
    assert "needs a person" in said
    assert not user_settings(owner).exists()


def mcp_servers(owner: Owner) -> list[str]:
    path = owner.user_home / ".claude.json"
    return list(json.loads(path.read_bytes())["mcpServers"]) if path.exists() else []


@pytest.mark.parametrize("how", ["a flag", "an answer", "a setting"])
def test_memory_comes_with_the_server_that_the_nudge_names(owner: Owner, how: str) -> None:
    before = snapshot(owner.user_home)
    if how == "an answer":
        shown = owner.on_terminal("setup", "claude-code", typed="y\ny\nn\n")
        assert "Snell's MCP server is added" in shown
    elif how == "a flag":
        assert owner.snell("setup", "claude-code", "--yes", "--memory")[0] == 0
    else:
        assert owner.snell("setup", "claude-code", "--yes")[0] == 0
        assert mcp_servers(owner) == []
        user_settings(owner).parent.mkdir(parents=True, exist_ok=True)
        user_settings(owner).write_text(ON)
        assert "MCP server missing or out of date" in owner.snell("setup", "claude-code", "--check")[1]
        assert owner.snell("setup", "claude-code", "--yes")[0] == 0
    assert mcp_servers(owner) == ["snell"]
    assert owner.snell("setup", "claude-code", "--check")[0] == 0
    assert owner.snell("setup", "claude-code", "--uninstall", "--yes")[0] == 0
    assert snapshot(owner.user_home) == before


def test_a_person_may_have_memory_without_the_server(owner: Owner) -> None:
    assert owner.snell("setup", "claude-code", "--yes", "--memory", "--no-include-mcp")[0] == 0
    assert mcp_servers(owner) == []
