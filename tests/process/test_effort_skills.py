"""The skill of an effort: its phases and templates, from the command line, the socket and the start of a session."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fork_server import run_snell
from tests.process.machine import Machine

pytest_plugins = ("tests.process.machine_fixtures",)

SHIP = """---
name: ship
phases: ["1: Plan", "2: Build"]
templates: [LOG.md, ../../../secret.md, absent.md]
---
How to ship.
"""


def write_ship(folder: Path, text: str = SHIP) -> Path:
    (folder / "ship").mkdir(parents=True)
    (folder / "ship/LOG.md").write_text("the form of a log", encoding="utf-8")
    (folder / "ship/SKILL.md").write_text(text, encoding="utf-8")
    return folder / "ship"


@pytest.fixture
def snell(machine: Machine) -> Callable[..., tuple[int, str, str]]:
    """Run `snell` in the project of a machine whose daemon runs."""
    machine.hook()
    return lambda *words: run_snell(*words, cwd=machine.project, env=machine.env(), given=b"")


def session_start(machine: Machine, window: str) -> dict[str, Any]:
    """Return what the remote call `hooks.sessionStart` answers."""
    given = {"sessionId": window, "transcriptPath": "/t", "cwd": str(machine.project), "source": "startup"}
    return machine.ask(json.dumps({"cmd": "hooks.sessionStart", "args": given}))[0]["data"]


def start_text(machine: Machine, window: str) -> str:
    """Return what the model gets at the start of a window."""
    return machine.hook({"hook_event_name": "SessionStart", "session_id": window, "source": "startup"})[1]


@pytest.mark.proves("S2-05", "S2-07", "S2-52", "S2-53")
def test_the_skill_of_an_effort_is_read_from_a_trusted_project(machine, snell):
    folder = write_ship(machine.project / ".cursor/skills")
    (machine.project.parent / "secret.md").write_text("secret", encoding="utf-8")
    before = json.loads(snell("effort", "start", "early", "ship", "--json")[1])
    assert (before["skillConfig"], "not trusted" in before["skillProblem"]) == (None, True)
    assert "not trusted" in snell("effort", "start", "early", "ship")[1]
    assert "not trusted" in json.loads(snell("effort", "resume", "--json")[1])["skillProblem"]
    told = session_start(machine, "w1")
    assert (told["skillConfig"], told["filesToPreload"], "snell trust" in told["skillProblem"]) == (None, [], True)
    assert snell("phase", "3: Ship")[0] == 0  # nothing of the project is used
    snell("effort", "finish")
    digest = json.loads(snell("trust", "--json")[1])["digest"]
    assert snell("trust", "--hash", digest)[0] == 0
    started = snell("effort", "start", "late", "ship")
    assert (started[0], "phases 1: Plan, 2: Build" in started[1]) == (0, True)
    told = session_start(machine, "w2")
    assert (told["skillConfig"]["phases"], told["skillProblem"]) == (
        [{"label": "1", "name": "Plan"}, {"label": "2", "name": "Build"}],
        None,
    )
    assert told["filesToPreload"] == [str(folder / "LOG.md")]
    assert "the form of a log" in start_text(machine, "w3")
    resumed = json.loads(snell("effort", "resume", "--json")[1])
    assert ({**resumed["skillConfig"], "updatedAt": 0}, resumed["skillProblem"]) == (
        {**told["skillConfig"], "updatedAt": 0},
        None,
    )
    assert "phases 1: Plan, 2: Build" in snell("effort", "resume")[1]
    assert snell("phase", "1: Plan")[0] == 0
    code, _, err = snell("phase", "3: Ship")
    assert (code, err) == (1, "snell: there is no phase `3`; there are 1, 2\n")


@pytest.mark.parametrize("way", ["start", "resume", "new window"])
def test_an_effort_that_began_before_the_project_was_trusted_gets_the_phases_later(machine, snell, way):
    write_ship(machine.project / ".claude/skills")
    snell("effort", "start", "t", "ship")
    assert snell("phase", "9: Anything")[0] == 0
    digest = json.loads(snell("trust", "--json")[1])["digest"]
    assert snell("trust", "--hash", digest)[0] == 0
    match way:
        case "start":
            snell("effort", "start", "t", "ship")
        case "resume":
            snell("effort", "resume")
        case _:
            session_start(machine, "w1")
    assert snell("phase", "3: Ship")[::2] == (1, "snell: there is no phase `3`; there are 1, 2\n")
    assert snell("phase", "1: Plan")[0] == 0


@pytest.mark.proves("S2-53")
def test_the_skill_of_an_effort_may_be_the_users_own(machine, snell):
    write_ship(machine.home / ".claude/skills", "---\nname: ship\n---\n## 1. Plan\n## 2. Build\n")
    started = json.loads(snell("effort", "start", "t", "ship", "--json")[1])
    assert [each["name"] for each in started["skillConfig"]["phases"]] == ["Plan", "Build"]
    assert "there is no phase `3`" in snell("phase", "3: Ship")[2]
    other = json.loads(snell("effort", "start", "t", "unknown", "--json")[1])
    assert (other["skillConfig"], other["skillProblem"][:27]) == (None, "no skill `unknown` was found"[:27])


@pytest.mark.parametrize(
    "text", ["", "---", "---\nphases: 3\ntemplates: {a: 1}\nname: [x]\n---\n", "\x00", "## 1.\n" * 99]
)
def test_a_strange_skill_file_starts_an_effort_all_the_same(machine, snell, text):
    write_ship(machine.home / ".claude/skills", text)
    assert snell("effort", "start", "t", "ship")[0] == 0
    assert session_start(machine, "w1")["found"] is True


@pytest.mark.proves("S2-119")
def test_a_skill_that_was_changed_is_read_anew(machine, snell):
    path = write_ship(machine.home / ".claude/skills", "---\nname: ship\n---\n## 1. Plan\n## 2. Build\n") / "SKILL.md"
    snell("effort", "start", "t", "ship")

    def phases(window: str) -> list[str]:
        return [each["name"] for each in session_start(machine, window)["skillConfig"]["phases"]]

    assert phases("w1") == ["Plan", "Build"]
    path.write_text("---\nname: ship\n---\n## 1. Plan\n## 2. Build\n## 3. Ship\n", encoding="utf-8")
    machine.hook({"hook_event_name": "ConfigChange", "source": "skills", "file_path": str(path)})
    assert phases("w2") == ["Plan", "Build", "Ship"]


@pytest.mark.proves("S2-119")
def test_a_prompt_comes_with_the_document_that_a_skill_has_now(machine):
    def told(window: str, prompt: str) -> str:
        return machine.hook({"hook_event_name": "UserPromptSubmit", "session_id": window, "prompt": prompt})[1]

    text = "---\nname: ship\ntriggers: [{0}]\n---\nSend it by {0}.\n"
    path = write_ship(machine.home / ".claude/skills", text.format("rocket")) / "SKILL.md"
    assert "Send it by rocket." in told("w1", "use the rocket")
    path.write_text(text.format("zeppelin"), encoding="utf-8")
    machine.hook({"hook_event_name": "ConfigChange", "source": "skills", "file_path": str(path)})
    assert "Send it by zeppelin." in told("w2", "use the zeppelin")
    assert "Send it by" not in told("w3", "use the rocket")
