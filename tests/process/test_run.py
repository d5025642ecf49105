"""`snell run`: an agent that loses its context comes back and knows what it did. Real processes, a real daemon."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from snell.system.supervisor import GRACE
from tests.fork_server import run_snell
from tests.waiting import wait_until

AGENT = Path(__file__).with_name("work_agent.py")


class Desk:
    """A home with a daemon, and a project."""

    def __init__(self, folder: Path) -> None:
        self.home = str(folder / "h")
        self.project = folder / "project"
        self.project.mkdir()
        self.notes = folder / "notes"
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder), "SNELL_HOME": self.home}

    def start(self, *words: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "snell", *words],
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def snell(self, *words: str) -> tuple[int, str, str]:
        return run_snell(*words, cwd=self.project, env=self.env, timeout=110)

    def run(self, part: str, *words: str, restarts: int = 10) -> tuple[int, str, str]:
        agent = [sys.executable, str(AGENT), part, str(self.notes), *words]
        return self.snell("run", "--restarts", str(restarts), "--", *agent)

    def windows(self) -> list[str]:
        return [each for each in self.notes.read_text("utf-8").split("\n---\n") if each.startswith("## window")]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    assert made.snell("daemon", "start")[0] == 0
    yield made
    made.snell("daemon", "stop")


def begin(desk: Desk) -> dict[str, Any]:
    code, out, err = desk.snell("effort", "start", "parser", "implement", "--json")
    assert (code, err) == (0, "")
    made: dict[str, Any] = json.loads(out)
    return made


@pytest.mark.proves("S2-123", "S2-124", "S2-128", "S2-138")
def test_an_agent_that_writes_down_where_it_is_gets_a_new_window_that_knows_it(desk: Desk):
    begun = begin(desk)
    code, _, err = desk.run("dehydrates")
    assert (code, "the window is over (dehydrated)" in err) == (0, True)
    first, second = desk.windows()
    assert "## Session recovery" not in first
    assert all(text in second for text in ("## Session recovery", "half done", "- write b", "skill implement"))
    rows = json.loads(desk.snell("session", "list", "--json")[1])
    chain = [(each["effortId"], each["prevSessionId"]) for each in rows]
    assert chain == [(begun["effort"]["id"], before) for before in (None, rows[0]["id"], rows[1]["id"])]


@pytest.mark.proves("S2-63", "S2-64", "S2-123", "S2-138")
def test_an_agent_that_compacts_is_ended_even_if_it_will_not_and_its_effort_goes_on(desk: Desk):
    begun = begin(desk)
    code, _, err = desk.run("compacts")
    assert (code, "the window is over (compact)" in err) == (0, True)
    second = desk.windows()[1]
    assert ("ended without saving its state" in second, "skill implement" in second) == (True, True)
    text = desk.notes.read_text("utf-8")
    assert "compaction: block" in text
    # It was asked to end, and a second later it was ended.
    ((asked,), (_, began)) = (
        [float(each) for each in re.findall(rf"{word} at ([\d.]+)", text)] for word in ("asked to end", "begins")
    )
    assert (GRACE, 1.0 <= began - asked < 30) == (1.0, True)
    rows = json.loads(desk.snell("session", "list", "--json")[1])
    chain = [(each["effortId"], each["prevSessionId"]) for each in rows]
    assert chain == [(begun["effort"]["id"], before) for before in (None, *(each["id"] for each in rows[:-1]))]


def test_a_context_that_is_used_up_is_read_from_the_transcript_and_a_budget_ends_it(desk: Desk):
    begin(desk)
    code, _, err = desk.run("exhausted once")
    assert (code, len(desk.windows()), "(exhausted)" in err) == (0, 2, True)
    desk.notes.unlink()
    code, _, err = desk.run("exhausted", restarts=1)
    assert (code, len(desk.windows()), "stopped after 1 restarts" in err) == (1, 2, True)


@pytest.mark.proves("S3-71", "S3-74")
def test_a_loop_goes_on_in_a_new_window_when_the_client_ends_the_turn(desk: Desk):
    (desk.project / "mission.json").write_text('{"goal": "port the parser"}', encoding="utf-8")
    (desk.project / "mission_progress.txt").write_text("the lexer is ported", encoding="utf-8")
    digest = json.loads(desk.snell("trust", "--json")[1])["digest"]
    assert desk.snell("trust", "--hash", digest)[0] == 0
    code, _, err = desk.run("loops")
    assert (code, "the window is over (loop)" in err) == (0, True)
    texts = ("Iteration 9/10: the work is not finished", '{"goal": "port the parser"}', "the lexer is ported")
    assert [text in desk.windows()[1] for text in texts] == [True, True, True]
    said = [each for each in desk.notes.read_text("utf-8").split("\n---\n") if each.startswith("stop ")]
    assert [each.split(":")[0] for each in said] == ["stop 9", "stop 2"]
    assert ("in a new window" in said[0], "10 iterations are used up" in said[1]) == (True, True)


def test_a_session_that_cannot_be_resumed_is_started_fresh(desk: Desk):
    code, _, err = desk.run("stale", "--resume", "gone")
    assert (code, "starting a new one" in err) == (0, True)
    assert [window.split("\n")[0] for window in desk.windows()] == ["## window --resume gone", "## window "]


def test_a_command_that_fails_is_run_once_as_it_is(desk: Desk):
    assert desk.snell("run", "--", "sh", "-c", "echo ran; exit 3") == (3, "ran\n", "")


@pytest.mark.proves("S2-138")
def test_no_run_takes_another_runs_restart(desk: Desk, tmp_path: Path):
    begin(desk)
    here, go = tmp_path / "here", tmp_path / "go"
    notes = tmp_path / "other"
    other = desk.start("run", "--", sys.executable, str(AGENT), "waits", str(notes), str(here), str(go))
    assert wait_until(here.exists)
    assert desk.run("dehydrates")[0] == 0
    go.touch()
    _, err = other.communicate(timeout=60)
    assert (other.returncode, err, notes.read_text("utf-8").count("## window")) == (0, "", 1)


@pytest.mark.proves("S2-138")
def test_a_window_that_writes_down_where_it_is_ends_no_other_pane(desk: Desk, tmp_path: Path):
    begin(desk)
    panes = {}
    for name, part in (("first", "dehydrates late"), ("second", "waits")):
        notes, here, go = (tmp_path / f"{name}-{each}" for each in ("notes", "here", "go"))
        agent = [sys.executable, str(AGENT), part, str(notes), str(here), str(go)]
        panes[name] = (desk.start("run", "--", *agent), notes, go)
        assert wait_until(here.exists)
    first, second = panes["first"], panes["second"]
    first[2].touch()
    _, err = first[0].communicate(timeout=60)
    assert (first[0].returncode, "the window is over (dehydrated)" in err) == (0, True)
    assert first[1].read_text("utf-8").count("half done") == 1
    second[2].touch()
    _, err = second[0].communicate(timeout=60)
    assert (second[0].returncode, err, second[1].read_text("utf-8").count("## window")) == (0, "", 1)


def test_what_cannot_be_run_is_said(desk: Desk):
    assert desk.snell("run")[0::2] == (1, "snell: no command was given; for example `snell run -- claude`\n")
    code, _, err = desk.snell("run", "--", "no-such-agent")
    assert (code, err) == (1, "snell: `no-such-agent` cannot be started: No such file or directory; check its name\n")
