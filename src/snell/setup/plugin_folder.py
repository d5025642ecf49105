"""
Write a Claude Code plugin: manifest, hooks, a skill, and scripts that find Snell.

The plugin contains no path of this machine, so it can be shared. On a machine without Snell it says so once, and lets
every call pass.
"""

import json
import os
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from snell.clients import client_named
from snell.model.errors import SetupError
from snell.setup.plan import WORKTREE_EVENTS, Options
from snell.system.files import write_atomically

ROOT = "${CLAUDE_PLUGIN_ROOT}"
# A client that is also set up in its settings runs two commands; this argument tells them apart.
PLUGIN_ARGUMENT = "--plugin"
# On Windows any SessionStart hook of a plugin freezes the terminal.
FREEZES_ON_WINDOWS = "SessionStart"


def plugin_files(options: Options | None = None, *, platform: str = sys.platform) -> dict[str, str]:
    """Return the plugin's files by name; `options` says whether it has worktree events and late calls."""
    is_windows = platform == "win32"
    return {
        ".claude-plugin/plugin.json": _json(_manifest()),
        "hooks/hooks.json": _json(_hooks(is_windows, options or Options())),
        "skills/snell/SKILL.md": SKILL,
        "scripts/snell-hook.sh": SHIM_SH,
        "scripts/find_python.sh": FIND_SH,
        "scripts/snell-hook.cmd": SHIM_CMD.replace("\n", "\r\n"),
        "scripts/find_python.cmd": FIND_CMD.replace("\n", "\r\n"),
    }


def write_plugin(folder: Path, files: Mapping[str, str]) -> None:
    """Write the plugin. Raises SetupError for a folder that holds something else."""
    if folder.exists() and not folder.is_dir():
        raise SetupError("is not a folder", where=f"`{folder}`", advice="choose another name")
    if folder.is_dir() and any(folder.iterdir()) and not _is_snell_plugin(folder / ".claude-plugin" / "plugin.json"):
        raise SetupError(
            "is not empty, and is not a Snell plugin", where=f"`{folder}`", advice="choose an empty folder"
        )
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text.encode(), 0o755 if name.endswith(".sh") else 0o644)


def _is_snell_plugin(manifest: Path) -> bool:
    try:
        found = json.loads(manifest.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("name") == _manifest()["name"]


def _manifest() -> dict[str, object]:
    return {
        "name": "snell",
        "version": version("snell"),
        "description": "Runs Snell's hooks: one set of guards and helpers for every coding agent.",
        "author": {"name": "Snell contributors"},
    }


def _hooks(is_windows: bool, options: Options) -> dict[str, object]:
    install = client_named("claude_code").INSTALL
    left_out = {FREEZES_ON_WINDOWS} if is_windows or not options.session_start else set()
    script = f"{ROOT}\\scripts\\snell-hook.cmd" if is_windows else f"{ROOT}/scripts/snell-hook.sh"
    words = ["--client", "claude-code", PLUGIN_ARGUMENT]
    entry: dict[str, object] = {"type": "command", "command": script, "args": words}
    late = {**entry, "args": [*words, "--rewake"], "asyncRewake": True}
    hooks = {}
    for event in (*install.events, *(WORKTREE_EVENTS if options.worktrees else ())):
        if event not in left_out:
            limit = {"timeout": install.timeouts.get(event, install.timeout)}
            entries = [entry, late] if event in options.rewakes else [entry]
            hooks[event] = [{"hooks": [{**each, **limit}]} for each in entries]
    return {"description": "Sends every event to snell-hook, which asks Snell.", "hooks": hooks}


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + os.linesep.replace("\r\n", "\n")


SKILL = """---
name: snell
description: Explains why a tool call was refused or changed. Use it when a hook's reason is not clear.
---

# When a hook refused or changed something

1. Read the reason in the refusal. If it names an alternative, use that.
2. To learn more, run `snell why last`: it shows every hook that ran, its answer, and the decision.
3. When the refusal seems wrong, tell the user what you wanted and what `snell why last` says. They decide.

Do not reword a refused command, do not edit hooks or settings to get around a refusal, and do not run `snell trust`,
`snell pause` or `snell setup`: those are for the user.
"""

SHIM_SH = """#!/bin/sh
# Runs snell-hook, else a Python that has Snell; else says once that Snell is missing, and lets every call pass.
# No cat, no sed: this must work with an empty PATH. Nothing is run from the working directory, which may be any
# repository: no relative path, and Python runs isolated (-I).
for shim in "$(command -v snell-hook 2>/dev/null)" "$HOME/.local/bin/snell-hook" \\
    "$HOME"/Library/Python/3.*/bin/snell-hook /usr/local/bin/snell-hook; do
    case $shim in /*) [ -x "$shim" ] && exec "$shim" "$@" ;; esac
done
here=${0%/*}
python=$("$here/find_python.sh" 2>/dev/null) && [ -n "$python" ] && exec "$python" -I -m snell hook "$@"
mark="${CLAUDE_PLUGIN_DATA:-${TMPDIR:-/tmp}}/snell-not-installed-${USER:-user}"
if [ ! -e "$mark" ]; then
    { : >"$mark"; } 2>/dev/null
    printf '%s\\n' '{"systemMessage": "Snell plugin does nothing: Snell is not installed; its README says how"}'
fi
exit 0
"""

FIND_SH = """#!/bin/sh
# Prints the first Python 3.11 or newer that has Snell; fails if there is none.
# Isolated (-I), so that a folder `snell` in the working directory is not imported.
for python in ${SNELL_PYTHON:+"$SNELL_PYTHON"} python3 python python3.14 python3.13 python3.12 python3.11; do
    path=$(command -v "$python" 2>/dev/null) || continue
    case $path in /*) ;; *) continue ;; esac
    "$path" -I -c 'import sys, snell; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue
    printf '%s\\n' "$path"
    exit 0
done
exit 1
"""

SHIM_CMD = """@echo off
rem Runs snell-hook, else a Python that has Snell; else says once that Snell is missing, and lets every call pass.
rem Searches PATH only: by default `where` and the command processor search the working directory first.
setlocal
set NoDefaultCurrentDirectoryInExePath=1
set SNELL_FOUND=
for /f "delims=" %%p in ('%SystemRoot%\\System32\\where.exe $PATH:snell-hook.exe 2^>nul') do (
    if not defined SNELL_FOUND set "SNELL_FOUND=%%p"
)
if defined SNELL_FOUND (
    "%SNELL_FOUND%" %*
    exit /b
)
for /f "delims=" %%p in ('call "%~dp0find_python.cmd" 2^>nul') do set "SNELL_FOUND=%%p"
if defined SNELL_FOUND (
    "%SNELL_FOUND%" -I -m snell hook %*
    exit /b
)
if not exist "%TEMP%\\snell-not-installed" (
    echo.>"%TEMP%\\snell-not-installed"
    echo {"systemMessage": "Snell plugin does nothing: Snell is not installed; its README says how"}
)
exit /b 0
"""

FIND_CMD = """@echo off
rem Prints the first Python 3.11 or newer that has Snell; fails if there is none.
rem Searches PATH only, and isolated (-I), so that nothing in the working directory is run.
for %%n in (python.exe python3.exe py.exe) do (
    for /f "delims=" %%p in ('%SystemRoot%\\System32\\where.exe $PATH:%%n 2^>nul') do (
        "%%p" -I -c "import sys, snell; sys.exit(sys.version_info < (3, 11))" >nul 2>nul && (
            echo %%p
            exit /b 0
        )
    )
)
exit /b 1
"""
