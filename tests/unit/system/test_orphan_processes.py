import os

import pytest

from snell.system.orphan_processes import SPANS_REMEMBERED, Family, Span
from snell.system.process_table import Process


def born_at(moment: int) -> Process:
    return Process(pid=4_000_000, parent=os.getpid(), group=1, session=4_000_000, born=moment, alive=True)


@pytest.fixture
def family() -> Family:
    return Family(adopter=os.getpid())


def test_an_orphan_is_put_down_to_the_only_run_of_its_time(family: Family) -> None:
    span = family.begin_span()
    assert family.was_born_in(span, born_at(span.start))
    assert not family.was_born_in(span, born_at(span.start - 1))


def test_an_orphan_of_a_time_with_two_runs_is_put_down_to_neither(family: Family) -> None:
    first, second = family.begin_span(), family.begin_span()
    moment = born_at(second.start)
    assert not family.was_born_in(first, moment)
    assert not family.was_born_in(second, moment)


def test_a_run_that_has_ended_still_counts_for_its_time(family: Family) -> None:
    first, second = family.begin_span(), family.begin_span()
    family.end_span(second)
    assert second.end is not None
    assert not family.was_born_in(first, born_at(second.end))
    assert family.was_born_in(first, born_at(second.end + 1))


def test_a_time_that_is_no_longer_remembered_is_nobodys(family: Family) -> None:
    long = family.begin_span()
    for _ in range(SPANS_REMEMBERED + 1):
        family.end_span(family.begin_span())
    assert not family.was_born_in(long, born_at(long.start))


def test_a_child_that_was_started_here_is_no_orphan(family: Family) -> None:
    child = born_at(0)
    assert family.is_adopted(child)
    family.spared.add(child.pid)
    assert not family.is_adopted(child)
    family.spared.discard(child.pid)
    assert family.is_adopted(child)


def test_the_process_of_a_run_is_no_orphan_even_before_its_pid_is_known(family: Family) -> None:
    span = family.begin_span()
    child = born_at(span.start)
    assert not family.is_adopted(child)
    span.pid = 1
    assert family.is_adopted(child)
    span.pid = child.pid
    assert not family.is_adopted(child)


def test_two_spans_of_the_same_moment_are_two() -> None:
    assert Span(1) != Span(1)
