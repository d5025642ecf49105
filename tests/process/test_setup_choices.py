"""`[setup.CLIENT]` in a user's settings: how set-up writes one client, and what further names stand for."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.process.test_setup_cli import Owner

LIMITS = {"SessionStart": 5, "PostToolUse": 10, "PreCompact": 15, "Stop": 15}


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    return Owner(tmp_path)


def choose(owner: Owner, text: str) -> None:
    folder = owner.home / "config"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "snell.toml").write_text(text, encoding="utf-8")


def shown(owner: Owner, client: str) -> dict[str, Any]:
    code, out, err = owner.snell("setup", client, "--json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


@pytest.mark.proves("S4-01", "S4-04", "S4-20", "S4-21")
@pytest.mark.parametrize("client", ["windsurf", "antigravity", "vscode-copilot"])
def test_as_the_document_has_it_a_client_gets_mcp_and_rules_and_no_hooks(owner: Owner, client: str) -> None:
    assert shown(owner, client)["capabilities"]["tier"] < 3
    assert shown(owner, client)["hooks"]
    choose(owner, 'profile = "seeds"\n')
    found = shown(owner, client)
    capabilities = found["capabilities"]
    assert (found["hooks"], capabilities["hook_format"], capabilities["tier"]) == (None, "none", 3)
    assert found["mcp_config"]
    assert "Snell" in found["instructions"]
    rows = {row["client"]: row for row in json.loads(owner.snell("clients", "--json")[1])}
    assert (rows[client]["tier"], rows[client]["block"]) == (3, False)


def test_without_hooks_set_up_writes_the_server_and_the_rules_and_uninstalling_takes_out_older_hooks_too(owner: Owner):
    folder = owner.user_home / ".codeium/windsurf"
    folder.mkdir(parents=True)
    hooks, servers = folder / "hooks.json", folder / "mcp_config.json"
    assert owner.snell("setup", "windsurf", "--yes")[0] == 0
    assert (hooks.exists(), servers.exists()) == (True, False)
    choose(owner, "[setup.windsurf]\nhooks = false\n")
    assert owner.snell("setup", "windsurf", "--uninstall", "--yes")[0] == 0
    assert not hooks.exists()
    assert owner.snell("setup", "windsurf", "--yes")[0] == 0
    assert (hooks.exists(), "snell" in json.loads(servers.read_bytes())["mcpServers"]) == (False, True)
    assert owner.snell("setup", "windsurf", "--check")[0] == 0


@pytest.mark.proves("S4-19")
def test_as_the_document_has_it_cursor_sends_an_agent_back_once(owner: Owner) -> None:
    assert shown(owner, "cursor")["hooks"]["hooks"]["stop"][0]["loop_limit"] == 5
    choose(owner, 'profile = "seeds"\n')
    found = shown(owner, "cursor")
    stop = found["hooks"]["hooks"]["stop"][0]
    assert (found["capabilities"]["hook_format"], found["hooks"]["version"]) == ("cursor-native", 1)
    assert (stop["loop_limit"], stop["timeout"]) == (1, 15)
    choose(owner, 'profile = "seeds"\n[setup.cursor]\nloop_limit = 4\n')
    stop = shown(owner, "cursor")["hooks"]["hooks"]["stop"][0]
    assert (stop["loop_limit"], stop["timeout"]) == (4, 15)


@pytest.mark.proves("S4-18")
def test_as_the_document_has_it_claude_code_waits_so_long_for_each_event(owner: Owner) -> None:
    choose(owner, 'profile = "seeds"\n')
    found = shown(owner, "claude-code")
    waits = {event: entries[0]["hooks"][0]["timeout"] for event, entries in found["hooks"]["hooks"].items()}
    assert {event: waits[event] for event in LIMITS} == LIMITS
    assert waits["PreToolUse"] == 600
    assert found["capabilities"]["hook_format"] == "claude-code"


@pytest.mark.proves("S4-25")
@pytest.mark.parametrize(
    ("name", "usual", "in_the_document"),
    [
        (" Gemini ", "gemini", "antigravity"),
        ("copilot", "copilot", "vscode-copilot"),
        ("VS-Code", "vscode-copilot", "vscode-copilot"),
        ("claudecode", "claude-code", "claude-code"),
        ("gemini-cli", "gemini", "gemini"),
    ],
)
def test_a_name_means_what_the_document_says_only_with_its_profile(
    owner: Owner, name: str, usual: str, in_the_document: str
) -> None:
    assert shown(owner, name)["client"] == usual
    choose(owner, 'profile = "seeds"\n')
    assert shown(owner, name)["client"] == in_the_document


def test_a_client_that_does_not_exist_is_named_with_the_nearest_one(owner: Owner) -> None:
    choose(owner, "[setup.windsruf]\nhooks = false\n")
    code, _, err = owner.snell("setup", "claude-code", "--json")
    assert (code, "`windsruf`" in err, "windsurf" in err) == (1, True, True)
    choose(owner, '[setup.editor]\nmeans = "cursr"\n')
    assert "`cursr`" in owner.snell("setup", "editor", "--json")[2]
