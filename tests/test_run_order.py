"""The order of tests in a run of several processes: `tests/run_order.py`."""

from dataclasses import dataclass

import pytest

from tests.run_order import order_for


@dataclass(frozen=True)
class Item:
    """As much of a test as the order looks at."""

    nodeid: str
    mark: str = ""

    def get_closest_marker(self, name: str) -> str | None:
        return self.mark if self.mark == name else None


def file_of(name: str, tests: int, mark: str = "") -> list[Item]:
    return [Item(f"tests/{name}::test_{number}", mark) for number in range(tests)]


UNIT, GOLDEN = file_of("unit/test_a.py", 7), file_of("golden/test_b.py", 4)
PROCESS, FAULTS = file_of("process/test_c.py", 3), file_of("faults/test_d.py", 2)
LONG = [*file_of("process/test_e.py", 1, "timeout"), *file_of("unit/test_f.py", 1, "timeout")]


@pytest.mark.parametrize("workers", [1, 2, 3, 4])
def test_no_test_is_lost_or_doubled(workers: int) -> None:
    items = [*UNIT, *PROCESS, *GOLDEN, *FAULTS, *LONG]
    assert sorted(item.nodeid for item in order_for(workers, items)) == sorted(item.nodeid for item in items)


def test_each_part_begins_with_long_tests_and_ends_with_short_ones() -> None:
    ordered = order_for(2, [*UNIT, *PROCESS, *GOLDEN, *FAULTS, *LONG])
    assert ordered == [LONG[0], *PROCESS, *UNIT[:5], LONG[1], *FAULTS, *UNIT[5:], *GOLDEN]


def test_what_does_not_fit_into_equal_parts_comes_last() -> None:
    long = file_of("process/test_g.py", 5)
    assert order_for(2, [*long, *UNIT[:1]]) == [*long, *UNIT[:1]]
