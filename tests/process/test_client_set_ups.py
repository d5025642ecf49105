"""The set-up of each client as `snell setup` and `snell clients` show and write it."""

import json
import os
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.fork_server import run_snell
from tests.process.machine import HOOK

pytestmark = pytest.mark.skipif(not HOOK.exists(), reason="snell-hook is not beside this Python")
ALIASES = {
    "claude": "claude-code",
    "claudecode": "claude-code",
    " Claude Code ": "claude-code",
    "CURSOR": "cursor",
    "copilot": "copilot",
    "vscode": "vscode-copilot",
    "vs-code": "vscode-copilot",
    "VS Code": "vscode-copilot",
    "gemini": "gemini",
    "antigravity": "antigravity",
}


class Home:
    """A user's home directory, in which no client has been."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "home"
        self.project = folder / "project"
        for each in (self.path, self.project):
            each.mkdir()

    def snell(self, *words: str, **env: str) -> tuple[int, str, str]:
        usual = {"PATH": "/usr/bin:/bin", "HOME": str(self.path), "SNELL_HOME": str(self.path / "snell")}
        return run_snell(*words, cwd=self.project, env={**usual, **env})

    def set_up(self, client: str, *words: str) -> Any:
        """Return the set-up of a client as JSON; nothing is written."""
        code, out, err = self.snell("setup", client, "--print", "--json", *words)
        assert (code, err) == (0, "")
        return json.loads(out)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.mark.proves("S4-01", "S4-02", "S4-03", "S4-13", "S4-15", "S4-24")
def test_the_tier_of_every_client_follows_from_its_capabilities(home: Home):
    rows = {row["client"]: row for row in json.loads(home.snell("clients", "--json")[1])}
    assert {"claude-code", "cursor", "windsurf", "antigravity", "vscode-copilot"} <= rows.keys()
    assert (rows["claude-code"]["tier"], rows["cursor"]["tier"], rows["zed"]["tier"]) == (1, 2, 3)
    for name, row in rows.items():
        if name == "generic":
            continue  # a caller of its own, which has no files
        scope = ("--scope", "project") if name in ("jetbrains-ai", "roo", "warp") else ()
        whole = home.set_up(name, *scope)
        able = whole["capabilities"]
        assert (name, able["tier"]) == (name, row["tier"])
        assert (name, row["tier"]) == (name, 3 if not able["hooks"] else 1 if able["native"] else 2)
        assert (name, bool(whole["hooks"])) == (name, able["hooks"])
        assert {"hooks", "mcp", "rules", "hook_format"} <= able.keys()
        assert (able["hook_format"] == "none") is not able["hooks"]
        assert "recall what is known" in whole["instructions"]
    assert not (home.path / ".claude").exists()


@pytest.mark.proves("S4-05")
def test_every_tier_gets_memory_tools_and_tier_three_a_rules_file_instead_of_hooks(home: Home):
    def files(client: str, *words: str) -> str:
        code, out, _ = home.snell("setup", client, "--scope", "project", "--print", *words)
        assert code == 0
        return out

    for client, hooks, mcp in (
        ("claude-code", ".claude/settings.json", ".mcp.json"),
        ("cursor", ".cursor/hooks.json", ".cursor/mcp.json"),
    ):
        shown = files(client, "--include-mcp")
        assert (client, hooks in shown, mcp in shown) == (client, True, True)
        assert "AGENTS.md" not in shown
    # Those whose hooks capture: after a tool call, and where a turn or a context ends.
    for client, events in {
        "claude-code": ("PostToolUse", "PreCompact", "Stop"),
        "cursor": ("postToolUse", "preCompact", "stop"),
        "windsurf": ("post_write_code", "post_run_command", "post_cascade_response"),
        "vscode-copilot": ("PostToolUse", "PreCompact", "Stop"),
        "codex": ("PostToolUse", "PreCompact", "Stop"),
        "gemini": ("AfterTool", "AfterAgent"),
    }.items():
        assert (client, set(events) - set(home.set_up(client)["hooks"]["hooks"])) == (client, set())
    shown = files("zed")
    assert (".zed/settings.json" in shown, "AGENTS.md" in shown, "snell-hook --client" in shown) == (True, True, False)
    assert "recall" in shown  # its rules tell the model about the memory tools


@pytest.mark.proves("S4-12", "S4-16", "S4-17", "S4-18", "S4-27", "S4-28", "S4-124")
def test_one_call_describes_a_whole_set_up_with_or_without_its_parts(home: Home):
    whole = home.set_up("claude-code", "--include-mcp")
    assert list(whole) == ["client", "paths", "capabilities", "hooks", "mcp_config", "instructions"]
    assert whole["capabilities"]["hook_format"] == "claude-code"
    assert whole["paths"]["hooks, status line"] == str(home.path / ".claude/settings.json")
    server = whole["mcp_config"]["mcpServers"]["snell"]
    assert (Path(server["command"]).name, server["args"]) == ("snell-hook", ["--bridge", "mcp"])
    hooks = whole["hooks"]["hooks"]
    entry = hooks["PreToolUse"][0]["hooks"][0]
    assert (Path(entry["command"]).name, entry["args"]) == ("snell-hook", ["--client", "claude-code"])
    limits = {event: hooks[event][0]["hooks"][0]["timeout"] for event in ("SessionStart", "PreCompact", "SessionEnd")}
    assert limits == {"SessionStart": 600, "PreCompact": 600, "SessionEnd": 10}
    assert "rules" not in " ".join(whole["paths"])
    less = home.set_up("claude", "--no-session-start", "--no-include-mcp")
    assert set(hooks) - set(less["hooks"]["hooks"]) == {"SessionStart"}
    assert less["mcp_config"] is None


@pytest.mark.proves("S4-19", "S4-20", "S4-21", "S4-22")
def test_each_client_gets_its_own_form(home: Home):
    cursor = home.set_up("cursor", "--include-mcp")
    assert cursor["hooks"]["version"] == 1
    assert all(event[0].islower() for event in cursor["hooks"]["hooks"])
    assert cursor["hooks"]["hooks"]["stop"][0]["loop_limit"] == 5
    assert "snell" in cursor["mcp_config"]["mcpServers"]
    for client in ("windsurf", "antigravity"):
        whole = home.set_up(client, "--include-mcp", "--include-rules")
        assert (client, bool(whole["hooks"]), bool(whole["mcp_config"])) == (client, True, True)
        assert len(whole["paths"]) >= 2
    code, out, _ = home.snell("setup", "vscode-copilot", "--scope", "project", "--print", "--include-mcp")
    assert (code, ".vscode/mcp.json" in out, '"servers"' in out, '"stdio"' in out) == (0, True, True, True)


@pytest.mark.proves("S4-25", "S4-26", "S4-27")
def test_clients_are_known_by_their_aliases_and_an_unknown_name_lists_them(home: Home):
    assert {given: home.set_up(given)["client"] for given in ALIASES} == ALIASES
    code, _, err = home.snell("setup", "emacs", "--print", "--json")
    named = ("unknown client `emacs`", "claude-code", "cursor", "windsurf", "antigravity", "vscode-copilot")
    assert (code, [text for text in named if text not in err]) == (1, [])
    assert "did you mean `cursor`?" in home.snell("setup", "cursr", "--print")[2]


@pytest.mark.proves("S4-23")
def test_a_command_in_a_configuration_works_when_the_path_to_the_shim_has_spaces(home: Home, tmp_path: Path):
    folder = tmp_path / "my tools"
    folder.mkdir()
    for name in ("snell-hook", "snell"):
        program = folder / name
        program.write_text('#!/bin/sh\nprintf "%s," "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    words = ("setup", "codex", "--print", "--json")
    code, out, _ = home.snell(*words, PATH=f"{folder}:/usr/bin:/bin")
    assert code == 0
    command = json.loads(out)["hooks"]["hooks"]["Stop"][0]["hooks"][0]["command"]
    if str(folder) not in command:  # the shim beside this Python comes first
        command = command.replace(str(HOOK), f"'{folder}/snell-hook'")
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True, timeout=60, env=os.environ)
    assert done.stdout == "--client,codex,--event,Stop,"


@pytest.mark.proves("S4-107", "S4-108", "S4-115")
def test_a_plugin_folder_has_a_manifest_and_every_event_here(home: Home, tmp_path: Path):
    folder = tmp_path / "plugin"
    words = ("setup", "claude-code", "--plugin", str(folder), "--no-memory")
    code, _, err = home.snell(*words)
    assert (code, err) == (0, "")
    manifest = json.loads((folder / ".claude-plugin/plugin.json").read_bytes())
    assert (manifest["name"], manifest["version"], bool(manifest["author"])) == ("snell", version("snell"), True)
    hooks = json.loads((folder / "hooks/hooks.json").read_bytes())["hooks"]
    assert {"SessionStart", "PostToolUse", "PreCompact", "Stop"} <= hooks.keys()  # on Windows without the first
    assert not list(folder.rglob("*.py"))
