"""A home that cannot be used still gives a decision, by the user's usual settings."""

import json
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from snell.daemon.client import ask
from snell.model.errors import SnellError
from snell.system.paths import HomeInProjectError, approve_home, drop_unusable_homes, places
from tests.faults.namespaces import alone
from tests.process.author import Author
from tests.process.machine import CALL, HOOK

DENIED = {**CALL, "tool_input": {"command": "rm -rf /"}}
GUARD = '[[hooks]]\nname = "mine"\nevent = "PreToolUse"\ncommand = "echo usual settings >&2; exit 2"\n'
OPEN = "disable_all_hooks = true\n"
_USED: list[dict[str, str]] = []  # the environments in which a test ran `snell-hook`, which may start a daemon


@pytest.fixture(autouse=True)
def daemons_end_with_their_test() -> Iterator[None]:
    yield
    while _USED:
        env = _USED.pop()
        drop_unusable_homes(env)
        with suppress(SnellError):
            ask(places(env).run, "stop")


def answer(cwd: Path, payload: dict[str, object], **env: str) -> tuple[int, str, str]:
    _USED.append(dict(env))
    done = subprocess.run(
        [HOOK, "--client", "claude-code"],
        input=json.dumps({**payload, "cwd": str(cwd)}).encode(),
        env={"PATH": "/usr/bin:/bin", **env},
        cwd=cwd,
        capture_output=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_relative_snell_home_gives_a_decision_by_the_usual_settings(tmp_path: Path):
    config = tmp_path / ".config" / "snell"
    config.mkdir(parents=True)
    (config / "snell.toml").write_text(GUARD, encoding="utf-8")
    project = tmp_path / "project"
    (project / "here" / "config").mkdir(parents=True)
    (project / "here" / "config" / "snell.toml").write_text(OPEN, encoding="utf-8")
    code, out, err = answer(project, dict(CALL), SNELL_HOME="here", HOME=str(tmp_path))
    assert (code, "usual settings" in out, "SNELL_HOME is `here`" in err) == (0, True, True)
    code, out, _ = answer(project, DENIED, SNELL_HOME="here", HOME=str(tmp_path))
    assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert os.listdir(project / "here") == ["config"]


def test_a_snell_home_that_is_another_folder_in_each_process_gives_a_decision(tmp_path: Path):
    code, out, err = answer(tmp_path, DENIED, SNELL_HOME="/proc/self/cwd/x", HOME=str(tmp_path))
    assert (code, json.loads(out)["hookSpecificOutput"]["permissionDecision"]) == (0, "deny")
    assert "SNELL_HOME is `/proc/self/cwd/x`" in err
    assert not (tmp_path / "x").exists() or os.listdir(tmp_path / "x") == ["run"]


def test_a_relative_home_gives_a_decision(tmp_path: Path):
    code, out, err = answer(tmp_path, DENIED, HOME="here", XDG_CONFIG_HOME=str(tmp_path), XDG_STATE_HOME=str(tmp_path))
    assert (code, json.loads(out)["hookSpecificOutput"]["permissionDecision"]) == (0, "deny"), err
    env = {"HOME": "here"}
    assert "not an absolute path" in drop_unusable_homes(env)
    assert env == {"HOME": pwd.getpwuid(os.geteuid()).pw_dir}


@pytest.mark.parametrize("mark", [".git", ".snell", ".claude", "itself"])
def test_a_snell_home_that_a_project_brings_is_not_the_users_own(tmp_path: Path, mark: str):
    config = tmp_path / ".config" / "snell"
    config.mkdir(parents=True)
    (config / "snell.toml").write_text(GUARD, encoding="utf-8")
    project = tmp_path / "project"
    (project / (".git" if mark == "itself" else mark)).mkdir(parents=True)
    home = {".snell": project / ".snell", "itself": project}.get(mark, project / "tools" / "home")
    (home / "config").mkdir(parents=True)
    (home / "config" / "snell.toml").write_text(OPEN, encoding="utf-8")
    env = {"SNELL_HOME": str(home), "HOME": str(tmp_path)}
    code, out, err = answer(project, dict(CALL), **env)
    assert (code, "usual settings" in out, "inside the project" in err) == (0, True, True)
    with pytest.raises(HomeInProjectError):
        places(env)
    approve_home(env)
    assert places(env).config == home / "config"


def test_a_snell_home_beside_a_project_or_in_the_home_folder_is_the_users_own(tmp_path: Path):
    (tmp_path / ".git").mkdir()  # of the user's own settings, as in a home that is kept in git
    (tmp_path / "project" / ".git").mkdir(parents=True)
    env = {"SNELL_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    assert places(env).config == tmp_path / "home" / "config"


def test_a_link_does_not_hide_that_snell_home_is_inside_a_project(tmp_path: Path):
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "project" / "home").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "project" / "home")
    with pytest.raises(HomeInProjectError):
        places({"SNELL_HOME": str(tmp_path / "link"), "HOME": str(tmp_path)})


def test_a_person_at_a_terminal_may_approve_a_home_inside_a_project(tmp_path: Path):
    author = Author(tmp_path)
    (author.project / "LOCAL.md").write_text("mine", encoding="utf-8")
    home = {"SNELL_HOME": str(author.project / "inner"), "HOME": str(tmp_path)}
    assert "inside the project" in author.on_terminal("trust", "--list", typed="n\n", **home)
    assert "needs a person" in author.on_terminal("trust", "--list", typed="y\n", CLAUDECODE="1", **home)
    with pytest.raises(HomeInProjectError):
        places(home)
    shown = author.on_terminal("trust", "--list", typed="y\n", **home)
    assert "LOCAL.md  [new]" in shown
    assert places(home).config == author.project / "inner" / "config"


def test_a_home_too_long_for_a_socket_has_a_daemon_all_the_same(tmp_path: Path):
    home = tmp_path / ("long" * 35)
    home.mkdir()
    env = {"HOME": str(home)}
    run = places(env).run
    try:
        answers = [answer(tmp_path, DENIED, **env) for _ in range(2)]
        verdicts = [json.loads(out)["hookSpecificOutput"]["permissionDecision"] for _, out, _ in answers]
        assert (verdicts, [err for *_, err in answers]) == (["deny", "deny"], ["", ""])
        assert ask(run, "status")["served"] == 2
        assert (home / ".local/state/snell/snell.db").exists()
        ask(run, "stop")
    finally:
        shutil.rmtree(run, ignore_errors=True)


READ_ONLY = """
import json, subprocess, sys
from snell.daemon.client import ask
from snell.model.errors import SnellError
from snell.system.paths import places
home, hook, snell = sys.argv[1:]
subprocess.run(["mount", "--bind", home, home], check=True)
subprocess.run(["mount", "-o", "remount,ro,bind", home], check=True)
env = {"HOME": home, "SNELL_HOME": home, "PATH": "/usr/bin:/bin"}
def fire(name):
    payload = {"hook_event_name": name, "session_id": "s", "source": "startup", "cwd": "/", "tool_name": "Bash",
               "tool_input": {"command": "rm -rf /"}}
    done = subprocess.run([hook, "--client", "claude-code"], input=json.dumps(payload), env=env, cwd="/",
                          capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr
answers = [fire("SessionStart"), fire("PreToolUse"), fire("PreToolUse")]
run = places(env).run
served = ask(run, "status")["served"]
doctor = subprocess.run([snell, "doctor"], env=env, cwd="/", capture_output=True, text=True, timeout=120).stdout
ask(run, "stop")
subprocess.run(["rm", "-rf", str(run)], check=True)
print(json.dumps({"answers": answers, "served": served, "run": str(run), "doctor": doctor}))
"""


def test_a_home_that_cannot_be_written_has_a_daemon_that_says_so(tmp_path: Path):
    home = tmp_path / "home"
    (home / "config").mkdir(parents=True)
    found = alone(sys.executable, "-c", READ_ONLY, str(home), str(HOOK), str(HOOK.with_name("snell")))
    (_, first, _), *others = found["answers"]
    assert ("nothing is recorded" in first, "it is read-only" in first) == (True, True)
    verdicts = [json.loads(out)["hookSpecificOutput"]["permissionDecision"] for _, out, _ in others]
    assert (verdicts, [err for *_, err in found["answers"]]) == (["deny", "deny"], [""] * 3)
    assert (found["served"], found["run"].startswith("/tmp/snell-")) == (3, True)
    assert "until then no decision is stored" in found["doctor"]
