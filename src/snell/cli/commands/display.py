"""
Print Claude Code's status line, or suggest files to it: run the user's own command, or Snell's own default.

They are settings of a client, not hooks: a failure shows nothing, and a command has at most five seconds.
"""

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from snell.daemon.client import ask
from snell.model.errors import SnellError
from snell.model.events import as_table, text_in, value_at
from snell.settings.load import load
from snell.system.capabilities import capability
from snell.system.git_readonly import project_files
from snell.system.json_input import json_or_none
from snell.system.paths import POLICY_FILE, Places, places
from snell.system.run_program import environment, run

LIMIT = 5.0  # seconds
MOST_SUGGESTIONS = 15
MOST_FILES = 50_000
INSIDE = "SNELL_DISPLAY"  # set for the configured command, so that it cannot call Snell again


def print_status_line(args: argparse.Namespace) -> int:
    """Print the status line, then tell the daemon how full the session's context is."""
    where = places(os.environ)
    session = display("status_line", args.then, lambda session, _cwd: default_status(session, where))
    used, name = usage_in(session), session.get("session_id")
    if used and isinstance(name, str) and name:
        if usage := capability("snell.usage.status_line"):
            with suppress(OSError):
                usage.keep_status(where.state, name, used, str(value_at(session, ("model", "id")) or ""))
        with suppress(SnellError):
            ask(where.run, "context.usage", {"session_id": name, **used})
    return 0


def suggest_files(args: argparse.Namespace) -> int:
    display("file_suggestion", args.then, _own_suggestions)
    return 0


def _own_suggestions(given: dict[str, Any], cwd: str) -> list[str]:
    return default_suggestions(text_in(given, "query"), cwd, os.environ)


def choose_command(
    name: str, then: str, where: Places, cwd: Path, env: Mapping[str, str], policy: Path = POLICY_FILE
) -> str | None:
    """
    Return the command for `status_line` or `file_suggestion`; `then` is the user's earlier one.

    Empty means the default, None that nothing is shown.
    """
    if env.get(INSIDE):
        return ""
    loaded = load(where, cwd, env, policy_files=(policy,))
    if own := loaded.value(name):
        return str(own["command"])
    switches = loaded.switches
    if switches.disable_all_hooks or switches.policy_disables_all or switches.allow_managed_hooks_only:
        return None
    return then


def display(setting: str, then: str, default: Callable[[dict[str, Any], str], list[str]]) -> dict[str, Any]:
    """Print the lines for the session on standard input, by a configured command or by default; return the session."""
    payload = sys.stdin.buffer.read()
    session = session_in(payload)
    cwd = text_in(session, "cwd") or os.getcwd()
    with suppress(SnellError):  # a display must not show errors; `snell doctor` does
        command = choose_command(setting, then, places(os.environ), Path(cwd), os.environ)
        if command is not None:
            own = lines_of(command, payload, cwd, os.environ) if command else default(session, cwd)
            if own:
                print("\n".join(own), flush=True)
    return session


def lines_of(command: str, payload: bytes, cwd: str, env: Mapping[str, str], limit: float = LIMIT) -> list[str]:
    """Return the lines that the command prints; none if it fails or takes too long."""
    inside = {**environment(env, {}), INSIDE: "1"}
    folder = cwd if os.path.isdir(cwd) else "/"
    finished = run(["/bin/sh", "-c", command], stdin=payload, cwd=folder, env=inside, timeout=limit)
    if finished.exit_code != 0 or finished.truncated:
        return []
    lines = finished.stdout.decode("utf-8", "replace").splitlines()
    return [line.rstrip() for line in lines if line.strip()]


def default_status(session: Mapping[str, Any], where: Places) -> list[str]:
    """Return one line with the model, the folder, how full the context is, and calls that ran without hooks."""
    coverage = capability("snell.packs.coverage.notice")
    model = value_at(session, ("model", "display_name"))
    folder = value_at(session, ("workspace", "current_dir")) or session.get("cwd")
    used = usage_in(session).get("used_percent")
    parts = [
        model if isinstance(model, str) else "",
        os.path.basename(folder) if isinstance(folder, str) else "",
        f"context {used:.0f}%" if used is not None else "",
        coverage.last_holes(where.state) if coverage else "",
    ]
    text = " | ".join(part for part in parts if part)
    return [text] if text else []


def usage_in(session: Mapping[str, Any]) -> dict[str, float]:
    """Return how much of its context window a session uses, as far as the status line's input tells."""
    window = session.get("context_window")
    given = window if isinstance(window, Mapping) else {}
    named = {
        "used_percent": given.get("used_percentage"),
        "tokens": given.get("total_input_tokens"),
        "window": given.get("context_window_size"),
    }
    numbers = {name: value for name, value in named.items() if isinstance(value, int | float)}
    return {name: float(value) for name, value in numbers.items() if not isinstance(value, bool) and value >= 0}


def default_suggestions(query: str, folder: str, env: Mapping[str, str], limit: float = LIMIT) -> list[str]:
    """Return the project's files that match the query, best match first."""
    words = query.lower().lstrip("@").strip()
    ranked = sorted((rank, len(path), path) for path in _files(folder, env, limit) if (rank := _rank(path, words)) < 9)
    return [path for _, _, path in ranked[:MOST_SUGGESTIONS]]


def session_in(payload: bytes) -> dict[str, Any]:
    """Parse the input of a status line or file suggestion; empty if it is not a JSON object."""
    return as_table(json_or_none(payload))


def _files(folder: str, env: Mapping[str, str], limit: float) -> list[str]:
    listed = project_files(folder, env, limit, stdout_cap=8_000_000)
    if listed is not None:
        return listed[:MOST_FILES]
    found: list[str] = []
    for root, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".") and each != "node_modules"]
        found += [os.path.relpath(os.path.join(root, name), folder) for name in names]
        if len(found) >= MOST_FILES:
            break
    return found[:MOST_FILES]


def _rank(path: str, words: str) -> int:
    lower = path.lower()
    name = lower.rpartition("/")[2]
    if name.startswith(words):
        return 0
    if words in name:
        return 1
    if words in lower:
        return 2
    letters = iter(lower)
    return 3 if all(char in letters for char in words) else 9
