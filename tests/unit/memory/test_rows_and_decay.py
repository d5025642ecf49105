"""Looking after memories: counting, moving, deleting, fading, reinforcing."""

import pytest

from snell.memory import rows
from snell.memory.decay import DAY_MS, Change, Decay, decay, reinforce
from snell.memory.remember import remember
from snell.memory.rows import Stats
from snell.memory.shortlist import shortlist_of
from snell.memory.types import Draft, Memory, NotRememberedError

NOW = 100 * DAY_MS


def keep(database, content: str, **fields) -> str:
    draft = Draft(content=content, at=1_000, **{"project": "a", **fields})
    return database.run(lambda tx: remember(tx, draft, shortlist_of(database), similar=2.0, is_gated=False)).id


def test_stats_count_by_namespace_project_and_source(database) -> None:
    keep(database, "one", namespace="x", importance=0.2)
    keep(database, "three", namespace="y", project="b", source="Stop", importance=0.4)
    expected = Stats(
        memories=2,
        characters=8,
        namespaces={"x": 1, "y": 1},
        projects={"a": 1, "b": 1},
        sources={"Stop": 1, "remember": 1},
        average_importance=0.3,
        oldest=1_000,
        newest=1_000,
    )
    assert database.run(rows.stats) == expected
    assert database.run(lambda tx: rows.stats(tx, project="none")) == Stats()


def test_the_list_has_the_newest_first_and_goes_on_before_a_time(database) -> None:
    ids = [keep(database, f"text {number}") for number in range(3)]
    listed = database.run(lambda tx: rows.list_memories(tx, project="a", limit=2))
    assert [each.id for each in listed] == ids[:0:-1]
    assert database.run(lambda tx: rows.list_memories(tx, before=1_000)) == []
    assert [each.id for each in database.run(lambda tx: list(rows.iter_memories(tx)))] == ids


def test_deleting_a_namespace_is_rehearsed_first(database) -> None:
    keep(database, "one", namespace="x")
    keep(database, "two", namespace="y")
    assert database.run(lambda tx: rows.delete_namespace(tx, "x")) == 1
    assert database.run(rows.namespaces) == {"x": 1, "y": 1}
    assert database.run(lambda tx: rows.delete_namespace(tx, "x", dry_run=False)) == 1
    assert database.run(rows.namespaces) == {"y": 1}
    with pytest.raises(NotRememberedError, match="there is no namespace `x`"):
        database.run(lambda tx: rows.rename_namespace(tx, "x", "z"))


def test_an_unknown_id_is_said(database) -> None:
    with pytest.raises(NotRememberedError, match="there is no memory `absent`"):
        database.run(lambda tx: rows.get(tx, "absent"))
    with pytest.raises(NotRememberedError, match="there is no memory `absent`"):
        database.run(lambda tx: reinforce(tx, ["absent"]))


@pytest.mark.proves("S4-120")
@pytest.mark.parametrize(
    ("function", "days", "accesses", "expected"),
    [
        ("exponential", 0, 0, 1.0),
        ("exponential", 60, 0, 0.5),  # half-life 30 days, doubled by an importance of 1
        ("linear", 60, 0, 0.5),
        ("linear", 1_000, 0, 0.1),
        ("step", 59, 0, 1.0),
        ("step", 60, 0, 0.5),
        ("step", 120, 0, 0.25),
        ("exponential", 90, 1, 0.5),  # use lengthens it by half
        ("exponential", 10_000, 0, 0.1),
    ],
)
def test_what_is_not_used_fades_to_its_floor(function, days: int, accesses: int, expected: float) -> None:
    memory = Memory(id="m", content="x", importance=1.0, accesses=accesses)
    left = Decay(function=function, access_weight=0.0).importance_left(memory, days * DAY_MS)
    assert left == pytest.approx(expected, abs=0.0001)


def test_fading_never_raises_importance_and_only_counts_when_it_is_meant(database) -> None:
    low = keep(database, "low", importance=0.05)
    high = keep(database, "high", importance=0.9)
    changes = database.run(lambda tx: decay(tx, now=NOW, access_weight=0.0))
    assert [(each.id, each.before) for each in changes] == [(high, 0.9)]
    assert database.run(lambda tx: rows.get(tx, high)).importance == 0.9
    database.run(lambda tx: decay(tx, now=NOW, access_weight=0.0, dry_run=False))
    assert database.run(lambda tx: rows.get(tx, high)).importance == changes[0].after < 0.9
    assert database.run(lambda tx: rows.get(tx, low)).importance == 0.05


@pytest.mark.proves("S4-120")
@pytest.mark.parametrize(
    ("kind", "amount", "after"),
    [("additive", 0.1, 0.6), ("multiplicative", 0.5, 0.75), ("set_value", 0.2, 0.2), ("additive", 9, 1.0)],
)
def test_what_proves_useful_counts_for_more(database, kind, amount: float, after: float) -> None:
    id_ = keep(database, "text")
    changes = database.run(lambda tx: reinforce(tx, [id_], boost_type=kind, boost_amount=amount))
    assert changes == [Change(id_, 0.5, after)]
    assert (database.run(lambda tx: rows.get(tx, id_)).importance, database.run(rows.stats).accesses) == (after, 1)
