"""The ledger in the real daemon, which is killed the moment it has answered."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.process.machine import Machine

pytest_plugins = ("tests.process.machine_fixtures",)
pytestmark = pytest.mark.process

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


def test_what_was_allowed_is_known_to_the_next_daemon(mailing: Machine):
    assert before(mailing, "t1") == ""
    mailing.kill()
    assert "is still running" in before(mailing, "t2")
    assert mailing.hook({"hook_event_name": "SessionStart", "source": "resume"})[0] == 0
    assert "nobody knows whether it happened" in before(mailing, "t3")


def test_what_was_reported_is_known_to_the_next_daemon(mailing: Machine):
    assert before(mailing, "t1") == ""
    after(mailing, "t1")
    mailing.kill()
    assert 'not done twice. It brought: {"id":"m-1"}' in before(mailing, "t2")


def test_of_two_that_ask_at_once_one_may(mailing: Machine):
    before(mailing, "t0")  # the daemon is there
    frames = [
        mailing.frame({"tool_name": MAIL, "tool_input": {**LETTER, "subject": "race"}, "tool_use_id": f"r{number}"})
        for number in range(20)
    ]
    with ThreadPoolExecutor(20) as threads:
        answers = list(threads.map(mailing.send_bytes, frames))
    assert sum(b"permissionDecision" not in answer for answer in answers) == 1
