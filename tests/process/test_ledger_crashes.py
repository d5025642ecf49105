"""The process ends between any two phases: no side effect happens twice, and no call is without a row."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from snell.records.crash_points import POINTS
from tests.fork_server import run_module

ROOT = Path(__file__).parents[2]


class Client:
    """A client that sends mail: it asks, sends if it may, and tells; its hook process may end at any point."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sent = 0
        self.rows: dict[str, str] = {}

    def tell(self, *steps: str, die_at: str = "") -> list[str]:
        """The verdicts that were answered."""
        env = {**os.environ, "DIE_AT": die_at}
        done = run_module("tests.process.ledger_children", str(self.folder), *steps, cwd=ROOT, env=env)
        lines = done.stdout.decode().split("\n")[:-1]
        assert done.returncode == (-9 if die_at and len(lines) <= len(steps) else 0), done.stderr
        if len(lines) > len(steps):
            self.rows = json.loads(lines.pop())
        return lines

    def send(self, id_: str, die_at: str = "", *, keep_open: bool) -> None:
        """`stays`: the client lives on and asks a new process when its hook died without an answer."""
        answer = self.tell(f"before:{id_}", die_at=die_at)
        if not answer and keep_open:
            answer = self.tell(f"before:{id_}")
        if answer != ["no_opinion"]:
            return
        self.sent += 1
        told = self.tell(f"after:{id_}", die_at=die_at)
        if not told and keep_open:
            self.tell(f"after:{id_}")


@pytest.mark.proves("S3-49", "S3-50")
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("keep_open", [True, False], ids=["the client lives on", "the client dies too"])
def test_no_side_effect_happens_twice_wherever_the_process_ends(tmp_path: Path, point: str, keep_open: bool):
    client = Client(tmp_path)
    client.send("t1", point, keep_open=keep_open)
    sent_before = client.sent
    if not keep_open:
        client.tell("start:resume")
    again = client.tell("before:t2")
    if again == ["no_opinion"]:
        client.sent += 1
    assert client.sent <= 1
    # What was sent and reported is known; what was sent and not reported is asked about; nothing else is in the way.
    assert again == [EXPECTED[point][keep_open]]
    if sent_before or point != "before claim":
        assert "t1" in client.rows
    assert set(client.rows.values()) <= {"succeeded", "abandoned_on_resume", "denied", "running", "prepared"}


EXPECTED = {
    # point: {the client dies too, the client lives on}
    "before claim": {False: "no_opinion", True: "deny"},
    "after claim": {False: "ask", True: "deny"},
    "before row": {False: "deny", True: "deny"},
    "after row": {False: "deny", True: "deny"},
    "before receipt": {False: "ask", True: "deny"},
    "after receipt": {False: "deny", True: "deny"},
    "before settling": {False: "deny", True: "deny"},
    "after settling": {False: "deny", True: "deny"},
}


@pytest.mark.proves("S3-38")
def test_a_failure_that_was_reported_before_the_end_may_be_tried_again(tmp_path: Path):
    client = Client(tmp_path)
    client.tell("before:t1")
    assert client.tell("failed:t1", die_at="before settling") == ["no_opinion"]
    assert client.tell("start:resume", "before:t2") == ["no_opinion", "no_opinion"]
    assert client.rows == {"t1": "failed", "t2": "running"}


def test_a_variable_of_that_name_does_nothing_to_the_program_itself(tmp_path: Path):
    env = {**os.environ, "DIE_AT": "before claim", "SNELL_HOME": str(tmp_path)}
    code = 'import snell.records.crash_points as c; c.notify("before claim"); print("alive")'
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "alive\n"
