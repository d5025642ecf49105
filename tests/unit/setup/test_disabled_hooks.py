"""Hooks that are there and do not run."""

from pathlib import Path

import pytest

from snell.clients import client_names
from snell.model.installs import Install, Switch
from snell.setup.client_gates import disabled_hooks, hook_digests
from snell.setup.plan import Options, find_install
from snell.setup.status import client_checks, state_of
from tests.unit.runtime.runtime_helpers import set_up, site_in

CASES = [
    ("claude_code", "home/.claude/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
    ("claude_code", "project/.claude/settings.local.json", '{"disableAllHooks": true}', "disableAllHooks"),
    ("gemini", "home/.gemini/settings.json", '{"hooksConfig": {"enabled": false}} // x', "hooksConfig.enabled"),
    ("gemini", "project/.gemini/settings.json", '{"hooksConfig": {"disabled": ["snell"]}}', "hooksConfig.disabled"),
    ("qwen", "home/.qwen/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
    ("copilot", "home/.copilot/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
    ("codex", "home/.codex/config.toml", "[features]\nhooks = false", "features.hooks"),
]


@pytest.mark.parametrize(("name", "file", "text", "setting"), CASES)
def test_hooks_that_the_client_does_not_run_are_not_called_installed(
    name: str, file: str, text: str, setting: str, tmp_path: Path
) -> None:
    site, path, client = site_in(tmp_path), tmp_path / file, find_install(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    set_up(client, Options(), site, tmp_path / "state")
    state = state_of(client, Options(), site)
    assert (state.installed, state.off) == ("off", f"`{setting}` in `{path}`")


@pytest.mark.parametrize("name", client_names())
def test_nothing_is_off_where_no_file_says_so(name: str, tmp_path: Path) -> None:
    assert disabled_hooks(find_install(name), site_in(tmp_path)) == ""


def test_the_file_that_counts_first_decides(tmp_path: Path) -> None:
    site = site_in(tmp_path)
    for folder, value in (("home", "true"), ("project", "false")):
        (tmp_path / folder / ".claude").mkdir()
        (tmp_path / folder / ".claude" / "settings.json").write_text(
            f'{{"disableAllHooks": {value}}}', encoding="utf-8"
        )
    assert disabled_hooks(find_install("claude_code"), site) == ""


def test_a_companys_files_count_whichever_of_them_says_it(tmp_path: Path) -> None:
    (tmp_path / "managed.d").mkdir()
    (tmp_path / "managed.d" / "10-hooks.json").write_text('{"onlyManaged": true}', encoding="utf-8")
    (tmp_path / "managed.d" / "20-broken.json").write_text("{", encoding="utf-8")
    switch = Switch(("onlyManaged",), True, (f"{tmp_path}/managed.d/*.json", f"{tmp_path}/none.json"))
    client = Install(name="x", title="X", switches=(switch,))
    assert disabled_hooks(client, site_in(tmp_path)) == f"`onlyManaged` in `{tmp_path}/managed.d/10-hooks.json`"


def test_doctor_says_that_they_are_off_and_where(tmp_path: Path) -> None:
    site, tools = site_in(tmp_path), tmp_path / "bin"
    tools.mkdir()
    for name in ("snell-hook", "snell"):
        (tools / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (tools / name).chmod(0o755)
    (site.home / ".codex").mkdir()
    settings = site.home / ".codex" / "config.toml"
    settings.write_text("[features]\nhooks = false\n", encoding="utf-8")
    env = {"HOME": str(site.home), "PATH": str(tools)}
    here = type(site).here(env, site.project)
    set_up(find_install("codex"), Options(), here, tmp_path / "state")
    row = next(row for row in client_checks(env, site.project) if row[0] == "client: codex")
    assert row[1] == "warn"
    assert f"`features.hooks` in `{settings}` disables them" in row[2]


def test_the_digest_of_a_hook_is_the_one_that_codex_computes() -> None:
    entry = {"type": "command", "command": "exec /opt/snell-hook --client codex"}
    lists = {
        "PreToolUse": [{"matcher": "*", "hooks": [{**entry, "timeout": 600}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "SessionEnd": [{"hooks": [{**entry, "timeout": 3}]}],
        "PostToolUse": [None, {"hooks": None}],
    }
    assert dict(hook_digests(lists)) == {
        "pre_tool_use:0:0": "sha256:da7b6da28a32755176fbed1f85ad0d6994c8390bb127953ff8b3fc222f44f1f4",
        "session_end:0:0": "sha256:139b2ce9359c7ead0588065a8128db17cefca8c89fd91f673e257d31de83062b",
    }
