"""
The engine against the naive model in `reference.py`, on random sessions.

An ordinary run draws the same sessions each time, the nightly one new ones; SNELL_SEED=N chooses or repeats a draw.
"""

import json
from random import Random

import pytest

from snell.engine.decide import decide
from snell.engine.registry import Registry
from snell.model.decision import Decision, Reason
from snell.store.in_memory import InMemoryStore
from tests.properties.driving import drive
from tests.properties.random_cases import Case, random_session
from tests.properties.reference import ENGINE, Memory, Sum, World, decide_by_reference
from tests.seeds import draw_seed

SEED = draw_seed()
ORDINARY, NIGHTLY = 2_500, 100_000


@pytest.mark.proves("S1-93", "S1-94", "S1-96", "S1-99", "S1-110", "S1-111", "S1-133")
def test_the_engine_decides_random_sessions_as_the_naive_model_does() -> None:
    compare(range(ORDINARY))


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_the_engine_decides_very_many_random_sessions_as_the_naive_model_does() -> None:
    compare(range(ORDINARY, ORDINARY + NIGHTLY))


def compare(numbers: range) -> None:
    print(f"SNELL_SEED={SEED}")
    for number in numbers:
        case = random_session(Random(f"{SEED}.{number}"))
        assert by_engine(case) == by_model(case), f"case {number} of SNELL_SEED={SEED}: {case}"


def by_model(case: Case) -> list[Sum]:
    world = World(case.hooks, case.switches, case.condition, case.validate, case.answer)
    memory = Memory()
    return [comparable(decide_by_reference(event, world, memory)) for event in case.events]


def by_engine(case: Case) -> list[Sum]:
    registry = Registry(case.hooks, switches=case.switches, condition=case.condition)
    marks = InMemoryStore()
    decisions = [drive(decide(event, registry, marks, case.validate), case.answer) for event in case.events]
    return [comparable(summed(decision)) for decision in decisions]


def summed(decision: Decision) -> Sum:
    return Sum(
        value=decision.event.rewritable,
        is_rewritten=decision.is_rewritten,
        verdict=decision.verdict,
        reasons=[(each.hook, each.text, each.instead) for each in decision.reasons],
        notes=pairs(decision.notes),
        tells=pairs(decision.tells),
        stop=(decision.stop.hook, decision.stop.text) if decision.stop else None,
        failures=[each.hook for each in decision.failures],
        env=decision.env,
        extras=decision.extras,
    )


def pairs(reasons: tuple[Reason, ...]) -> list[tuple[str, str]]:
    return [(each.hook, each.text) for each in reasons]


def comparable(total: Sum) -> Sum:
    """Only a hook's own words are compared (they begin with `~`); for the engine's own words a place holder stands."""
    total.value = json.dumps(total.value, sort_keys=True)  # where true is not 1
    reasons = [each if each[1].startswith("~") else (each[0], ENGINE, "") for each in total.reasons]
    total.reasons = list(dict.fromkeys(reasons))
    total.tells = [each if each[1].startswith("~") else ("", ENGINE) for each in total.tells]
    total.failures = list(dict.fromkeys(total.failures))
    return total
