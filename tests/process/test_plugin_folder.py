"""The Claude Code plugin: found Snell or not, its scripts end well."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from snell.model.catalogue import CATALOGUE
from snell.setup.plan import Options
from snell.setup.plugin_folder import plugin_files, write_plugin


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    write_plugin(tmp_path / "plug in", plugin_files(platform="linux"))
    return tmp_path / "plug in"


def call(plugin: Path, script: str, *, cwd: Path | None = None, **env: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [plugin / "scripts" / script, "--client", "claude-code"],
        input=b'{"hook_event_name": "Stop"}',
        cwd=cwd,
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
    everywhere = {name for name, row in CATALOGUE.items() if not row.registered_for}
    assert events == {"linux": everywhere, "darwin": everywhere, "win32": everywhere - {"SessionStart"}}


def test_every_hook_of_the_plugin_calls_a_script_that_it_brings(plugin: Path) -> None:
    hooks = json.loads((plugin / "hooks/hooks.json").read_bytes())["hooks"]
    commands = {handler["command"] for groups in hooks.values() for group in groups for handler in group["hooks"]}
    assert commands == {"${CLAUDE_PLUGIN_ROOT}/scripts/snell-hook.sh"}
    assert os.access(plugin / "scripts/snell-hook.sh", os.X_OK)


def test_the_plugin_has_what_its_makers_hooks_need_and_no_more() -> None:
    files = plugin_files(
        Options(rewakes=("PostToolUse",), wanted=frozenset(CATALOGUE), session_start=False), platform="linux"
    )
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
    assert (code, "Snell is not installed" in json.loads(out)["systemMessage"], err) == (0, True, "")
    assert call(plugin, "snell-hook.sh") == (0, "", "")
    windows = plugin_files(platform="win32")
    names = re.search(r"in \((.*)\) do", windows["scripts/find_python.cmd"])
    assert names
    assert names[1].split() == ["python.exe", "python3.exe", "py.exe"]
    script = windows["scripts/snell-hook.cmd"]
    assert ["find_python.cmd" in script, "Snell is not installed" in script, script.split()[-3:]] == [
        *(True, True, ["exit", "/b", "0"]),
    ]


@pytest.mark.parametrize("before", ["", ".:", ":"], ids=["plain", "dot in PATH", "empty in PATH"])
def test_a_repository_cannot_pass_its_own_code_off_as_snell(plugin: Path, tmp_path: Path, before: str) -> None:
    repository = tmp_path / "repository"
    (repository / "snell").mkdir(parents=True)
    hostile = f"open({str(tmp_path / 'ran')!r}, 'w')"
    for name in ("snell/__init__.py", "snell/__main__.py", "sitecustomize.py"):
        (repository / name).write_text(hostile, encoding="utf-8")
    for name in ("snell-hook", "python3", "python"):
        (repository / name).write_text(f"#!/bin/sh\n: >'{tmp_path}/ran'\necho hostile\n", encoding="utf-8")
        (repository / name).chmod(0o755)
    tools = tmp_path / "tools"  # with Python, but without the shim
    tools.mkdir()
    (tools / "python3.12").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
    (tools / "python3.12").chmod(0o755)
    env = {"HOME": str(tmp_path), "SNELL_HOME": str(tmp_path / "h"), "PYTHONPATH": "."}
    path = f"{before}{tools}"
    found = call(plugin, "find_python.sh", cwd=repository, PATH=path, **env)
    assert found == (0, f"{tools}/python3.12\n", "")
    code, out, _ = call(plugin, "snell-hook.sh", cwd=repository, PATH=path, **env)
    assert (code, out, (tmp_path / "ran").exists()) == (0, "", False)


def test_on_windows_nothing_is_looked_for_in_the_working_directory() -> None:
    files = plugin_files(platform="win32")
    scripts = [files["scripts/snell-hook.cmd"], files["scripts/find_python.cmd"]]
    commands = [line for text in scripts for line in text.splitlines() if not line.startswith("rem ")]
    assert all("where.exe $PATH:" in line for line in commands if "where" in line)
    assert all(" -I -" in line for line in commands if " -m " in line or " -c " in line)
