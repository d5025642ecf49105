"""The limits of the arguments of operations on memories, for every caller."""

import pytest

from snell.operations import memory, memory_maintenance
from snell.operations.declaration import Call, Operation
from snell.runtime.app import Runtime
from snell.work.errors import WorkError


@pytest.mark.parametrize(
    ("operation", "wrong"),
    [
        (memory.recall, {"query": ""}),
        (memory.recall, {"query": "x", "limit": 0}),
        (memory.recall, {"query": "x", "limit": 101}),
        (memory.recall, {"query": "x", "min_similarity": 1.1}),
        (memory.hybrid_recall, {"query": "x", "alpha": -0.1}),
        (memory.nearby, {"memory_id": "x", "limit": 101}),
        (memory_maintenance.decay, {"function": "never"}),
        (memory_maintenance.decay, {"half_life_days": 0}),
        (memory_maintenance.decay, {"half_life_days": 366}),
        (memory_maintenance.decay, {"min_importance": 2}),
        (memory_maintenance.decay, {"access_weight": -1}),
        (memory_maintenance.reinforce, {"memory_ids": ["x"], "boost_type": "never"}),
        (memory_maintenance.reinforce, {"memory_ids": ["x"], "boost_amount": 11}),
    ],
)
@pytest.mark.parametrize("is_agent", [False, True])
def test_a_value_that_makes_no_sense_is_refused(operation: Operation, wrong: dict, is_agent: bool) -> None:
    with Runtime.embed() as runtime, pytest.raises(WorkError) as refused:
        operation.check(wrong, Call(runtime, {}, is_agent))
    assert refused.value.code == "VALIDATION_ERROR"
