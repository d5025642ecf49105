"""In durable mode a push or a deployment happens once for each version; through the real `snell-hook`."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.fork_server import run_snell
from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
DOCKER = """#!/bin/sh
cat "$HOME/image-$6"
"""


class Agent:
    """Runs shell commands: each is asked about, and reported as done if it may run."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self.machine, self.number = machine, 0
        self.path = f"{folder / 'bin'}:/usr/bin:/bin"

    def may_run(self, command: str) -> bool:
        self.number += 1
        call = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"t{self.number}"}
        code, out, err = self.machine.hook({"hook_event_name": "PreToolUse", **call}, PATH=self.path)
        assert (code, err) == (0, "")
        if '"deny"' in out:
            assert "succeeded, so it is not done twice" in out
            return False
        done = {"hook_event_name": "PostToolUse", **call, "tool_response": {"stdout": "ok", "stderr": ""}}
        assert self.machine.hook(done, PATH=self.path)[::2] == (0, "")
        return True


@pytest.fixture
def agent(machine: Machine, tmp_path: Path) -> Agent:
    machine.write("snell.toml", '[pack.ledger]\nmode = "durable"\n[pack.guard]\nenabled = false\n')
    (tmp_path / "bin").mkdir()
    docker = tmp_path / "bin/docker"
    docker.write_text(DOCKER, encoding="utf-8")
    docker.chmod(0o755)
    return Agent(machine, tmp_path)


def commit(folder: Path, text: str) -> None:
    (folder / "a.txt").write_text(text, encoding="utf-8")
    user = ("-c", "user.name=n", "-c", "user.email=e@example.com")
    for words in (("init", "-q"), ("add", "a.txt"), (*user, "commit", "-q", "-m", text)):
        subprocess.run(["git", "-C", folder, *words], check=True, env={"PATH": "/usr/bin:/bin", "HOME": str(folder)})


@pytest.mark.proves("S3-42", "S3-43")
@pytest.mark.parametrize(
    "command", ["git push origin main", "npm publish", "kubectl apply -f a.yaml", "cd sub && git push"]
)
def test_the_same_push_or_deployment_is_refused_until_there_is_a_new_commit(agent: Agent, command: str):
    folder = agent.machine.project / ("sub" if "sub" in command else "")
    folder.mkdir(exist_ok=True)
    commit(folder, "one")
    assert [agent.may_run(command) for _ in range(2)] == [True, False]
    commit(folder, "two")
    assert [agent.may_run(command) for _ in range(3)] == [True, False, False]


@pytest.mark.proves("S3-42")
def test_a_deployment_of_changed_files_is_a_new_one_and_a_push_of_them_is_not(agent: Agent):
    commit(agent.machine.project, "one")
    assert agent.may_run("git push")
    assert agent.may_run("fly deploy")
    (agent.machine.project / "a.txt").write_text("changed", encoding="utf-8")
    assert (agent.may_run("git push"), agent.may_run("fly deploy"), agent.may_run("fly deploy")) == (False, True, False)


@pytest.mark.proves("S3-42")
@pytest.mark.parametrize("has_git", [True, False])
def test_a_deployment_of_files_that_git_does_not_track_is_a_new_one_when_they_change(agent: Agent, has_git: bool):
    (agent.machine.project / ".gitignore").write_text("*.tgz", encoding="utf-8")
    if has_git:
        commit(agent.machine.project, "one")
    for command, name in {"kubectl apply --filename=a.yaml": "a.yaml", "scp a.tgz host:": "a.tgz"}.items():
        for text in ("one", "changed"):
            (agent.machine.project / name).write_text(text, encoding="utf-8")
            assert [agent.may_run(command) for _ in range(2)] == [True, False]
    (agent.machine.project / "new.txt").write_text("new", encoding="utf-8")
    assert agent.may_run("fly deploy")
    (agent.machine.project / "new.txt").write_text("newer", encoding="utf-8")
    assert [agent.may_run("fly deploy") for _ in range(2)] == [has_git, False]


@pytest.mark.proves("S3-42")
def test_an_image_is_pushed_once_for_each_id(agent: Agent):
    image = agent.machine.home / "image-shop:1"
    image.write_text("sha256:1", encoding="utf-8")
    assert [agent.may_run("docker push shop:1") for _ in range(2)] == [True, False]
    image.write_text("sha256:2", encoding="utf-8")
    assert [agent.may_run("docker push shop:1") for _ in range(2)] == [True, False]
    image.unlink()
    assert [agent.may_run("docker push shop:1") for _ in range(2)] == [True, False]


def test_what_only_sends_a_message_is_no_new_effect_unless_a_policy_says_so(agent: Agent):
    commit(agent.machine.project, "one")
    hook = "curl -X POST https://example.com/hooks/build"
    assert [agent.may_run(hook), agent.may_run(hook)] == [True, False]
    commit(agent.machine.project, "two")
    assert not agent.may_run(hook)
    agent.machine.write("ledger.toml", '[[renewed]]\nid = "b"\ncommand = "curl .*/hooks/build.*"\nby = "commits"\n')
    assert [agent.may_run(hook), agent.may_run(hook)] == [True, False]
    commit(agent.machine.project, "three")
    assert agent.may_run(hook)


@pytest.mark.proves("S3-31", "S3-32")
@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("cd sub && touch z", ["sub/z"]),
        ("(cd sub; touch z); touch y", ["sub/z", "y"]),
        ("pushd sub; echo 1 > z; popd; touch y", ["sub/z", "y"]),
        ("cd sub/../other && touch /abs ./z", ["/abs", "other/z"]),
        ("cd $X && touch z", ["z"]),
    ],
)
def test_the_paths_of_a_command_behind_cd_are_those_of_its_folder(agent: Agent, command: str, paths: list[str]):
    assert agent.may_run(command)

    def show() -> str:  # the row is written after the reply
        env = agent.machine.env()
        return run_snell("ledger", "show", "t1", "--json", cwd=agent.machine.project, env=env)[1]

    assert json.loads(json.loads(wait_until(show))["intent"]) == paths
