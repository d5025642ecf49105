"""Hooks that a client runs by itself are not run for it once more."""

import json
from pathlib import Path

import pytest

from snell.handlers.worker.client import Worker
from snell.runtime.hook_loader import HookLoader
from snell.system.paths import Places


@pytest.mark.parametrize(
    ("client", "runs"), [("codex", True), ("claude_code", False), ("grok", False), ("vscode_copilot", False)]
)
def test_imported_claude_hooks_run_where_the_client_does_not_run_them_itself(
    client: str, runs: bool, tmp_path: Path
) -> None:
    places = Places(tmp_path / "config", tmp_path / "state", tmp_path / "run")
    (tmp_path / ".claude").mkdir()
    places.config.mkdir()
    (places.config / "snell.toml").write_text('import_hooks = ["claude-code"]\n', encoding="utf-8")
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}), encoding="utf-8")
    env = {"HOME": str(tmp_path)}
    loader = HookLoader(places, env, Worker(env), policy_files=())
    found = loader.load(str(tmp_path), client)
    assert any(hook.source.layer == "claude-code:user" for hook in found.hooks) == runs
