"""What each client is to be given: whole plans compared."""

import json
import os
import pwd
import tomllib
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from snell.clients import ALIASES, client_named, client_names
from snell.model.catalogue import CATALOGUE
from snell.model.errors import ClientError, SetupError
from snell.model.installs import Install
from snell.setup.apply_edits import is_snell_file
from snell.setup.config_formats import Programs
from snell.setup.file_changes import install, plan_change
from snell.setup.plan import RULES_FILE, Options, Site, check_scope, find_client, find_install, generate, plan
from snell.setup.status import client_checks, state_of
from snell.system.paths import PlaceError
from tests.unit.runtime.runtime_helpers import PROGRAMS, every_install, set_up, site_in

PLAIN = "exec '/opt/my tools/snell-hook' --client"
SHELL = f"[ -x '/opt/my tools/snell-hook' ] || exit 0; {PLAIN}"


def written(name: str, site: Site, **options: Any) -> dict[str, Any]:
    """The files that setting a client up gives, by path below the home or project, JSON and TOML decoded."""
    found = {}
    for file in plan(find_install(name), Options(**options), site):
        text = (plan_change(file).after or b"").decode()
        path = Path(file.path)
        short = str(path.relative_to(site.home if path.is_relative_to(site.home) else site.project))
        found[short] = json.loads(text) if short.endswith(".json") else text
    return found


@pytest.mark.parametrize("client", every_install(), ids=client_names())
def test_a_clients_set_up_is_complete(client: Install) -> None:
    assert bool(client.form) == bool(client.hooks) == bool(client.events)
    assert set(client.session_start) <= {*client.events, "SessionStart"}
    assert len(set(client.events)) == len(client.events)
    assert client.after


@pytest.mark.proves("S4-17", "S4-18")
def test_claude_code_calls_the_shim_without_a_shell_on_every_event_that_needs_no_hook(tmp_path: Path) -> None:
    entry = {"type": "command", "command": PROGRAMS.shim, "args": ["--client", "claude-code"]}
    short = {"SessionEnd": 10, "MessageDisplay": 10}
    events = [name for name, row in CATALOGUE.items() if not row.registered_for]
    expected = {name: [{"hooks": [{**entry, "timeout": short.get(name, 600)}]}] for name in events}
    line = {
        "type": "command",
        "command": "[ -x '/opt/my tools/snell' ] || exit 0; exec '/opt/my tools/snell' statusline",
    }
    found = written("claude_code", site_in(tmp_path))
    assert found == {".claude/settings.json": {"hooks": expected, "statusLine": line}}


def test_some_events_come_only_with_a_hook_that_wants_them(tmp_path: Path) -> None:
    usual = {name for name, row in CATALOGUE.items() if not row.registered_for}
    assert set(CATALOGUE) - usual == {"MessageDisplay", "PostToolBatch", "WorktreeCreate", "WorktreeRemove"}
    for wanted, more in (
        ("MessageDisplay", {"MessageDisplay"}),
        ("WorktreeCreate", {"WorktreeCreate", "WorktreeRemove"}),
        ("WorktreeRemove", set()),  # an entry replaces git's own worktrees
    ):
        options = {"wanted": frozenset({wanted})}
        hooks = written("claude_code", site_in(tmp_path), **options)[".claude/settings.json"]["hooks"]
        assert set(hooks) == usual | more


@pytest.mark.parametrize(("version", "missing"), [("0.140.2", {"SessionEnd"}), ("0.166.0", set()), ("unknown", set())])
def test_only_events_that_the_installed_version_knows_are_written(
    tmp_path: Path, version: str, missing: set[str]
) -> None:
    package = tmp_path / "lib/node_modules/@openai/codex"
    (package / "bin").mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"version": version}), encoding="utf-8")
    (package / "bin/codex.js").touch(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/codex").symlink_to(package / "bin/codex.js")
    site = replace(site_in(tmp_path), env={"PATH": str(tmp_path / "bin")})
    hooks = written("codex", site)[".codex/hooks.json"]["hooks"]
    assert set(client_named("codex").install.events) - set(hooks) == missing


def test_an_event_with_a_hook_that_may_wake_the_agent_is_reported_a_second_time(tmp_path: Path) -> None:
    hooks = written("claude_code", site_in(tmp_path), rewakes=("PostToolUse",))[".claude/settings.json"]["hooks"]
    entry = {"type": "command", "command": PROGRAMS.shim, "args": ["--client", "claude-code"], "timeout": 600}
    second = {**entry, "args": [*entry["args"], "--rewake"], "asyncRewake": True}
    assert hooks["PostToolUse"] == [{"hooks": [entry]}, {"hooks": [second]}]
    assert hooks["PreToolUse"] == [{"hooks": [entry]}]
    codex = written("codex", site_in(tmp_path), rewakes=("PostToolUse",))
    assert codex == written("codex", site_in(tmp_path))


@pytest.mark.proves("S4-19")
def test_cursor_gets_version_1_camel_case_events_and_a_loop_limit(tmp_path: Path) -> None:
    found = written("cursor", site_in(tmp_path), mcp=True)
    hooks = found[".cursor/hooks.json"]["hooks"]
    assert found[".cursor/hooks.json"]["version"] == 1
    assert hooks["preToolUse"] == [{"command": f"{SHELL} cursor --event preToolUse", "timeout": 600}]
    assert hooks["stop"] == [{"command": f"{SHELL} cursor --event stop", "timeout": 600, "loop_limit": 5}]
    assert all(name[0].islower() for name in hooks)
    assert found[".cursor/mcp.json"] == {
        "mcpServers": {"snell": {"command": PROGRAMS.shim, "args": ["--bridge", "mcp"]}}
    }


@pytest.mark.proves("S4-20", "S4-21")
def test_windsurf_and_antigravity_get_hooks_beside_mcp_and_rules(tmp_path: Path) -> None:
    site = site_in(tmp_path)
    windsurf = written("windsurf", site, mcp=True)
    assert windsurf[".codeium/windsurf/hooks.json"]["hooks"]["pre_run_command"] == [
        {"command": f"{SHELL} windsurf --event pre_run_command", "show_output": False}
    ]
    assert ".codeium/windsurf/mcp_config.json" in windsurf
    antigravity = written("antigravity", site, mcp=True, rules=True)
    ours = antigravity[".gemini/config/hooks.json"]["snell"]
    without = "[ -x '/opt/my tools/snell-hook' ] || { echo '{}'; exit 0; }; "
    entry = {"type": "command", "command": f"{without}{PLAIN} antigravity --event Stop", "timeout": 600}
    assert ours["Stop"] == [entry]
    assert ours["PreToolUse"][0]["matcher"] == "*"
    assert {".gemini/config/mcp_config.json", ".gemini/GEMINI.md"} <= antigravity.keys()


@pytest.mark.proves("S4-22")
def test_copilot_in_vs_code_gets_servers_of_type_stdio(tmp_path: Path) -> None:
    found = written("vscode_copilot", site_in(tmp_path), scope="project", mcp=True)
    server = {"type": "stdio", "command": PROGRAMS.shim, "args": ["--bridge", "mcp"]}
    assert found[".vscode/mcp.json"] == {"servers": {"snell": server}}


def test_droid_gets_its_events_without_a_wrapper(tmp_path: Path) -> None:
    found = written("droid", site_in(tmp_path))[".factory/hooks.json"]
    entry = {"type": "command", "command": f"{SHELL} droid --event PreToolUse", "timeout": 600}
    assert found["PreToolUse"] == [{"matcher": "*", "hooks": [entry]}]
    assert "hooks" not in found


def test_kimi_gets_exactly_four_keys_for_each_hook(tmp_path: Path) -> None:
    found = tomllib.loads(written("kimi", site_in(tmp_path))[".kimi-code/config.toml"])
    assert {tuple(item) for item in found["hooks"]} == {("event", "matcher", "command", "timeout")}


def test_gemini_and_augment_get_milliseconds_and_codex_at_most_three_seconds_at_the_end(tmp_path: Path) -> None:
    site = site_in(tmp_path)
    gemini = written("gemini", site)[".gemini/settings.json"]["hooks"]["BeforeTool"][0]
    assert (gemini["matcher"], gemini["hooks"][0]["timeout"]) == (".*", 600_000)
    augment = written("augment", site)
    entry = augment[".augment/settings.json"]["hooks"]["PreToolUse"][0]["hooks"][0]
    assert entry == {"type": "command", "command": f"{site.home}/.augment/snell-hook-augment", "timeout": 600_000}
    codex = written("codex", site)[".codex/hooks.json"]["hooks"]
    assert codex["SessionEnd"][0]["hooks"][0]["timeout"] == 3


def test_cline_gets_one_program_per_event(tmp_path: Path) -> None:
    site = site_in(tmp_path)
    set_up(find_install("cline"), Options(), site, tmp_path / "state")
    script = site.home / ".cline" / "hooks" / "PreToolUse"
    assert os.access(script, os.X_OK)
    assert script.read_text(encoding="utf-8").splitlines()[-1] == f'{SHELL} cline --event PreToolUse "$@"'


@pytest.mark.proves("S4-12", "S4-16", "S4-27")
def test_one_call_describes_a_clients_whole_set_up(tmp_path: Path) -> None:
    site = site_in(tmp_path)
    whole = generate("Claude Code", site=site)
    assert list(whole) == ["client", "paths", "capabilities", "hooks", "mcp_config", "instructions"]
    assert whole["client"] == "claude-code"
    assert whole["paths"]["hooks, status line"] == str(site.home / ".claude" / "settings.json")
    assert whole["mcp_config"] == {
        "mcpServers": {"snell": {"type": "stdio", "command": PROGRAMS.shim, "args": ["--bridge", "mcp"]}}
    }
    assert whole["hooks"] == {"hooks": written("claude_code", site)[".claude/settings.json"]["hooks"]}
    assert "SessionStart" in whole["hooks"]["hooks"]
    others = [generate(name, site=site)["client"] for name in ("cursor", "VS Code", "agy")]
    assert others == ["cursor", "vscode-copilot", "antigravity"]
    less = generate("claude", include_session_start=False, include_mcp_config=False, site=site)
    assert set(whole["hooks"]["hooks"]) - set(less["hooks"]["hooks"]) == {"SessionStart"}
    assert less["mcp_config"] is None
    assert {alias: find_install(alias).name for alias in ALIASES} == ALIASES
    for name in ("claude", "zed"):  # a client without hooks gets the server unless it is left out
        listed = generate(name, include_mcp_config=False, site=site)["paths"]
        assert [purpose for purpose in listed if "MCP" in purpose] == []
        assert [purpose for purpose in generate(name, site=site)["paths"] if "MCP" in purpose] != []


@pytest.mark.parametrize("name", [client.name for client in every_install() if client.form])
def test_the_hooks_of_a_set_up_are_what_the_clients_files_would_hold(name: str, tmp_path: Path) -> None:
    site = site_in(tmp_path)
    given, files = generate(name, site=site)["hooks"], written(name, site, status_line=False)
    if name == "kimi":
        files = {path: tomllib.loads(text) for path, text in files.items()}
    single = next(iter(files.values()))
    assert given == (
        single
        if len(files) == 1 and isinstance(single, dict)
        else {str(site.home / path): content for path, content in files.items()}
    )


def test_a_scope_or_a_client_that_is_none_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="unknown scope `bogus`; use one of user, project, local"):
        generate("codex", scope="bogus", site=site_in(tmp_path))  # type: ignore[arg-type] # what a caller may do
    for name in (None, 7, ""):
        with pytest.raises(ClientError, match="is not a client's name; known clients: claude-code,"):
            generate(name, site=site_in(tmp_path))  # type: ignore[arg-type] # what a caller may do


@pytest.mark.proves("S4-13", "S4-15")
@pytest.mark.parametrize("name", client_names())
def test_every_client_supplies_hooks_mcp_entry_and_instructions_in_its_own_form(name: str, tmp_path: Path) -> None:
    client, whole = find_install(name), generate(name, site=site_in(tmp_path))
    assert bool(whole["hooks"]) == bool(client.form)
    assert bool(whole["mcp_config"]) == ("user" in client.mcp)
    assert whole["capabilities"]["hook_format"] == (client.form.name if client.form else "none")
    able = client_named(name).capabilities
    told = {each: whole["capabilities"][each] for each in ("hooks", "mcp", "rules")}
    assert told == {"hooks": able.hooks and bool(client.form), "mcp": able.mcp, "rules": able.rules}
    rules, _, steps = whole["instructions"].partition("\n\nAfter set-up:\n\n")
    assert rules == RULES_FILE.read_text(encoding="utf-8").strip()
    assert steps == "\n".join(f"- {step}" for step in (*client.after, *client.remarks))
    with pytest.raises(AttributeError):
        client.form = None  # type: ignore[misc] # frozen, which is what is tested
    with pytest.raises(AttributeError):
        client_named(name).capabilities.hooks = False  # type: ignore[misc] # frozen as well


@pytest.mark.proves("S4-05")
def test_clients_without_hooks_get_mcp_and_rules_by_default(tmp_path: Path) -> None:
    assert set(written("zed", site_in(tmp_path), scope="project")) == {".zed/settings.json", "AGENTS.md"}
    assert set(written("codex", site_in(tmp_path), scope="project")) == {".codex/hooks.json"}


@pytest.mark.proves("S4-23")
def test_a_command_works_when_the_path_to_the_shim_has_spaces(tmp_path: Path) -> None:
    folder = tmp_path / "my tools"
    folder.mkdir()
    shim = folder / "snell-hook"
    shim.write_text('#!/bin/sh\nprintf "%s," "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    with os.popen(Programs(str(shim), "snell").line("codex", "Stop")) as pipe:
        assert pipe.read() == "--client,codex,--event,Stop,"


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("claude", "claude_code"),
        ("ClaudeCode", "claude_code"),
        (" Claude Code ", "claude_code"),
        ("cursor", "cursor"),
        ("windsurf", "windsurf"),
        ("devin", "windsurf"),
        ("antigravity", "antigravity"),
        ("gemini", "gemini"),
        ("copilot", "copilot"),
        ("VSCode-Copilot", "vscode_copilot"),
    ],
)
def test_clients_are_known_by_their_names(given: str, name: str) -> None:
    assert find_install(given).name == name


def test_an_unknown_client_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(ClientError, match=r"known clients: claude-code, antigravity, .*windsurf, zed, generic"):
        find_install("emacs")


def test_a_variable_moves_a_clients_folder(tmp_path: Path) -> None:
    site = site_in(tmp_path, CLAUDE_CONFIG_DIR=str(tmp_path / "elsewhere"))
    paths = [file.path for file in plan(find_install("claude_code"), Options(mcp=True), site)]
    assert paths == [str(tmp_path / "elsewhere" / name) for name in ("settings.json", ".claude.json")]
    with pytest.raises(SetupError, match="CODEX_HOME is `x`, which is not an absolute path"):
        plan(find_install("codex"), Options(), site_in(tmp_path, CODEX_HOME="x"))


def test_a_client_is_found_by_its_programs_and_folders(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        (folder / "claude").write_text("#!/bin/sh\n", encoding="utf-8")
        (folder / "claude").chmod(0o755)
    site = site_in(tmp_path, PATH=f"{one}:{two}:{one}")
    assert find_client(find_install("claude_code"), site).programs == (str(one / "claude"), str(two / "claude"))
    assert not find_client(find_install("codex"), site).is_here
    (site.home / ".codex").mkdir()
    assert find_client(find_install("codex"), site).folders == (str(site.home / ".codex"),)


@pytest.mark.parametrize(
    ("name", "file"),
    [("opencode", "opencode/plugins/snell.js"), ("crush", "crush/crush.json"), ("zed", "zed/settings.json")],
)
def test_clients_that_keep_to_the_xdg_folders_are_set_up_where_those_are(name: str, file: str, tmp_path: Path) -> None:
    moved = site_in(tmp_path, XDG_CONFIG_HOME=str(tmp_path / "moved"))
    set_up(find_install(name), Options(), moved, tmp_path / "state")
    assert (tmp_path / "moved" / file).is_file()
    assert list(moved.home.iterdir()) == []
    odd = site_in(tmp_path, XDG_CONFIG_HOME="not/absolute")
    set_up(find_install(name), Options(), odd, tmp_path / "state")
    assert (odd.home / ".config" / file).is_file()


def test_doctor_hears_of_half_installed_clients_and_of_two_versions(tmp_path: Path) -> None:
    site, rows = site_in(tmp_path), []
    (site.home / ".codex").mkdir()
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("snell-hook", "snell"):
        (tools / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (tools / name).chmod(0o755)
    rows = client_checks({"HOME": str(site.home), "PATH": str(tools)}, site.project)
    codex = [row[1:] for row in rows if row[0] == "client: codex"]
    assert codex == [
        ("warn", "found, but not set up", "`snell setup codex`"),
        ("warn", f"{site.home}/.codex exists, but its program is not on PATH", "finish installing it"),
        ("ok", "cannot ask about a call; Snell gives the nearest stricter answer instead", ""),
    ]


def test_a_state_says_whether_ours_is_there_and_current(tmp_path: Path) -> None:
    site, client = site_in(tmp_path), find_install("codex")
    assert state_of(client, Options(), site).installed == "no"
    set_up(client, Options(), site, tmp_path / "state")
    assert state_of(client, Options(), site).installed == "not approved"
    assert state_of(client, Options(session_start=False), site).installed == "outdated"
    (site.home / ".codex" / "hooks.json").write_bytes(b"{")
    broken = state_of(client, Options(), site)
    assert (broken.installed, "hooks.json:1: " in broken.problem) == ("cannot tell", True)


@pytest.mark.proves("S4-123", "S4-124")
def test_session_start_may_stand_in_settings_on_every_system(tmp_path: Path) -> None:
    site = site_in(tmp_path)
    windows = Site(site.home, site.project, Programs("C:\\my tools\\snell-hook.exe", "C:\\snell.exe", is_windows=True))
    for each in (site, windows):
        assert "SessionStart" in written("claude_code", each)[".claude/settings.json"]["hooks"]
        assert "SessionStart" in generate("claude-code", site=each)["hooks"]["hooks"]


@pytest.mark.proves("S4-125")
def test_on_windows_clients_start_the_shim_itself(tmp_path: Path) -> None:
    site = site_in(tmp_path)
    windows = Site(site.home, site.project, Programs("C:\\my tools\\snell-hook.exe", "C:\\snell.exe", is_windows=True))
    codex = written("codex", windows)[".codex/hooks.json"]["hooks"]["Stop"][0]["hooks"][0]
    assert codex["command"] == '"C:\\my tools\\snell-hook.exe" --client codex --event Stop'


def test_a_scope_that_a_client_does_not_have_is_refused() -> None:
    with pytest.raises(SetupError, match=r"Kimi Code has no local configuration .*; use --scope project or user"):
        check_scope(find_install("kimi"), "local")


def test_a_home_that_is_not_a_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlaceError, match="HOME is `x`, which is not an absolute path"):
        Site.here({"HOME": "x", "PATH": str(tmp_path)}, tmp_path)


def test_without_a_home_variable_the_systems_own_answer_counts(tmp_path: Path) -> None:
    for name in ("snell-hook", "snell"):
        (tmp_path / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    assert Site.here({"PATH": str(tmp_path)}, tmp_path).home == Path(pwd.getpwuid(os.geteuid()).pw_dir)


def test_a_plugin_client_gets_the_bridge_with_our_shim_in_it(tmp_path: Path) -> None:
    site = site_in(tmp_path)
    for name, path in (("opencode", ".config/opencode/plugins/snell.js"), ("pi", ".pi/agent/extensions/snell.ts")):
        text = written(name, site)[path]
        assert 'const COMMAND = ["/opt/my tools/snell-hook"]' in text
        assert is_snell_file(text.encode())


def test_installing_twice_changes_nothing(tmp_path: Path) -> None:
    site = site_in(tmp_path)
    for client in every_install():
        options = Options(mcp=True, rules=True)
        set_up(client, options, site, tmp_path / "state")
        changes = [plan_change(file) for file in plan(client, options, site)]
        assert not any(change.changes for change in changes)
        for change in changes:
            install(change, client.name, tmp_path / "state")
