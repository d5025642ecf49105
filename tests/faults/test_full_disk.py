"""
A full disk: what was answered is on record once there is room again. In durable mode nothing runs that could not be
written down, in audit mode everything does.
"""

import sys
from pathlib import Path

import pytest

from tests.faults.counts import Figure, times
from tests.faults.ledger_on_a_full_disk import MAIL
from tests.faults.namespaces import alone
from tests.process.machine import HOOK

pytestmark = pytest.mark.skipif(not HOOK.exists(), reason="snell-hook is not beside this Python")

FULL = "`PATH/h/state/snell.db`: cannot be written: the disk is full; free some space"
CLOSED = f"the ledger cannot record this call, and in durable mode no call runs unless it is recorded: {FULL}"
ADVICE = '. Instead: tell the user; `[pack.ledger] mode = "audit"` lets calls run without it'
TWICE = f'`{MAIL}` was called with this input before and succeeded, so it is not done twice. Its result: {{"id":"m1"}}'
GO_ON = ". Instead: go on with that result; change the input if you mean something else"


@pytest.mark.proves("S3-51")
@pytest.mark.parametrize("mode", ["durable", "audit"])
def test_a_full_disk_closes_durable_mode_until_there_is_room_and_audit_mode_never(
    tmp_path: Path, mode: str, figure: Figure
):
    found = alone(sys.executable, "-m", "tests.faults.ledger_on_a_full_disk", str(tmp_path), mode)
    figure(test="T06", fault="disk full under the ledger", mode=mode, **found)
    is_durable = mode == "durable"
    assert set(found.pop("refused")) <= {"denied" if is_durable else "running"}
    assert found == {
        "before": "",
        "meanwhile": [f"{CLOSED}{ADVICE}".replace("PATH", str(tmp_path)) if is_durable else ""],
        "again": f"{TWICE}{GO_ON}" if is_durable else "",
        "report": f"the ledger could not store the result of `{MAIL}`: {FULL}".replace("PATH", str(tmp_path))
        if is_durable
        else "",
        "after": "",
        "ledger": ["succeeded", "running"],
        "damage": [],
    }


@times("events", 300, 2_000)
def test_what_was_answered_on_a_full_disk_is_on_record_once_there_is_room(tmp_path: Path, events: int, figure: Figure):
    found = alone(sys.executable, "-m", "tests.faults.daemon_on_a_full_disk", str(tmp_path), str(events))
    figure(test="T06", fault="disk full under the daemon", events=events, **found)
    said = f"the journal could not be written: {FULL}".replace("PATH", str(tmp_path))
    assert found == {"answered": events, "on_record": events, "said": said, "lost": 0}


def test_a_daemon_starts_on_a_full_disk_and_the_doctor_names_the_disk(tmp_path: Path):
    found = alone(sys.executable, "-m", "tests.faults.daemon_on_a_full_disk", str(tmp_path), "3", "full")
    others = found.pop("others")
    advice = "free some space; until then no decision is stored"
    assert found == {
        "answered": 3,
        "on_record": 3,
        "store": f"{tmp_path}/h/state/snell.db is on a full disk; {advice}",
    }
    assert [each for each in others if "free some space" not in each] == []
