"""`snell setup` and `snell clients`, as a person and as an agent would call them."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from snell.cli.confirmation import AGENT_MARKERS
from snell.clients import client_named, client_names
from snell.settings.snell_commands import wrapped_command
from snell.setup.plan import find_install
from tests.fork_server import run_snell
from tests.process.author import Author
from tests.unit.runtime.runtime_helpers import snapshot

SETTINGS = '{\n  "statusLine": {"type": "command", "command": "my-line"}, // mine\n  "model": "x"\n}'


class Owner(Author):
    """A user with a home directory in which Claude Code and Codex have been."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.user_home = folder / "user"
        (self.user_home / ".claude").mkdir(parents=True)
        (self.user_home / ".codex").mkdir()
        self.settings = self.user_home / ".claude" / "settings.json"
        self.settings.write_text(SETTINGS.replace(" // mine", ""), encoding="utf-8")

    @property
    def env(self) -> dict[str, str]:
        moved = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "KIMI_CODE_HOME", "XDG_CONFIG_HOME")
        inherited = {name: value for name, value in super().env.items() if name not in moved}
        return {**inherited, "HOME": str(self.user_home), "PATH": "/usr/bin:/bin"}

    def write_pack(self, hooks: str) -> None:
        """Give the user a pack of their own with these hooks."""
        pack = self.home / "config" / "pack"
        pack.mkdir(parents=True, exist_ok=True)
        pack.with_name("snell.toml").write_text('packs = ["pack"]\n', encoding="utf-8")
        (pack / "pack.toml").write_text('name = "mine"\n', encoding="utf-8")
        (pack / "rules.py").write_text(hooks, encoding="utf-8")


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    return Owner(tmp_path)


@pytest.mark.proves("S4-28")
def test_set_up_shows_asks_writes_and_gives_everything_back(owner: Owner) -> None:
    before = snapshot(owner.user_home)
    assert "nothing was changed" in owner.on_terminal("setup", "claude-code", typed="n\n")
    assert snapshot(owner.user_home) == before
    shown = owner.on_terminal("setup", "claude-code", typed="y\n\n")
    assert "29 events -> snell-hook" in shown
    assert ("--diff" in shown, '"PreToolUse"' in shown) == (True, False)
    lines = shown[shown.index("What Snell will do") :].splitlines()
    said = [line.split()[0].strip("\x1b[01m") for line in lines if line.startswith("  ") and line[2] != " "]
    assert said[:5] == ["runs", "denies", "asks", "stores", "preset"]
    assert "next: start a new session" in shown
    assert "Enable memory? [y/N]" in shown
    settings = json.loads(owner.settings.read_bytes())
    assert wrapped_command(settings["statusLine"]["command"]) == "my-line"
    assert settings["hooks"]["PreToolUse"][0]["hooks"][0]["args"] == ["--client", "claude-code"]
    assert owner.snell("setup", "claude-code", "--check")[:2] == (0, "Claude Code: installed and up to date\n")
    assert owner.snell("setup", "claude-code", "--yes")[1].endswith("everything is installed and up to date\n")
    code, shown, _ = owner.snell("setup", "claude-code", "--uninstall", "--yes")
    assert (code, "-> snell-hook" in shown) == (0, False)
    assert snapshot(owner.user_home) == before
    assert owner.snell("setup", "claude-code", "--no-session-start", "--yes")[0] == 0
    assert set(settings["hooks"]) - set(json.loads(owner.settings.read_bytes())["hooks"]) == {"SessionStart"}
    parts = [
        owner.snell("setup", "claude-code", "--memory", *more, "--print")[1] for more in ((), ("--no-include-mcp",))
    ]
    assert ['"mcpServers"' in shown for shown in parts] == [True, False]


def test_set_up_offers_presets_and_writes_the_chosen_one_into_the_settings(owner: Owner) -> None:
    settings = owner.home / "config" / "snell.toml"
    shown = owner.on_terminal("setup", "claude-code", typed="observe\n\n")
    assert "Write these changes? [y/N, or observe / strict]" in shown
    said = [line.split()[:2] for line in shown.splitlines() if line.startswith(("  y ", "  observe ", "  strict "))]
    assert said == [["y", "balanced:"], ["observe", "only"], ["strict", "denies"]]
    assert settings.read_text(encoding="utf-8").startswith('profile = "observe"\n')
    assert owner.snell("setup", "claude-code", "--check")[0] == 0
    settings.write_text('# mine\nprofile = "observe"  # for now\n[pack.notes]\nenabled = false\n', encoding="utf-8")
    code, out, err = owner.snell("setup", "claude-code", "--preset", "strict", "--yes")
    assert (code, "preset: strict, set in" in out) == (0, True), err
    assert settings.read_text(encoding="utf-8").startswith(
        '# mine\nprofile = "strict"  # for now\n[pack.notes]\nenabled = false\n'
    )
    assert json.loads(owner.snell("status", "--json")[1])["preset"] == "strict"
    assert '"PreToolUse"' in owner.on_terminal("setup", "codex", "--diff", typed="n\n")


def test_without_a_name_every_client_that_is_here_is_set_up(owner: Owner) -> None:
    before = snapshot(owner.user_home)
    code, out, _ = owner.snell("setup", "--yes")
    assert code == 0
    assert "Claude Code: installed" in out
    assert "Codex CLI: installed" in out
    assert "approve the hooks under /hooks" in out
    assert owner.snell("setup", "claude-code", "--check")[0] == 0
    rows = {row["client"]: row for row in json.loads(owner.snell("clients", "--json")[1])}
    assert (rows["codex"]["found"], rows["codex"]["installed"]) == (True, "not approved")
    assert (rows["cursor"]["found"], rows["cursor"]["installed"]) == (False, "no")
    assert rows["claude-code"]["tier"] == 1
    assert owner.snell("setup", "--uninstall", "--yes")[0] == 0
    assert snapshot(owner.user_home) == before


def test_clients_that_share_a_file_are_set_up_and_taken_out_in_one_go(owner: Owner) -> None:
    (owner.project / "AGENTS.md").write_text("# Mine\n", encoding="utf-8")
    before = snapshot(owner.project)
    sharing = ("copilot", "vscode-copilot", "zed", "warp", "roo", "codex", "--scope", "project", "--include-rules")
    code, out, _ = owner.snell("setup", *sharing, "--yes")
    assert (code, out.count(": installed\n")) == (0, 6)
    assert "out of date" not in owner.snell("setup", *sharing, "--check")[1]
    code, out, _ = owner.snell("setup", "zed", "--scope", "project", "--uninstall", "--yes")
    assert code == 0
    assert "## Snell" in (owner.project / "AGENTS.md").read_text(encoding="utf-8")  # the others still need it
    assert owner.snell("setup", *sharing[:-1], "--uninstall", "--yes")[0] == 0
    assert snapshot(owner.project) == before


def test_a_file_that_cannot_be_written_does_not_keep_the_other_clients_waiting(owner: Owner) -> None:
    owner.settings.chmod(0o400)
    code, out, _ = owner.snell("setup", "claude-code", "codex", "--yes")
    assert code == 1
    assert f"Claude Code: not changed: `{owner.settings}`: is read-only; make it writable with `chmod u+w`" in out
    assert "Codex CLI: installed" in out


def test_a_client_that_is_misspelt_or_has_nothing_at_a_scope_is_told_what_to_do(owner: Owner) -> None:
    code, _, err = owner.snell("setup", "cursr")
    assert (code, "unknown client `cursr`; did you mean `cursor`?" in err) == (1, True)
    code, out, _ = owner.snell("setup", "kimi", "--scope", "project", "--yes")
    assert (code, out.splitlines()[-1]) == (1, "nothing was changed")
    assert "nothing to write at this scope; its hooks are at --scope user" in out


def test_an_agent_cannot_set_up_nor_take_out_and_no_user_can_without_a_terminal_or_yes(owner: Owner) -> None:
    before = snapshot(owner.user_home)
    said = owner.on_terminal("setup", "claude-code", "--yes", CLAUDECODE="1")
    assert "changing a client's configuration needs a person, but this shell belongs to an agent" in said
    assert "needs a person" in owner.on_terminal("setup", "claude-code", "--uninstall", "--yes", CLAUDECODE="1")
    code, _, err = owner.snell("setup", "claude-code")
    assert (code, "needs a person at a terminal" in err) == (1, True)
    assert snapshot(owner.user_home) == before


def test_yes_needs_a_person_too_whatever_the_environment_says(owner: Owner) -> None:
    before = snapshot(owner.user_home)

    def run(*words: str, **env: str) -> tuple[int, str]:
        ends = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        command = [sys.executable, "-m", "snell", "setup", *words]
        # In a session of its own, it has no controlling terminal either, no matter how these tests are run.
        at = {"cwd": owner.project, "env": owner.env | env, "start_new_session": True}
        done = subprocess.run(command, **at, **ends, timeout=100, check=False)
        return done.returncode, done.stdout.decode().splitlines()[-1]

    for words in (("codex", "--yes"), ("codex", "--uninstall", "--yes"), ("--plugin", "plug")):
        code, said = run(*words, SNELL_SETUP_WITHOUT_TERMINAL="1")
        assert (code, "needs a person" in said) == (1, True)
    for marker in AGENT_MARKERS[::9]:
        assert "belongs to an agent" in run("codex", "--yes", **{marker: "x"})[1]
    assert run("codex", "--check")[0] == 1  # looking is free
    assert snapshot(owner.user_home) == before
    assert owner.snell("setup", "codex", "--yes")[0] == 0
    assert (owner.user_home / ".codex" / "hooks.json").is_file()
    assert "removed" in owner.on_terminal("setup", "codex", "--uninstall", "--yes")
    assert snapshot(owner.user_home) == before


def test_a_hook_that_may_wake_the_agent_needs_a_second_entry_and_check_says_so(owner: Owner) -> None:
    before = snapshot(owner.user_home)
    assert owner.snell("setup", "claude-code", "--yes")[0] == 0
    (owner.home / "config").mkdir(exist_ok=True)
    hook = '[[hooks]]\nevent = "PostToolUse"\nasync_rewake = true\n[hooks.command]\ncommand = "true"\n'
    (owner.home / "config" / "snell.toml").write_text(hook, encoding="utf-8")
    assert owner.snell("setup", "claude-code", "--check")[0] == 1
    assert owner.snell("setup", "claude-code", "--yes")[0] == 0
    groups = json.loads(owner.settings.read_bytes())["hooks"]["PostToolUse"]
    assert [group["hooks"][0].get("asyncRewake", False) for group in groups] == [False, True]
    assert owner.snell("setup", "claude-code", "--check")[0] == 0
    assert owner.snell("setup", "claude-code", "--uninstall", "--yes")[0] == 0
    assert snapshot(owner.user_home) == before


@pytest.mark.parametrize("client", [name for name in client_names() if client_named(name).install.command])
def test_harness_is_a_command_of_every_client_that_has_commands_and_starts_the_loop(owner: Owner, client: str) -> None:
    before, path = snapshot(owner.user_home), Path()
    code, out, _ = owner.snell("setup", client, "--yes")
    shown = next(each for each in out.split() if "/harness" in each)
    path = Path(shown.replace("~", str(owner.user_home), 1))
    assert (code, path.is_relative_to(owner.user_home)) == (0, True)
    text = path.read_text(encoding="utf-8")
    sent = tomllib.loads(text)["prompt"] if path.suffix == ".toml" else text.split("---\n")[2].strip()
    typed = sent.replace("$ARGUMENTS", "write it").replace("{{args}}", "write it")
    typed = typed if "write it" in typed else f"{typed}\n\nwrite it"  # these clients append what was typed
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": typed, "cwd": str(owner.project)}
    given = {"cwd": owner.project, "env": owner.env, "given": json.dumps(payload).encode()}
    assert "Work on this until it is done: write it" in run_snell("hook", "--client", "claude-code", **given)[1]
    assert owner.snell("setup", client, "--uninstall", "--yes")[0] == 0
    assert snapshot(owner.user_home) == before


def test_a_command_of_the_users_own_stays_and_does_not_stop_set_up(owner: Owner) -> None:
    mine = owner.user_home / ".claude" / "commands" / "harness.md"
    mine.parent.mkdir()
    mine.write_text("my own\n", encoding="utf-8")
    assert owner.snell("setup", "claude-code", "--yes")[0] == 0
    assert owner.snell("setup", "claude-code", "--check")[0] == 0
    assert owner.snell("setup", "claude-code", "--uninstall", "--yes")[0] == 0
    assert mine.read_text(encoding="utf-8") == "my own\n"
    mine.unlink()
    assert owner.snell("setup", "claude-code", "--yes", "--no-command")[0] == 0
    assert not mine.exists()


SHOWN = """
from snell import Rewrite, rewrites

@rewrites("MessageDisplay")
def quiet(event):
    return Rewrite("...")
"""


MADE = """
from snell import Tell, informs

@informs("WorktreeCreate")
def made(event):
    return Tell("a worktree")
"""


def test_an_event_that_replaces_worktrees_is_registered_only_as_long_as_a_hook_is_for_it(owner: Owner) -> None:
    def registered() -> set[str]:
        assert owner.snell("setup", "claude-code", "--yes")[0] == 0
        assert owner.snell("setup", "claude-code", "--check")[0] == 0
        return {"WorktreeCreate", "WorktreeRemove"} & set(json.loads(owner.settings.read_bytes())["hooks"])

    assert registered() == set()
    owner.write_pack(MADE)
    assert registered() == {"WorktreeCreate", "WorktreeRemove"}
    owner.write_pack("")
    assert owner.snell("setup", "claude-code", "--check")[0] == 1
    assert registered() == set()
    owner.stop_daemon()


def test_an_event_that_is_sent_all_the_time_is_registered_for_a_hook_and_the_doctor_names_one_that_waits(
    owner: Owner,
) -> None:
    def events() -> set[str]:
        return set(json.loads(owner.settings.read_bytes())["hooks"])

    assert owner.snell("setup", "claude-code", "--yes")[0] == 0
    assert {"MessageDisplay", "PostToolBatch"} & events() == set()
    usual = events()
    owner.write_pack(SHOWN)
    told = " ".join(owner.snell("doctor", "--all")[1].split())
    assert "client: claude-code: MessageDisplay is not registered, so `mine/quiet` never runs there" in told
    assert owner.snell("setup", "claude-code", "--check")[0] == 1
    assert owner.snell("setup", "claude-code", "--yes")[0] == 0
    assert events() - usual == {"MessageDisplay"}
    rows = {row["client"]: row for row in json.loads(owner.snell("clients", "--json")[1])}
    assert rows["claude-code"]["installed"] == "yes"
    assert "never runs there" not in owner.snell("doctor", "--all")[1]
    (owner.home / "config" / "snell.toml").write_text("", encoding="utf-8")  # as in a folder without the hook
    assert owner.snell("setup", "claude-code", "--check")[0] == 0
    assert owner.snell("setup", "claude-code", "--yes")[0] == 0
    assert events() - usual == {"MessageDisplay"}
    assert owner.snell("setup", "claude-code", "--uninstall", "--yes")[0] == 0
    assert b"MessageDisplay" not in owner.settings.read_bytes()
    owner.stop_daemon()


def test_a_recording_registers_no_event_that_changes_what_the_client_does(owner: Owner) -> None:
    assert owner.snell("setup", "claude-code", "--yes")[0] == 0
    assert owner.snell("record", "on")[0] == 0
    assert owner.snell("setup", "claude-code", "--check")[0] == 0
    assert "never runs there" not in owner.snell("doctor", "--all")[1]
    owner.stop_daemon()


def test_print_and_json_write_nothing(owner: Owner) -> None:
    before = snapshot(owner.user_home)
    code, out, _ = owner.snell("setup", "cursor", "--print", "--include-mcp", "--no-session-start")
    assert (code, "sessionStart" in out, "mcp.json" in out) == (0, False, True)
    whole = json.loads(owner.snell("setup", "cursor", "--json", "--no-include-mcp")[1])
    assert (whole["client"], whole["mcp_config"]) == ("cursor", None)
    assert snapshot(owner.user_home) == before


def test_taking_out_can_be_looked_at_first_and_leaves_nothing_but_its_lock(owner: Owner) -> None:
    before = snapshot(owner.user_home)
    assert owner.snell("setup", "codex", "cursor", "--yes")[0] == 0
    between = snapshot(owner.user_home)
    code, out, _ = owner.snell("setup", "codex", "cursor", "--uninstall", "--print")
    assert (code, "snell-hook" in out, snapshot(owner.user_home)) == (0, True, between)
    assert owner.snell("setup", "codex", "cursor", "--uninstall", "--yes")[0] == 0
    assert snapshot(owner.user_home) == before
    assert [path.name for path in (owner.home / "state" / "installs").iterdir()] == ["lock"]


def test_check_tells_of_foreign_hooks_and_of_what_is_missing(owner: Owner) -> None:
    mine = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}
    owner.settings.write_text(json.dumps(mine), encoding="utf-8")
    code, out, _ = owner.snell("setup", "claude-code", "--check")
    assert code == 1
    assert out.splitlines() == [
        "Claude Code: not installed; run `snell setup claude-code`",
        f"  {owner.settings}: hooks, status line missing or out of date",
        f"  {owner.settings.parent}/commands/harness.md: command `/harness` missing or out of date",
        "  other hook program: Stop: say done",
    ]


def test_a_malformed_file_is_refused_with_its_line_and_others_are_set_up_all_the_same(owner: Owner) -> None:
    owner.settings.write_text('{\n  "model" "x"\n}', encoding="utf-8")
    code, out, _ = owner.snell("setup", "--yes")
    assert code == 1
    assert f"{owner.settings}:2: a `:` is missing after the key `model`; correct the JSON first" in out
    assert "Codex CLI: installed" in out
    code, out, _ = owner.snell("setup", "--check")
    config = ".codex/config.toml`; " + "; ".join(find_install("codex").after)
    assert (code, out.splitlines()) == (
        1,
        [
            "Claude Code: cannot tell",
            f"  {owner.settings}:2: a `:` is missing after the key `model`; correct the JSON first",
            "Codex CLI: installed and up to date, but not approved",
            f"  not approved: the client skips these hooks; the approval is missing in `{owner.user_home}/{config}",
        ],
    )
    assert owner.settings.read_text(encoding="utf-8") == '{\n  "model" "x"\n}'


def test_a_project_is_set_up_where_its_repository_begins(owner: Owner) -> None:
    (owner.project / "deep").mkdir()
    assert owner.snell("setup", "codex", "--scope", "project", "--yes", cwd="deep")[0] == 0
    assert (owner.project / ".codex" / "hooks.json").is_file()
    assert "nothing to write at this scope" in owner.snell("setup", "kimi", "--scope", "project", "--yes")[1]
    assert "Kimi Code has no local" in owner.snell("setup", "kimi", "--scope", "local")[2]


@pytest.mark.proves("S4-107", "S4-115")
def test_a_plugin_folder_is_written_and_never_over_something_else(owner: Owner) -> None:
    code, out, _ = owner.snell("setup", "claude-code", "--plugin", "plug")
    assert (code, out.splitlines()[-1]) == (0, "next: claude --plugin-dir plug")
    manifest = json.loads((owner.project / "plug/.claude-plugin/plugin.json").read_bytes())
    assert {"name", "version", "author"} <= manifest.keys()
    assert owner.snell("setup", "claude-code", "--plugin", "plug")[0] == 0
    owner.write("other/file", "x")
    owner.write("theirs/.claude-plugin/plugin.json", '{"name": "theirs"}')
    for folder in ("other", "theirs"):
        assert "is not empty, and is not a Snell plugin; choose" in owner.snell("setup", "--plugin", folder)[2]


def test_a_home_without_anything_has_no_clients_to_set_up(owner: Owner, tmp_path: Path) -> None:
    for path in (owner.settings, owner.settings.parent, owner.user_home / ".codex"):
        path.unlink() if path.is_file() else path.rmdir()
    code, out, _ = owner.snell("setup")
    assert (code, out.startswith("no client was found on this machine")) == (1, True)


def test_import_shows_what_a_client_has_and_what_it_would_be(owner: Owner) -> None:
    groups = [
        {
            "matcher": "Bash",
            "hooks": [
                {"type": "command", "command": "./check.sh", "timeout": 7, "if": "Bash(git *)"},
                {"type": "prompt", "prompt": "Is it safe?"},
                {"type": "command", "command": "/x/snell-hook", "args": ["--client", "claude-code"]},
            ],
        }
    ]
    owner.settings.write_text(json.dumps({"hooks": {"PreToolUse": groups}}), encoding="utf-8")
    code, out, _ = owner.snell("import", "claude")
    assert code == 0
    assert f"{owner.settings}: 2 hooks besides Snell's own" in out
    assert "PreToolUse on Bash, command, at most 7 s, only if Bash(git *)\n" in out
    assert "PreToolUse on Bash, prompt, at most 30 s\n      Is it safe?\n" in out
    assert 'import_hooks = ["claude-code"]' in out
    found = json.loads(owner.snell("import", "claude-code", "--json")[1])
    assert [hook["runs"] for file in found["files"] for hook in file["hooks"]] == ["./check.sh", "Is it safe?"]
    assert "hooks of `emacs` cannot be imported; supported: claude-code" in owner.snell("import", "emacs")[2]


def test_a_new_client_is_written_in_a_checkout_only(owner: Owner) -> None:
    assert "is not a checkout of Snell; a client is part of Snell" in owner.snell("new", "client", "other")[2]
