import pytest

from snell.memory import vector_space as space_module
from snell.memory.clusters import regions
from snell.memory.vector_space import Space
from tests.unit.memory.landscape import TEXTS, space


@pytest.mark.parametrize("with_numpy", [True, False])
def test_what_is_about_the_same_is_one_region(monkeypatch, with_numpy):
    if not with_numpy:
        monkeypatch.setattr(space_module, "numpy_or_none", lambda: None)
    found, alone = regions(space(), TEXTS)
    assert {frozenset(region.members) for region in found} == {
        frozenset({"db1", "db2", "db3", "db4"}),
        frozenset({"ci1", "ci2", "ci3", "ci4"}),
    }
    assert alone == ["tea"]


def test_a_region_is_called_by_words_that_the_others_lack():
    words = {frozenset(region.members): region.keywords for region in regions(space(), TEXTS)[0]}
    assert set(words[frozenset({"ci1", "ci2", "ci3", "ci4"})]) >= {"pipeline", "tests"}
    assert set(words[frozenset({"db1", "db2", "db3", "db4"})]) >= {"orders", "postgresql"}


def test_groups_that_are_too_small_are_none_and_of_too_many_the_largest_stay():
    assert [len(region.members) for region in regions(space(), TEXTS, smallest=5)[0]] == []
    assert len(regions(space(), TEXTS, most=1)[0]) == 1


def test_a_memory_is_in_one_region_or_in_none():
    found, alone = regions(space(), TEXTS)
    assert sorted([*alone, *(each for region in found for each in region.members)]) == sorted(TEXTS)


def test_memories_that_are_all_about_one_thing_are_one_region():
    same = {str(number): f"text {number} about the orders database and its tables" for number in range(4)}
    found, alone = regions(space(same), same)
    assert ([len(region.members) for region in found], alone) == ([4], [])


def test_nothing_has_no_regions():
    assert regions(Space({}), {}) == ([], [])
