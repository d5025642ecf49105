"""Killed at any step of an installation or removal, a file is the old one or the new one, and the next run finishes."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from snell.setup.file_changes import Change, install, plan_change, plan_removal, uninstall
from snell.setup.plan import Options, find_install, plan
from tests.case_counts import cases
from tests.unit.runtime.runtime_helpers import site_in, snapshot

STEPS = ("open", "write", "fsync", "fchmod", "replace", "close", "mkdir", "unlink", "rmdir", "stat", "read")
CLIENTS = ("cursor", "kimi", "goose")  # JSON; TOML; YAML and files of our own
OPTIONS = Options(mcp=True, rules=True)
KILLED = 77
MOST_STEPS = 400
STRIDE = cases(4, 1)


@pytest.mark.parametrize("name", CLIENTS)
def test_a_kill_at_every_step_leaves_a_valid_file_and_no_loss(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every system call that set-up makes is a step; a write stops half-way. Each is tried going in and coming out."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)  # processes are killed here, not machines
    points = 0
    for step in range(CLIENTS.index(name), MOST_STEPS, STRIDE):
        folder = tmp_path / str(step)
        folder.mkdir()
        if not _survives(name, folder, step):
            break
        points += 1
    assert 80 < points * STRIDE < MOST_STEPS  # for the three together more than 300, and as many coming out


def _survives(name: str, folder: Path, step: int) -> bool:
    """Kill an installation and then a removal at this step; False when there is no such step."""
    site, state, client = site_in(folder), folder / "state", find_install(name)
    _furnish(site.home)
    first = snapshot(site.home)
    files = plan(client, OPTIONS, site)

    def put() -> None:
        for file in files:
            install(plan_change(file), name, state)

    def take() -> None:
        for file in files:
            uninstall(plan_removal(file, {name}, state), name, state)

    was_killed = _killed_at(step, put)
    _each_is_old_or_new(files, [plan_change(file) for file in files])
    put()
    assert not any(plan_change(file).changes for file in files)
    was_killed |= _killed_at(step, take)
    take()
    assert {key: each for key, each in snapshot(site.home).items() if not key.endswith(".tmp")} == first
    return was_killed


def _each_is_old_or_new(files: list[Any], changes: list[Change]) -> None:
    """Planning reads and parses every file; one that was torn would raise."""
    assert len(changes) == len(files)
    assert all(change.before in (change.after, change.before) for change in changes)


def _killed_at(step: int, work: Callable[[], None]) -> bool:
    child = os.fork()
    if child == 0:
        try:
            _arm(step)
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == KILLED


def _arm(step: int) -> None:
    """From now on this process dies before its system call of this number; a write has half of its bytes out."""
    count = iter(range(step + 1))
    write = os.write

    def deadly(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **options: Any) -> Any:
            if next(count, None) is None or step == 0:
                if name == "write":
                    write(args[0], bytes(args[1])[: len(args[1]) // 2])
                os._exit(KILLED)
            return call(*args, **options)

        return called

    for name in STEPS:
        setattr(os, name, deadly(name, getattr(os, name)))


def _furnish(home: Path) -> None:
    files = {
        ".claude/settings.json": '{"statusLine": {"type": "command", "command": "mine"}, "hooks": {"Stop": []}}',
        ".codex/config.toml": '# mine\n[mcp_servers.other]\ncommand = "y"\n',
        ".cursor/hooks.json": '{"version":1,"hooks":{"stop":[{"command":"say done"}]}}',
        ".gemini/settings.json": '{"theme": "dark", /* dim */}\n',
        ".kimi-code/config.toml": "a = 1\n",
        ".config/goose/config.yaml": "extensions:\n  dev:\n    type: builtin\n",
        ".augment/settings.json": "{}",
    }
    for name, text in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
