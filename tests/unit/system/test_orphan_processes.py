import os

import pytest

from snell.system.orphan_processes import SPANS_REMEMBERED, Children, Span
from snell.system.process_table import Process


def born_at(moment: int) -> Process:
    return Process(pid=4_000_000, parent=os.getpid(), group=1, session=4_000_000, started=moment, alive=True)


@pytest.fixture
def children() -> Children:
    return Children(adopter=os.getpid())


def test_an_orphan_is_put_down_to_the_only_run_of_its_time(children: Children) -> None:
    span = children.begin_span()
    assert children.only_run_at_start(span, born_at(span.start))
    assert not children.only_run_at_start(span, born_at(span.start - 1))


def test_an_orphan_of_a_time_with_two_runs_is_put_down_to_neither(children: Children) -> None:
    first, second = children.begin_span(), children.begin_span()
    moment = born_at(second.start)
    assert not children.only_run_at_start(first, moment)
    assert not children.only_run_at_start(second, moment)


def test_a_run_that_has_ended_still_counts_for_its_time(children: Children) -> None:
    first, second = children.begin_span(), children.begin_span()
    children.end_span(second)
    assert second.end is not None
    assert not children.only_run_at_start(first, born_at(second.end))
    assert children.only_run_at_start(first, born_at(second.end + 1))


def test_a_time_that_is_no_longer_remembered_belongs_to_no_run(children: Children) -> None:
    long = children.begin_span()
    for _ in range(SPANS_REMEMBERED + 1):
        children.end_span(children.begin_span())
    assert not children.only_run_at_start(long, born_at(long.start))


def test_a_child_that_was_started_here_is_no_orphan(children: Children) -> None:
    child = born_at(0)
    assert children.is_adopted(child)
    children.spared.add(child.pid)
    assert not children.is_adopted(child)
    children.spared.discard(child.pid)
    assert children.is_adopted(child)


def test_the_process_of_a_run_is_no_orphan_even_before_its_pid_is_known(children: Children) -> None:
    span = children.begin_span()
    child = born_at(span.start)
    assert not children.is_adopted(child)
    span.pid = 1
    assert children.is_adopted(child)
    span.pid = child.pid
    assert not children.is_adopted(child)


def test_two_spans_of_the_same_moment_are_two() -> None:
    assert Span(1) != Span(1)
