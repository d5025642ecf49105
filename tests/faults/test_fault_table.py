"""No fault of the daemon loses an event, doubles one or changes a verdict, through the real `snell-hook`."""

import random

import msgspec
import pytest

from tests.faults.counts import Figure, times
from tests.faults.fault_table import FAULTS, measure
from tests.process.machine import Machine
from tests.seeds import draw_seed

pytest_plugins = ("tests.process.machine_fixtures",)
pytestmark = pytest.mark.timeout(900)  # a hang, on a machine with others on it


@pytest.mark.parametrize("fault", FAULTS)
@times("tries", 1, 50)
def test_every_answer_is_on_record_once_and_right(machine: Machine, fault: str, tries: int, figure: Figure) -> None:
    seed = draw_seed()
    found = measure(machine, fault, tries, random.Random(seed))
    figure(test="fault table", **msgspec.structs.asdict(found), seed=seed)
    assert (found.lost, found.double, found.wrong, found.alone_untraced, found.audit) == (0, 0, 0, 0, "")
    assert found.events > 0
