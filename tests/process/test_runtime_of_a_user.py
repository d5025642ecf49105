"""The runtime that settings describe, with real files, a real worker and real commands."""

import itertools
import os
import textwrap
from pathlib import Path

import pytest
import regex

from snell import Note, informs
from snell.engine.explain import explain
from snell.model.effects import Verdict
from snell.model.events import event_from
from snell.runtime.app import Runtime
from snell.settings.trust import approve, review
from snell.system.paths import Places
from tests.waiting import wait_until

PATH = "/usr/local/bin:/usr/bin:/bin"


class Home:
    """A person with a home, a project and a runtime."""

    def __init__(self, folder: Path) -> None:
        self.where = Places(folder / "config", folder / "state", folder / "run")
        self.project = folder / "project"
        self.env = {"PATH": PATH, "HOME": str(folder)}
        self.project.mkdir()
        self.runtime = Runtime.for_user(self.env, self.where)

    def write(self, name: str, text: str) -> Path:
        """Write a file under the project, or under the config folder with a leading `~`."""
        path = self.where.config / name[2:] if name.startswith("~/") else self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def trust(self) -> None:
        approve(self.where, self.project, [review(self.where, self.project, self.env).digest], self.env)

    def call(self, command: str = "ls", name: str = "PreToolUse", **fields):
        payload = {"session_id": "s", "cwd": str(self.project), "tool_name": "Bash", "tool_input": {"command": command}}
        event = event_from(payload | fields, name)
        return self.runtime.decide(event)

    def problems(self) -> list[str]:
        return self.runtime.context_for(event_from({"cwd": str(self.project)}, "SessionStart")).problems


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    yield home
    home.runtime.close()


DENY_LS = """
    from snell import Deny, judges

    @judges("PreToolUse", kind="shell")
    def no_ls(call):
        return Deny("{reason}") if call.command == "ls" else None
    """


@pytest.mark.proves("S1-112")
def test_a_projects_python_hook_is_inert_until_it_is_trusted_and_after_a_changed_byte(home):
    home.write(".snell/hooks/rules.py", DENY_LS.format(reason="one"))
    verdicts = [home.call().verdict]
    home.trust()
    verdicts.append(home.call().verdict)
    home.write(".snell/hooks/rules.py", DENY_LS.format(reason="two"))
    verdicts.append(home.call().verdict)
    assert verdicts == [Verdict.NO_OPINION, Verdict.DENY, Verdict.NO_OPINION]
    assert any("rules.py" in problem and "snell trust" in problem for problem in home.problems())
    home.trust()
    assert home.call().reason == "two"


def test_a_users_settings_are_read_again_when_they_change_and_marks_stay(home):
    hook = '[[hooks]]\nname = "o"\nevent = "PreToolUse"\nonce = true\n[hooks.command]\ncommand = "{}"\n'
    home.write("~/snell.toml", hook.format("exit 0"))
    first = home.call()
    home.write("~/snell.toml", hook.format("exit 2") + '[[hooks]]\nevent = "PreToolUse"\ncommand = "exit 2"\n')
    second = home.call()
    assert [len(first.rounds[0].hooks), first.verdict] == [1, Verdict.NO_OPINION]
    assert [hook.id for _, hook, _ in second.runs()] != ["o"]
    assert "o" not in [hook.id for _, hook, _ in second.runs()]
    assert second.verdict is Verdict.DENY


@pytest.mark.proves("S1-35")
def test_a_pattern_is_compiled_when_the_settings_are_read_and_not_for_each_event(home, monkeypatch):
    made, compile_pattern = [], regex.compile
    monkeypatch.setattr(regex, "compile", lambda text, *flags: made.append(text) or compile_pattern(text, *flags))
    home.write("~/snell.toml", '[[hooks]]\nevent = "PreToolUse"\nmatcher = "^mcp__.*"\ncommand = "true"\n')
    home.call()
    assert "^mcp__.*" in made

    numbers = itertools.count()

    def is_known() -> bool:
        made.clear()
        home.call(tool_name=f"Tool{next(numbers)}")
        return made == []

    assert wait_until(is_known, 20)  # a file that was just written is read again


@pytest.mark.proves("S1-102", "S1-105")
def test_what_is_registered_at_run_time_comes_after_the_files_and_outlives_their_change(home):
    @informs("PreToolUse")
    def registered():
        return Note("registered")

    hook = """[[hooks]]\nevent = "PreToolUse"\ncommand = '''echo '{{"additionalContext": "{}"}}''''\n"""
    home.runtime.register(registered)
    for file, name in (
        ("~/snell.toml", "user"),
        (".snell/snell.toml", "project"),
        (".snell/snell.local.toml", "local"),
    ):
        home.write(file, hook.format(name))
    home.trust()
    assert home.call().note.split() == ["user", "project", "local", "registered"]
    home.write("~/snell.toml", hook.format("changed"))
    assert home.call().note.split() == ["changed", "project", "local", "registered"]


@pytest.mark.proves("S1-102")
def test_a_hook_that_is_registered_between_two_events_runs_until_it_is_removed(home):
    @informs("PreToolUse")
    def registered():
        return Note("registered")

    notes = [home.call().note]
    home.runtime.register(registered, group="more")
    notes.append(home.call().note)
    home.runtime.unregister(group="more")
    assert [*notes, home.call().note] == ["", "registered", ""]


def test_a_python_hook_that_no_longer_loads_keeps_its_last_good_version(home):
    home.write("~/pack/pack.toml", 'name = "mine"\n')
    home.write("~/snell.toml", 'packs = ["pack"]\n')
    file = home.write("~/pack/rules.py", DENY_LS.format(reason="good"))
    assert home.call().reason == "good"
    file.write_text("def half(:", encoding="utf-8")
    home.write("~/snell.toml", 'packs = ["pack"]\n# touched\n')
    assert home.call().reason == "good"
    assert any("last version that loaded stays in force" in problem for problem in home.problems())


def test_a_command_hook_of_a_user_and_one_of_the_policy_both_count(home, tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text('[[hooks]]\nname="p"\nevent="PreToolUse"\ncommand="echo from policy >&2; exit 2"\n', "utf-8")
    home.write("~/snell.toml", '[[hooks]]\nname="u"\nevent="PreToolUse"\ncommand="touch ran; exit 0"\n')
    assert home.call().verdict is Verdict.NO_OPINION
    runtime = Runtime.for_user(home.env | {"SNELL_POLICY": str(policy)}, home.where)
    (home.project / "ran").unlink()
    event = event_from({"session_id": "s", "cwd": str(home.project), "tool_name": "Bash"}, "PreToolUse")
    decision = runtime.decide(event)
    runtime.close()
    assert (decision.reason, decision.skipped[-1].hook) == ("from policy", "u")
    assert not (home.project / "ran").exists()


def test_a_policy_that_cannot_be_read_blocks_and_says_so(home, tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text("[[hooks\n", encoding="utf-8")
    runtime = Runtime.for_user(home.env | {"SNELL_POLICY": str(policy)}, home.where)
    event = event_from({"session_id": "s", "cwd": str(home.project), "tool_name": "Bash"}, "PreToolUse")
    decision = runtime.decide(event)
    runtime.close()
    assert decision.verdict is Verdict.DENY
    assert str(policy) in decision.reason


def test_a_malformed_file_of_the_user_takes_nothing_else_down(home):
    home.write("~/snell.toml", "this is = not [ toml")
    home.write("~/hooks.toml", '[[hooks]]\nevent="PreToolUse"\ncommand="exit 2"\n')
    assert home.call().verdict is Verdict.DENY
    assert any("snell.toml:1" in problem for problem in home.problems())


def test_hooks_imported_from_claude_code_run_in_other_clients_and_not_twice_in_it(home):
    (home.project.parent / ".claude").mkdir()
    settings = home.project.parent / ".claude/settings.json"
    settings.write_text('{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}}', "utf-8")
    home.write("~/snell.toml", "import_claude = true\n")
    payload = {"session_id": "s", "cwd": str(home.project), "tool_name": "Bash"}
    verdicts = {
        client: home.runtime.decide(event_from(payload, "PreToolUse", client)).verdict
        for client in ("generic", "claude_code")
    }
    assert verdicts == {"generic": Verdict.DENY, "claude_code": Verdict.NO_OPINION}


def test_a_journal_that_cannot_be_written_costs_no_caller_an_answer(home):
    home.write("~/hooks.toml", '[[hooks]]\nevent="PreToolUse"\ncommand="exit 2"\n')
    home.where.state.parent.mkdir(exist_ok=True)
    home.where.state.write_text("a file where the folder should be", encoding="utf-8")
    assert home.call().verdict is Verdict.DENY
    assert "journal" in home.runtime.journal.problem


def test_a_watcher_that_fails_is_in_the_record_of_its_decision(home):
    watcher = '[[hooks]]\nname="w"\nevent="PreToolUse"\nrole="watches"\ncommand="echo broken >&2; exit 1"\n'
    home.write("~/hooks.toml", watcher)
    decision = home.call()
    home.runtime.close()
    late = home.runtime.journal.find(decision.id)["late"]
    assert [(run["hook"], run["status"], run["failure"]["message"]) for run in late] == [
        ("w", "non_blocking_error", "exit code 1: broken")
    ]
    assert "exit code 1: broken" in explain(home.runtime.journal.find(decision.id))


@pytest.mark.proves("S1-25")
def test_the_json_that_a_command_gets_holds_nothing_of_the_environment(home, monkeypatch):
    monkeypatch.setenv("OF_THE_DAEMON", "hush-too")
    home.runtime.close()
    home.runtime = Runtime.for_user(home.env | {"MY_TOKEN": "hush-hush", "LD_PRELOAD": "/evil.so"}, home.where)
    command = 'cat > seen; echo "$MY_TOKEN/$LD_PRELOAD" > inherited'
    home.write("~/hooks.toml", f"[[hooks]]\nevent='PreToolUse'\n[hooks.command]\ncommand='{command}'\n")
    home.call()
    seen = (home.project / "seen").read_text(encoding="utf-8")
    assert ("PreToolUse" in seen, "hush-hush" in seen, "hush-too" in seen) == (True, False, False)
    assert (home.project / "inherited").read_text(encoding="utf-8") == "hush-hush/\n"


def test_the_start_of_a_session_tells_what_is_wrong_with_the_settings(home):
    home.write("~/snell.toml", '[[hooks]]\nevent = "PreToolUs"\ncommand = "x"\n')
    start = home.call(name="SessionStart", source="startup")
    assert ["did you mean `PreToolUse`" in tell.text for tell in start.tells] == [True]
    assert home.call(name="SessionEnd").tells == ()


def test_records_are_readable_by_their_owner_only_and_hold_no_secret(home):
    token = "ghp_" + "a1B2c3D4e5" * 4
    decision = home.call(f"curl -H 'Authorization: Bearer {token}' https://example.org")
    home.runtime.close()
    files = [path for path in home.where.state.iterdir() if path.is_file()]
    assert {oct(os.stat(file).st_mode & 0o777) for file in files} == {"0o600"}
    assert not any(token.encode() in file.read_bytes() for file in files)
    assert "redacted" in str(home.runtime.journal.find(decision.id)["value"])


def test_what_a_once_hook_has_used_up_survives_the_process(home):
    home.write("~/hooks.toml", '[[hooks]]\nname="o"\nevent="UserPromptSubmit"\nonce=true\ncommand="echo hello"\n')
    texts = [home.call(name="UserPromptSubmit").note]
    home.runtime.close()
    home.runtime = Runtime.for_user(home.env, home.where)
    texts.append(home.call(name="UserPromptSubmit").note)
    texts.append(home.call(name="UserPromptSubmit", session_id="another").note)
    assert texts == ["hello", "", "hello"]


def test_a_guard_that_was_to_block_when_it_fails_blocks_when_it_cannot_be_read(home):
    guard = '[[hooks]]\nevent="PreToolUse"\non_failure="block"\nif="Bash(ls"\ncommand="true"\n'
    home.write("~/hooks.toml", guard)
    assert home.call().verdict is Verdict.DENY
    home.write("~/hooks.toml", guard.replace("block", "allow"))
    assert home.call().verdict is Verdict.NO_OPINION
