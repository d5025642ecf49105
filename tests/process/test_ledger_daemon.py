"""The ledger in the real daemon, which is killed the moment it has answered."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)
pytestmark = pytest.mark.real_start
SNELL = Path(sys.executable).with_name("snell")
MAIL = "mcp__mail__send_email"
LETTER = {"to": "a@example.com", "subject": "hello", "body": "text"}


@pytest.fixture
def mailing(machine: Machine) -> Machine:
    machine.write("snell.toml", '[pack.ledger]\nmode = "durable"\n')
    return machine


def before(machine: Machine, number: str) -> str:
    return machine.reason({"tool_name": MAIL, "tool_input": LETTER, "tool_use_id": number})


def after(machine: Machine, number: str) -> None:
    end = {"hook_event_name": "PostToolUse", "tool_response": {"id": "m-1"}}
    assert machine.hook({"tool_name": MAIL, "tool_input": LETTER, "tool_use_id": number, **end}) == (0, "", "")


@pytest.mark.proves("S3-38", "S3-50")
def test_what_was_allowed_is_known_to_the_next_daemon(mailing: Machine):
    assert before(mailing, "t1") == ""
    mailing.kill()
    assert "is still running" in before(mailing, "t2")
    assert mailing.hook({"hook_event_name": "SessionStart", "source": "resume"})[0] == 0
    assert "it is unknown whether it happened" in before(mailing, "t3")


@pytest.mark.proves("S3-38", "S3-43", "S3-50")
def test_what_was_reported_is_known_to_the_next_daemon(mailing: Machine):
    assert before(mailing, "t1") == ""
    after(mailing, "t1")
    mailing.kill()
    assert 'not done twice. Its result: {"id":"m-1"}' in before(mailing, "t2")


def test_of_two_that_ask_at_once_one_may(mailing: Machine):
    before(mailing, "t0")  # the daemon is there
    frames = [
        mailing.frame({"tool_name": MAIL, "tool_input": {**LETTER, "subject": "race"}, "tool_use_id": f"r{number}"})
        for number in range(20)
    ]
    with ThreadPoolExecutor(20) as threads:
        answers = list(threads.map(mailing.send_bytes, frames))
    assert sum(b"permissionDecision" not in answer for answer in answers) == 1


def listed(machine: Machine) -> list[tuple[str, str]]:
    done = subprocess.run(
        [SNELL, "ledger", "list", "--json"], env=machine.env(), capture_output=True, text=True, timeout=60, check=True
    )
    calls = [json.loads(line) for line in done.stdout.splitlines()]
    return [(call["tool_call_id"].rpartition("/")[2], call["status"]) for call in calls]


@pytest.mark.proves("S3-38")
@pytest.mark.parametrize("round_", range(3))
def test_no_call_is_without_a_row_after_its_daemon_was_killed(machine: Machine, round_: int):
    assert before(machine, "t0") == ""
    for number in range(1, 6):
        assert before(machine, f"t{number}") == ""
    machine.kill()
    assert [number for number, _ in listed(machine)] == [f"t{number}" for number in range(6)]
    assert machine.hook({"hook_event_name": "SessionStart", "source": "resume"})[0] == 0
    wait_until(lambda: {status for _, status in listed(machine)} == {"abandoned_on_resume"})


def test_what_was_claimed_is_listed_at_once(mailing: Machine):
    assert before(mailing, "t1") == ""
    mailing.kill()
    ((number, status),) = listed(mailing)
    assert (number, status in ("prepared", "running")) == ("t1", True)
