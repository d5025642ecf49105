import random

import pytest

from snell.memory import vector_space as space_module
from snell.memory.map_paths import Stop, journey, wander
from snell.memory.vector_space import Space, between
from tests.unit.memory.landscape import TEXTS, space


@pytest.fixture(params=["numpy", "plain"])
def kind(request, monkeypatch):
    if request.param == "plain":
        monkeypatch.setattr(space_module, "numpy_or_none", lambda: None)
    return request.param


@pytest.mark.usefixtures("kind")
def test_a_journey_begins_and_ends_where_it_should_and_visits_no_memory_twice():
    stops = journey(space(), "db1", "ci1", 6)
    assert (stops[0], stops[-1]) == (Stop("db1", 0.0, 1.0), Stop("ci1", 1.0, 1.0))
    assert len({stop.id for stop in stops}) == len(stops) == 6
    assert [stop.part for stop in stops] == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]


@pytest.mark.usefixtures("kind")
def test_a_journey_goes_by_what_lies_between():
    inner = [stop.id for stop in journey(space(), "db1", "ci1", 6)][1:-1]
    assert inner[0].startswith("db")
    assert inner[-1].startswith("ci")


def test_with_few_memories_a_journey_is_short():
    few = {each: TEXTS[each] for each in ("db1", "ci1", "tea")}
    assert [stop.id for stop in journey(space(few), "db1", "ci1", 20)] == ["db1", "tea", "ci1"]


def test_a_journey_to_where_one_is_has_one_stop():
    assert journey(space(), "tea", "tea", 10) == [Stop("tea", 0.0, 1.0)]


@pytest.mark.usefixtures("kind")
def test_a_cold_walk_always_goes_to_the_nearest():
    place = space()
    stops = wander(place, "ci1", 3, 0.0, random.Random(1))
    assert stops == wander(place, "ci1", 3, 0.0, random.Random(2))
    assert {stop.id[:2] for stop in stops} == {"ci"}


def test_a_warm_walk_goes_elsewhere_each_time():
    ways = {tuple(stop.id for stop in wander(space(), "ci1", 4, 1.0, random.Random(seed))) for seed in range(20)}
    assert len(ways) > 5
    assert all(len(set(way)) == 5 for way in ways)


def test_a_walk_ends_when_every_memory_was_visited():
    assert len(wander(space(), "tea", 20, 0.5, random.Random(1))) == len(TEXTS)


def test_the_way_between_opposites_and_from_nothing_is_a_way():
    assert between([1.0, 0.0], [-1.0, 0.0], 0.5) == [0.0, 0.0]
    empty = Space({"a": bytes(256), "b": bytes(256)})
    assert [stop.id for stop in journey(empty, "a", "b", 3)] == ["a", "b"]


def test_without_numpy_fewer_are_looked_at_and_that_is_known(monkeypatch):
    monkeypatch.setattr(space_module, "numpy_or_none", lambda: None)
    many = Space({str(number): bytes([number % 100, 1]) for number in range(400)})
    assert (len(many), many.left_out) == (200, 200)
