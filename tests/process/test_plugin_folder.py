"""The Claude Code plugin: found Snell or not, its scripts end well."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from snell.model.catalogue import CATALOGUE
from snell.runtime.install import Options
from snell.runtime.install_plugin import plugin_files, write_plugin


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    write_plugin(tmp_path / "plug in", plugin_files(platform="linux"))
    return tmp_path / "plug in"


def call(plugin: Path, script: str, **env: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [plugin / "scripts" / script, "--client", "claude-code"],
        input=b'{"hook_event_name": "Stop"}',
        env={"PATH": "/nowhere", "CLAUDE_PLUGIN_DATA": str(plugin.parent), **env},
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.proves("S4-108", "S4-123")
def test_session_start_is_left_out_on_windows_only() -> None:
    events = {name: set() for name in ("linux", "darwin", "win32")}
    for platform in events:
        events[platform] = set(json.loads(plugin_files(platform=platform)["hooks/hooks.json"])["hooks"])
    everywhere = {name for name in CATALOGUE if not name.startswith("Worktree")}
    assert events == {"linux": everywhere, "darwin": everywhere, "win32": everywhere - {"SessionStart"}}


def test_every_hook_of_the_plugin_calls_a_script_that_it_brings(plugin: Path) -> None:
    hooks = json.loads((plugin / "hooks/hooks.json").read_bytes())["hooks"]
    commands = {handler["command"] for groups in hooks.values() for group in groups for handler in group["hooks"]}
    assert commands == {"${CLAUDE_PLUGIN_ROOT}/scripts/snell-hook.sh"}
    assert os.access(plugin / "scripts/snell-hook.sh", os.X_OK)


def test_the_plugin_has_what_its_makers_hooks_need_and_no_more() -> None:
    files = plugin_files(Options(rewakes=("PostToolUse",), worktrees=True, session_start=False), platform="linux")
    hooks = json.loads(files["hooks/hooks.json"])["hooks"]
    first, second = (group["hooks"][0] for group in hooks["PostToolUse"])
    assert second == {**first, "args": [*first["args"], "--rewake"], "asyncRewake": True}
    assert [event for event, groups in hooks.items() if len(groups) > 1] == ["PostToolUse"]
    assert set(hooks) == set(CATALOGUE) - {"SessionStart"}


def test_the_installed_shim_is_found_first(plugin: Path, tmp_path: Path) -> None:
    shim = tmp_path / "bin" / "snell-hook"
    shim.parent.mkdir()
    shim.write_text('#!/bin/sh\necho "shim $*"\n', encoding="utf-8")
    shim.chmod(0o755)
    assert call(plugin, "snell-hook.sh", PATH=str(shim.parent)) == (0, "shim --client claude-code\n", "")


@pytest.mark.proves("S4-110")
def test_else_a_python_that_has_snell_and_else_a_safe_answer_once(plugin: Path) -> None:
    python = {"SNELL_PYTHON": sys.executable, "PATH": "/usr/bin:/bin", "HOME": str(plugin.parent)}
    assert call(plugin, "find_python.sh", **python) == (0, f"{sys.executable}\n", "")
    home = {"SNELL_HOME": str(plugin.parent / "h")}
    code, out, _ = call(plugin, "snell-hook.sh", **python, **home)
    assert (code, out) == (0, "")
    assert call(plugin, "find_python.sh") == (1, "", "")
    code, out, err = call(plugin, "snell-hook.sh")
    assert (code, "pip install snell" in json.loads(out)["systemMessage"], err) == (0, True, "")
    assert call(plugin, "snell-hook.sh") == (0, "", "")
